"""Who is meant by a request's voice, and how an engine comes to speak like that."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from polyvox.config import Settings
from polyvox.engines.base import Coded, Duetting, Engine, Styled
from polyvox.errors import ForbiddenError, InvalidRequestError, UnknownVoiceError
from polyvox.service.cloning import Clone
from polyvox.service.prompts import Prompts
from polyvox.service.registry import Registry
from polyvox.service.shelf import Shelf
from polyvox.types import PreparedVoice, VoicePrompt
from polyvox.voices.fitted import FittedStyle, fitted_style
from polyvox.voices.mixing import MixTerm, parse_mix
from polyvox.voices.names import is_voice_id, transcript_text
from polyvox.voices.recordings import prompt_digest
from polyvox.voices.records import Transcription, VoiceRecord
from polyvox.voices.references import InlineVoice, RegisteredVoice, UploadedVoice, UrlVoice, VoiceReference


@dataclass(frozen=True, slots=True)
class _Share:
    """A fitted voice's part in a mix."""

    share: float
    record: VoiceRecord
    style: FittedStyle


class Casting:
    """Finds the voice for a request; what is costly about it waits until the request's turn has come."""

    def __init__(self, settings: Settings, registry: Registry, shelf: Shelf, prompts: Prompts) -> None:
        self._settings = settings
        self._registry = registry
        self._shelf = shelf
        self._prompts = prompts

    async def cast(
        self,
        reference: VoiceReference,
        owner: str,
        *,
        model: str | None = None,
        transcript: str | None = None,
        wordless: bool = False,
        pairs: bool = True,
    ) -> Clone | None:
        """The voice that a request for speech means, or None if it is for the engine to know.

        An engine's own voice goes before a registered one of the same name. `transcript` is what is said in the
        recording, and goes before what is stored. `wordless` is for a recording that comes along: only its sound is
        wanted, and an engine that needs no more is not told its words. With `pairs`, `anna,bert` are two voices to a
        model for dialogues.
        """
        engine = self._registry.engine(model)
        text = None if transcript is None else transcript_text(transcript, "prompt_text")
        if isinstance(reference, RegisteredVoice):
            clone = await self._registered(reference.name, owner, engine, text)
            if clone is None and pairs and engine.capabilities.dialogue and reference.name.count(",") == 1:
                return await self._pair(reference.name, owner, engine, text)
            return clone
        self._registry.check_cloning(engine)
        if isinstance(reference, UploadedVoice):
            raise InvalidRequestError("'voice' names an uploaded file, but none came with the request.", field="voice")
        if not self._settings.allow_inline and isinstance(reference, InlineVoice):
            raise ForbiddenError("This server takes no recordings in requests for speech; register the voice first.")
        label = "url" if isinstance(reference, UrlVoice) else "inline"
        unheard = wordless and engine.capabilities.wordless
        return Clone(label, lambda engine: self._prepare_taken(reference, "" if unheard else text or None, engine))

    def coded(self, codes: Sequence[int], transcript: str) -> Clone:
        """A voice that comes as the tokens of a codec."""
        text = transcript_text(transcript, "prompt_text")

        async def prepare(engine: Engine) -> PreparedVoice:
            if not isinstance(engine, Coded):
                raise InvalidRequestError(f"The model {engine.name!r} does not take a voice's tokens.", field="model")
            return engine.voice_of_codes(codes, text)

        return Clone("codes", prepare)

    async def _registered(self, name: str, owner: str, engine: Engine, text: str | None) -> Clone | None:
        if any(voice.id == name for voice in engine.voices):
            return None
        record = await self._shelf.find(name, owner)
        if record is None:
            if is_voice_id(name):
                raise UnknownVoiceError("There is no voice of this id; GET /v1/voices lists yours.", field="voice")
            return await self._mixed(name, owner, engine) if isinstance(engine, Styled) else None
        if isinstance(engine, Styled) and (style := fitted_style(record.report)) and style.model == engine.name:
            return self._styled([_Share(1.0, record, style)], ())
        self._registry.check_cloning(engine)
        return Clone(record.id, lambda engine: self._prepare_registered(record, text, engine))

    async def _mixed(self, expression: str, owner: str, engine: Engine) -> Clone | None:
        """A mix in which fitted voices take part; None where there is none: it is for the engine to know."""
        try:
            parts = parse_mix(expression)
        except UnknownVoiceError:
            return None
        own = {voice.id for voice in engine.voices}
        fitted: list[_Share] = []
        plain: list[MixTerm] = []
        for part in parts:
            record = None if part.voice in own else await self._shelf.find(part.voice, owner)
            style = None if record is None else fitted_style(record.report)
            if record is None:
                plain.append(part)
            elif style is None or style.model != engine.name:
                self._registry.check_cloning(engine)
            else:
                fitted.append(_Share(part.share, record, style))
        return self._styled(fitted, plain) if fitted else None

    def _styled(self, fitted: Sequence["_Share"], plain: Sequence[MixTerm]) -> Clone:
        """Fitted voices, each a mix of its own and an offset, and voices of the engine's, as one of the kind."""
        parts = [
            MixTerm(part.voice, part.share * one.share) for one in fitted for part in parse_mix(one.style.base)
        ] + list(plain)
        offset = np.asarray(sum(one.share * one.style.offset for one in fitted), dtype=np.float32)

        async def prepare(engine: Engine) -> PreparedVoice:
            assert isinstance(engine, Styled)
            store = await self._shelf.store()
            for one in fitted:
                await self._shelf.run(partial(store.touch, one.record))
            return engine.styled_voice(parts, offset, fitted[0].record.language)

        return Clone("+".join(one.record.id for one in fitted), prepare, styled=True)

    async def _pair(self, names: str, owner: str, engine: Engine, text: str | None) -> Clone:
        """Two registered voices, the first for `[S1]` and the second for `[S2]`."""
        if text:
            raise InvalidRequestError(
                "'prompt_text' is for one voice; with two, each is spoken with what it was registered with.",
                field="prompt_text",
            )
        clones: list[Clone] = []
        for name in names.split(","):
            clone = await self._registered(name.strip(), owner, engine, None)
            if clone is None:
                raise UnknownVoiceError(
                    f"There is no voice {name.strip()[:80]!r}; GET /v1/voices lists yours.", field="voice"
                )
            clones.append(clone)
        first, second = clones

        async def prepare(engine: Engine) -> PreparedVoice:
            assert isinstance(engine, Duetting)
            return engine.duet(await first.prepare(engine), await second.prepare(engine))

        return Clone(f"{first.label}+{second.label}", prepare)

    async def _prepare_taken(
        self, reference: InlineVoice | UrlVoice, text: str | None, engine: Engine
    ) -> PreparedVoice:
        taken = await self._prompts.take(reference, "voice")
        pcm, rate = taken.recording.pcm, taken.recording.sample_rate
        transcript = await self._prompts.transcript(taken.audio_digest, pcm, rate) if text is None else text
        digest = prompt_digest(taken.audio_digest, transcript)

        async def prompt() -> VoicePrompt:
            return VoicePrompt(pcm, rate, transcript, digest)

        return await self._prompts.prepared(engine, digest, prompt)

    async def _prepare_registered(self, record: VoiceRecord, text: str | None, engine: Engine) -> PreparedVoice:
        store = await self._shelf.store()
        transcript = text or record.transcript
        if record.transcription is Transcription.PENDING and not transcript:
            pcm, rate = await self._shelf.run(partial(store.recording, record))
            transcript = await self._prompts.transcript(record.audio_digest, pcm, rate)
        digest = prompt_digest(record.audio_digest, transcript)

        async def prompt() -> VoicePrompt:
            pcm, rate = await self._shelf.run(partial(store.recording, record))
            return VoicePrompt(pcm, rate, transcript, digest)

        voice = await self._prompts.prepared(engine, digest, prompt)
        await self._shelf.run(partial(store.touch, record))
        return voice
