"""The dialogue request kind: turns of several voices, spoken as one stream."""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsDialogue
from polyvox.engines.kit.seeds import derive_seed
from polyvox.errors import InvalidRequestError, PolyvoxError, SilentTextError, TextError
from polyvox.service.delivery import closing
from polyvox.service.kinds.dialogue_segments import (
    SPEAKERS,
    DialogueSegment,
    DialogueTurn,
    dialogue_text,
    pair_segments,
    turn_segments,
)
from polyvox.service.kinds.joining import DialogueJoiner
from polyvox.service.kinds.request_kind import max_speech_seconds
from polyvox.service.kinds.script_reader import tag_rules
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.service.text_limits import TextLimits
from polyvox.service.voices.voice_resolver import ResolvedVoice, VoiceResolver
from polyvox.text.markup import markup
from polyvox.text.markup.inline_tags import TagRules, cleaned
from polyvox.text.segmentation.spoken_length import spoken_seconds
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import SILENT, Warnings
from polyvox.types import SPEED_RANGE, AudioChunk, PreparedVoice, Utterance
from polyvox.voices.references import parse_reference

PAUSE_SECONDS = 0.3
"""Default silence between turns; an engine that speaks both voices in one utterance sets its own."""
_PUNCTUATION_ONLY = re.compile(r"[\s.,;:!?…—–'\"“”‘’()\[\]。，！？；：、-]*")
_TURN_FIELDS = {"input": "text", "voice": "voice", "audio": "voice", "prompt_text": "prompt_text"}


@dataclass(frozen=True, slots=True)
class DialogueScript:
    """The turns of a dialogue, checked against the limits; `pause` in seconds, None for the default."""

    turns: tuple[DialogueTurn, ...]
    pause: float | None = None

    @classmethod
    def checked(cls, turns: Sequence[DialogueTurn], pause: float | None, settings: Settings) -> "DialogueScript":
        """Check the turns and the pause; raises the typed error for what is wrong with them."""
        _check_sizes(turns, settings)
        _check_pause(pause, len(turns))
        _check_lengths(turns, pause, settings)
        for index, turn in enumerate(turns):
            _check_text(turn.spoken_text, f"turns[{index}].text")
        return cls(tuple(turns), pause)

    @property
    def chars(self) -> int:
        return sum(len(turn.text) for turn in self.turns)

    def segments(self, engine: Engine, prepared: Mapping[str, object]) -> list[DialogueSegment]:
        """Pairs of voices where the engine supports them and all voices are prepared, else single turns."""
        can_pair = engine.capabilities.dialogue and isinstance(engine, SupportsDialogue)
        if can_pair and all(turn.voice in prepared for turn in self.turns):
            return pair_segments(self.turns, self.pause or 0.0)
        return turn_segments(self.turns)


async def dialogue_model(
    turns: Sequence[DialogueTurn],
    resolver: VoiceResolver,
    settings: Settings,
    *,
    owner: str,
    model: str | None,
    language: str | None,
) -> str | None:
    """The model that speaks a dialogue: where that is left to the server, one that clones if any of its voices is
    cloned; it speaks the others, too.
    """
    if not resolver.may_choose(model):
        return model
    _check_sizes(turns, settings)
    read = partial(parse_reference, max_bytes=settings.prompt_max_bytes)
    for voice, (index, words) in _voices(turns).items():
        with turn_errors(index):
            reference = await asyncio.to_thread(read, voice)
            chosen = await resolver.model_for(reference, owner, model, language=language, transcript=words)
        if chosen != model:
            return chosen
    return model


async def resolve_dialogue(
    turns: Sequence[DialogueTurn],
    pause: float | None,
    resolver: VoiceResolver,
    settings: Settings,
    *,
    owner: str,
    model: str | None,
    speed: float,
) -> "SpeakDialogue":
    """Check the dialogue and resolve its voices, each once; preparing them waits until the request is admitted."""
    warnings = Warnings()
    engine = resolver.engine(model)
    rules = tag_rules(engine)
    if any(turn.rate != 1.0 for turn in turns) and not _paces_turns(engine):
        warnings.add(f"The model {engine.name!r} speaks all turns at one pace; the rates of voices are ignored.")
    script = await asyncio.to_thread(_checked_script, turns, pause, settings, rules, warnings)
    read = partial(parse_reference, max_bytes=settings.prompt_max_bytes)
    resolved: dict[str, ResolvedVoice] = {}
    for voice, (index, prompt_text) in _voices(script.turns).items():
        with turn_errors(index):
            reference = await asyncio.to_thread(read, voice)
            found = await resolver.resolve(reference, owner, model=model, transcript=prompt_text, pairs=False)
        if found is not None:
            resolved[voice] = found
    return SpeakDialogue(script, resolved, speed, warnings)


def _paces_turns(engine: Engine) -> bool:
    """Return whether each turn can have a speed of its own."""
    return engine.capabilities.native_speed and not engine.capabilities.dialogue


