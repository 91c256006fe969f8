"""The voices of a check: one of the model's own, and where it clones, that of a recording."""

from dataclasses import dataclass
from functools import partial

from polyvox.audio.decode import decode
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import ModelOutline, PresetPrompt
from polyvox.errors import InvalidRequestError
from polyvox.evaluate.soundness.sentences import preferred_language
from polyvox.evaluate.soundness.spoken_sentence import TrialVoice
from polyvox.service.voices.transcriber import Transcriber
from polyvox.types import Voice
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording.intake import RecordingIntake
from polyvox.voices.references import InlineVoice, RegisteredVoice

_RECORDING = "recording"
_MAX_SECONDS, _MAX_SAMPLES = 30.0, 1_440_000


@dataclass(frozen=True, slots=True)
class VoiceWishes:
    """The wishes for a check: a voice by its name, a recording to clone, a language; None leaves the choice."""

    name: str | None = None
    recording: bytes | None = None
    language: str | None = None


async def trial_voices(
    model: str, outline: ModelOutline, wishes: VoiceWishes, settings: Settings
) -> tuple[str, tuple[TrialVoice, ...]]:
    """The language of a check, by its tag, and its voices; a recording is checked before it is used."""
    if wishes.recording is not None and not outline.cloning:
        raise InvalidRequestError(f"The model {model!r} cannot clone voices; leave the recording out.", field="voice")
    own = _own_voice(outline, wishes, settings)
    language = wishes.language or (own.language if own else "") or preferred_language(outline.languages)
    reading = partial(_reading, language, outline)
    voices = [] if own is None else [TrialVoice(own.id, RegisteredVoice(own.id), reading(own.language))]
    if wishes.recording is not None:
        voices.append(await _of_recording(wishes.recording, reading(""), settings))
    elif outline.cloning and wishes.name is None and (preset := _bundled(language)) is not None:
        voices.append(_of_preset(preset, reading("")))
    if not voices:
        raise InvalidRequestError(f"The model {model!r} has no voice to check; name one with --voice.", field="voice")
    return language, tuple(voices)


def _own_voice(outline: ModelOutline, wishes: VoiceWishes, settings: Settings) -> Voice | None:
    """The voice that is named, else the usual one of the model's that speaks the language."""
    known = {voice.id: voice for voice in outline.voices}
    if wishes.name is not None:
        return known.get(wishes.name, Voice(wishes.name, wishes.name, ""))
    able = {
        voice.id: voice
        for voice in outline.voices
        if not voice.reason and (not wishes.language or _base(voice.language) in ("", _base(wishes.language)))
    }
    return able.get(settings.default_voice) or next(iter(able.values()), None)


def _reading(language: str, outline: ModelOutline, own: str) -> str | None:
    """The tag that texts are read by; None where the voice's own language is that already."""
    if own and _base(own) == _base(language):
        return None
    varieties = (tag for tag in sorted(outline.languages) if _base(tag) == _base(language))
    return language if language in outline.languages else next(varieties, language)


def _base(tag: str) -> str:
    return tag.partition("-")[0]


async def _of_recording(data: bytes, language: str | None, settings: Settings) -> TrialVoice:
    taken = await RecordingIntake(settings, Transcriber(settings)).take(data, PromptLimits.of(settings))
    return TrialVoice(_RECORDING, InlineVoice(data), language, prompt=(taken.pcm, taken.sample_rate))


def _of_preset(preset: PresetPrompt, language: str | None) -> TrialVoice:
    assert preset.recording is not None
    data = preset.recording.read_bytes()
    prompt = decode(data, max_seconds=_MAX_SECONDS, max_samples=_MAX_SAMPLES)
    return TrialVoice(_RECORDING, InlineVoice(data), language, preset.transcript, prompt)


def _bundled(language: str) -> PresetPrompt | None:
    """A recording that comes with the package, of the language where there is one."""
    presets = next(Catalog.installed().presets(), None)
    if presets is None:
        return None
    found = [preset for name in presets.names if (preset := presets.find(name)) and preset.recording]
    return min(found, key=lambda preset: _base(preset.language) != _base(language), default=None)