def _checked_script(
    turns: Sequence[DialogueTurn], pause: float | None, settings: Settings, rules: TagRules, warnings: Warnings
) -> DialogueScript:
    """The script of the turns without markup that nobody obeys."""
    _check_sizes(turns, settings)
    spoken = []
    for index, turn in enumerate(turns):
        with turn_errors(index):
            text = cleaned(TrackedText.of(turn.text), rules, warnings)
        spoken.append(turn if text.text == turn.text else replace(turn, spoken=text))
    return DialogueScript.checked(spoken, pause, settings)


@dataclass(frozen=True, slots=True)
class SpeakDialogue:
    """Speak a dialogue. `resolved` holds the voices that have to be prepared, by their name in the turns."""

    script: DialogueScript
    resolved: Mapping[str, ResolvedVoice]
    speed: float
    warnings: Warnings = field(default_factory=Warnings)

    @property
    def chars(self) -> int:
        return self.script.chars

    @property
    def max_audio_seconds(self) -> float:
        pauses = len(self.script.turns) * (PAUSE_SECONDS if self.script.pause is None else self.script.pause)
        chars = max(self.chars, sum(len(turn.spoken_text) for turn in self.script.turns))
        marked = sum(markup.pause_seconds(turn.spoken_text) for turn in self.script.turns)
        slowest = self.speed * min((turn.rate for turn in self.script.turns), default=1.0)
        return max_speech_seconds(chars, max(slowest, SPEED_RANGE.lowest)) + pauses + marked

    async def pronounced(self, pronunciation: Pronunciation, engine: Engine, utterance: Utterance) -> "SpeakDialogue":
        """The same dialogue with what the dictionaries say."""
        turns = []
        for index, turn in enumerate(self.script.turns):
            text = TrackedText.of(turn.text) if turn.spoken is None else turn.spoken
            with turn_errors(index):
                said = await pronunciation.rewrite(text, engine, utterance.language, turn.voice, self.warnings)
            turns.append(turn if said is text else replace(turn, spoken=said))
        if sum(len(turn.spoken_text) for turn in turns) > pronunciation.max_chars:
            raise TextError("With what the dictionaries say the turns are too long; send fewer.", field="turns")
        return replace(self, script=replace(self.script, turns=tuple(turns)))

    def check(self, engine: Engine, utterance: Utterance) -> None:
        for index, turn in enumerate(self.script.turns):
            if turn.voice not in self.resolved:
                with turn_errors(index):
                    engine.check(replace(utterance, text=turn.spoken_text, voice=turn.voice))

    async def synthesize(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        prepared = await self._prepared(engine)
        segments = self.script.segments(engine, prepared)
        voices = {segment.voices: self._voice(segment.voices, engine, prepared) for segment in segments}
        paced = _paces_turns(engine)
        utterances = [
            _segment_utterance(segment, utterance, voices[segment.voices], segment.rate if paced else 1.0)
            for segment in segments
        ]
        for segment, part in zip(segments, utterances, strict=True):
            if part.prepared is not None:  # the engine's own voices were checked before
                with turn_errors(segment.first_turn):
                    engine.check(part)
        joiner = DialogueJoiner(engine, dialogue_text(self.script.turns))
        for segment, part in zip(segments, utterances, strict=True):
            if (silence := joiner.begin(self._pause(engine))) is not None:
                yield silence
            spoken = self._spoken(engine, part, segment, joiner)
            try:
                async with closing(spoken):
                    async for chunk in spoken:
                        yield chunk
            except SilentTextError:
                if joiner.is_empty:
                    raise
                self.warnings.count(SILENT, part.text)
        if (silence := joiner.flush()) is not None:
            yield silence

    @staticmethod
    async def _spoken(
        engine: Engine, part: Utterance, segment: DialogueSegment, joiner: DialogueJoiner
    ) -> AsyncIterator[AudioChunk]:
        """The chunks of a segment; `SilentTextError` where nothing in it can be spoken."""
        speech, source = engine.speak(part), segment.source_words(joiner.text)
        with turn_errors(segment.first_turn):
            async with closing(speech):
                async for chunk in speech:
                    voiced = replace(chunk, voice=part.voice) if len(segment.voices) == 1 else chunk
                    for joined in joiner.append(voiced, segment, source):
                        yield joined
            joiner.end()

    async def _prepared(self, engine: Engine) -> dict[str, PreparedVoice]:
        """Prepare all resolved voices before the first word, so that one that cannot be used is refused in time."""
        prepared: dict[str, PreparedVoice] = {}
        for index, turn in enumerate(self.script.turns):
            if turn.voice in self.resolved and turn.voice not in prepared:
                with turn_errors(index):
                    voice = await self.resolved[turn.voice].prepare(engine)
                if voice is not None:
                    prepared[turn.voice] = voice
        return prepared

    def _voice(
        self, voices: tuple[str, ...], engine: Engine, prepared: Mapping[str, PreparedVoice]
    ) -> tuple[str, PreparedVoice | None]:
        """Name and prepared voice of a segment's voices; None in place of the latter for an engine's own voice."""
        if len(voices) == len(SPEAKERS):
            assert isinstance(engine, SupportsDialogue)
            return "+".join(self.resolved[voice].label for voice in voices), engine.dialogue_voice(
                *(prepared[voice] for voice in voices)
            )
        (voice,) = voices
        return self.resolved[voice].label if voice in self.resolved else voice, prepared.get(voice)

    def _pause(self, engine: Engine) -> float:
        """Seconds between two segments, longer by as much as the tempo change of the whole will shorten them."""
        seconds = PAUSE_SECONDS if self.script.pause is None else self.script.pause
        return seconds if engine.capabilities.native_speed else seconds * self.speed


def _segment_utterance(
    segment: DialogueSegment, utterance: Utterance, voice: tuple[str, PreparedVoice | None], rate: float
) -> Utterance:
    """The utterance of a segment; it has a seed of its own, or equal turns would sound equal."""
    seed = None if utterance.seed is None else derive_seed(utterance.seed, "turn", segment.first_turn)
    name, prepared = voice
    speed = min(max(utterance.speed * rate, SPEED_RANGE.lowest), SPEED_RANGE.highest)
    return replace(utterance, text=segment.text, voice=name, speed=speed, seed=seed, prepared=prepared)


@contextmanager
def turn_errors(index: int) -> Iterator[None]:
    """Make errors about a text or a voice name the fields of this turn."""
    try:
        yield
    except PolyvoxError as error:
        if error.field in _TURN_FIELDS:
            error.field = f"turns[{index}].{_TURN_FIELDS[error.field]}"
        raise


def _voices(turns: Sequence[DialogueTurn]) -> dict[str, tuple[int, str | None]]:
    """Each voice with its first turn and the transcript of its recording, which any of its turns may give."""
    found: dict[str, tuple[int, str | None]] = {}
    for index, turn in enumerate(turns):
        first, words = found.get(turn.voice, (index, None))
        if None not in (words, turn.prompt_text) and words != turn.prompt_text:
            raise InvalidRequestError(
                f"turns[{index}] gives another transcript for its voice than turns[{first}]; send 'prompt_text' once.",
                field=f"turns[{index}].prompt_text",
            )
        found[turn.voice] = first, words or turn.prompt_text
    return found


def _check_sizes(turns: Sequence[DialogueTurn], settings: Settings) -> None:
    if not turns:
        raise InvalidRequestError("The dialogue has no turns; send at least one.", field="turns")
    if len(turns) > settings.dialogue_max_turns:
        raise InvalidRequestError(
            f"The dialogue has {len(turns):,} turns; this server takes at most {settings.dialogue_max_turns:,}.",
            field="turns",
        )
    chars = sum(len(turn.text) for turn in turns)
    if chars > settings.max_input_chars:
        raise TextError(
            f"The turns have {chars:,} characters; this server takes at most {settings.max_input_chars:,}.",
            field="turns",
        )
    voices = len({turn.voice for turn in turns})
    if voices > settings.dialogue_max_voices:
        raise InvalidRequestError(
            f"The dialogue has {voices} voices; this server takes at most {settings.dialogue_max_voices}.",
            field="turns",
        )


def _check_lengths(turns: Sequence[DialogueTurn], pause: float | None, settings: Settings) -> None:
    """Refuse what is silent, or spoken, for too long."""
    limits = TextLimits.of(settings)
    between = (pause or 0.0) * (len(turns) - 1)
    limits.check_pauses(between + sum(markup.pause_seconds(turn.spoken_text) for turn in turns), "turns")
    limits.check_spoken(sum(spoken_seconds(turn.spoken_text) for turn in turns), "turns")


def _check_pause(pause: float | None, turns: int) -> None:
    if pause is None:
        return
    if not (math.isfinite(pause) and 0 <= pause <= markup.MAX_PAUSE_SECONDS):
        raise InvalidRequestError(
            f"pause must lie between 0 and {markup.MAX_PAUSE_SECONDS:g} seconds, not {pause:g}.", field="pause"
        )
    if pause * (turns - 1) > markup.MAX_SILENCE_SECONDS:
        raise InvalidRequestError(
            f"The pauses may last at most {markup.MAX_SILENCE_SECONDS:g} s together; ask for shorter ones.",
            field="pause",
        )


def _check_text(text: str, field: str) -> None:
    if not text.strip():
        raise TextError(f"{field} is empty; give each turn something to say.", field=field)
    try:
        words = markup.parse(text).text.text
    except PolyvoxError as error:
        error.field = field
        raise
    if any(tag in words for tag in SPEAKERS):
        raise TextError(
            f"{field} holds {' or '.join(SPEAKERS)}; a turn has one voice: give each speaker a turn of its own.",
            field=field,
        )
    if _PUNCTUATION_ONLY.fullmatch(words):
        raise TextError(f"{field} holds no words that can be spoken; send words.", field=field)
