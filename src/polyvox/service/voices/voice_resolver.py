"""Resolves the voice of a request: an engine's own, a registered one, a mix, or a recording that comes with it."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from polyvox.config import Settings
from polyvox.engines.base import Engine, SharesStyles, SupportsCodes, SupportsDialogue, SupportsStyle
from polyvox.engines.spec import PresetPrompt
from polyvox.errors import ForbiddenError, InvalidRequestError, PromptError, UnavailableError, UnknownVoiceError
from polyvox.service.registry.registry import Registry
from polyvox.service.voices.consent import ConsentRule
from polyvox.service.voices.preset_prompts import MixedStyle, PresetPrompts
from polyvox.service.voices.prompts import Prompts
from polyvox.service.voices.voice_aliases import unspoken_language
from polyvox.service.voices.voice_store import AsyncVoiceStore, visible_to
from polyvox.types import PreparedVoice, VoicePrompt
from polyvox.voices.designs import described_voice, design_of
from polyvox.voices.mixing import MixTerm, parse_mix
from polyvox.voices.names import is_voice_id, transcript_text
from polyvox.voices.records import SHARED_OWNER, Transcription, VoiceQuery, VoiceRecord
from polyvox.voices.references import InlineVoice, RegisteredVoice, UploadedVoice, UrlVoice, VoiceReference
from polyvox.voices.storage.recordings import digest_of, prompt_digest
from polyvox.voices.style_packs import PackFiles
from polyvox.voices.styles import VoiceStyle, pack_reference, plain_style, style_model

_TAG_CHARS = 16
_NAMED_VOICES = 12
"""Voices that the refusal of an unknown one names."""
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})

Fingerprint = Callable[[str, Engine], Awaitable[str]]
"""Identifies the files of a loaded model by its name and engine."""


def voice_tag(recording: str) -> str:
    """The name by which speech in the voice of a recording is found when that is to be forgotten."""
    return hashlib.sha256(recording.encode()).hexdigest()[:_TAG_CHARS]


@dataclass(frozen=True, slots=True)
class ResolvedVoice:
    """A voice that is found but not prepared yet; `label` is its name in logs.

    `prepare` is called once the request is admitted, with the engine that will speak; it gives None for a voice of the
    engine's own, by the name `label`. A `native` voice is one of those or a fitted one: the engine need not clone.

    `content` identifies what the voice sounds like; empty where that is not known before it is prepared. `recordings`
    are the digests of the recordings that it was made of. A voice that is not everybody's is `private`. `identity`
    tells voices without a `content` apart, for content ids; speech in them is not cached.
    """

    label: str
    prepare: Callable[[Engine], Awaitable[PreparedVoice | None]]
    native: bool = False
    content: str = ""
    recordings: tuple[str, ...] = ()
    private: bool = False
    identity: str = ""


@dataclass(frozen=True, slots=True)
class _FittedShare:
    """A fitted or kept voice and its share of a mix."""

    share: float
    record: VoiceRecord
    style: VoiceStyle


@dataclass(frozen=True, slots=True)
class _MixShares:
    """The voices of a mix: those fitted for its model, others that are not registered, and registered ones that are
    not fitted.
    """

    fitted: Sequence[_FittedShare]
    plain: Sequence[MixTerm]
    unfitted: Sequence[str]


class VoiceResolver:
    """Finds the voice of a request; preparing it, which is costly, waits until the request is admitted."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        store: AsyncVoiceStore,
        prompts: Prompts,
        presets: PresetPrompts,
        packs: PackFiles,
        consent: ConsentRule,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        self._settings = settings
        self._consent = consent
        self._presets = presets
        self._packs = packs
        self._registry = registry
        self._store = store
        self._prompts = prompts
        self._fingerprint = fingerprint

    async def resolve(
        self,
        reference: VoiceReference,
        owner: str,
        *,
        model: str | None = None,
        transcript: str | None = None,
        wordless: bool = False,
        pairs: bool = True,
        instructed: bool = False,
        openai_names: bool = True,
    ) -> ResolvedVoice | None:
        """Resolve a voice reference, or return None where the engine resolves the name itself.

        An empty name is the model's default voice, of those that follow instructions where it is to be `instructed`.
        An engine's own voice goes before a registered one of the same name. `transcript` is the transcript of the
        recording and overrides the stored one. With `wordless`, a recording that comes with the request is given to an
        engine that needs no transcript without one. With `pairs`, `anna,bert` are two voices to a model for dialogues.
        Without `openai_names`, OpenAI's voices are not known.
        """
        engine = self._registry.engine(model)
        text = None if transcript is None else transcript_text(transcript, "prompt_text")
        if isinstance(reference, RegisteredVoice):
            name = reference.name or self._registry.default_voice(model, instructed=instructed)
            aliases = self._settings.aliases if openai_names else self._settings.own_aliases
            registered = await self._registered(name, owner, engine, text, aliases)
            if registered is None and pairs and engine.capabilities.dialogue and name.count(",") == 1:
                return await self._pair(name, owner, engine, text)
            if registered is None and engine.capabilities.cloning and not _is_own(name, engine):
                raise await self._unknown(name, owner, engine)
            return registered
        self._registry.check_cloning(engine)
        if isinstance(reference, UploadedVoice):
            raise InvalidRequestError("'voice' names an uploaded file, but none came with the request.", field="voice")
        if not self._settings.allow_inline and isinstance(reference, InlineVoice):
            raise ForbiddenError("This server takes no recordings in requests for speech; register the voice first.")
        if not self._settings.allow_base64 and isinstance(reference, InlineVoice) and reference.in_text:
            raise ForbiddenError("This server takes no recordings as base64; upload the file, or register the voice.")
        self._consent.check_prompt()
        label = "url" if isinstance(reference, UrlVoice) else "inline"
        untranscribed = wordless and engine.capabilities.wordless
        known = await asyncio.to_thread(digest_of, reference.data) if isinstance(reference, InlineVoice) else ""
        return ResolvedVoice(
            label,
            lambda engine: self._prepare_taken(reference, "" if untranscribed else text or None, engine, owner),
            identity=f"recording {known} {untranscribed} {text}" if known else "",
        )

    async def model_for(
        self,
        reference: VoiceReference,
        owner: str,
        model: str | None,
        *,
        language: str | None = None,
        transcript: str | None = None,
    ) -> str | None:
        """The model that speaks a request with this voice: the one asked for, unless that was left to the server and
        the voice is cloned, which another model does.
        """
        if isinstance(reference, UploadedVoice) or not self.may_choose(model):
            return model
        language, worded = language or "", bool(transcript)
        if isinstance(reference, RegisteredVoice):
            record = await self._unspoken(reference.name, owner, model)
            if record is None:
                return model
            language, worded = language or record.language, worded or bool(record.transcript)
        return self._registry.model_to_clone(model, language, worded=worded)

    def may_choose(self, model: str | None) -> bool:
        """Return whether a voice may decide which model speaks: none is named, and the default one does not clone."""
        return not (self._registry.is_named(model) or self._registry.model(model).cloning)

    async def _unspoken(self, name: str, owner: str, model: str | None) -> VoiceRecord | None:
        """The registered voice of a name, where a model does not speak it."""
        info = self._registry.model(model)
        if not info.loaded or not name:
            return None
        engine = self._registry.engine(model)
        if _is_own(name, engine):
            return None
        record = await self._store.find(name, owner)
        if record is None and (target := self._settings.aliases.get(name, name)) != name:
            return await self._unspoken(target, owner, model)
        designed = record is not None and engine.capabilities.voice_design and design_of(record.report) is not None
        return None if record is None or designed or _is_styled(record, engine) else record

    def speaks(self, record: VoiceRecord, engine: Engine) -> bool:
        """Return whether an engine speaks in a registered voice: cloned, or fitted for it."""
        return engine.capabilities.cloning or _is_styled(record, engine)

    def engine(self, model: str | None) -> Engine:
        """The engine that a request's voices are for."""
        return self._registry.engine(model)

    def by_name(self, owner: str, model: str | None) -> Callable[[str], Awaitable[ResolvedVoice | None]]:
        """A look-up of the voices that a text's markup may name: the engine's own, mixes and registered ones."""
        return lambda name: self.resolve(RegisteredVoice(name), owner, model=model, pairs=False)

    def from_codes(self, codes: Sequence[int], transcript: str) -> ResolvedVoice:
        """A voice given as codec tokens."""
        self._consent.check_prompt()
        text = transcript_text(transcript, "prompt_text")

        async def prepare(engine: Engine) -> PreparedVoice:
            if not isinstance(engine, SupportsCodes):
                raise InvalidRequestError(f"The model {engine.name!r} does not take a voice's tokens.", field="model")
            return engine.voice_from_codes(codes, text)

        content = f"codes {digest_of(repr(list(codes)).encode())} {digest_of(text.encode())}"
        return ResolvedVoice("codes", prepare, content=content, private=True)

    async def _registered(
        self, name: str, owner: str, engine: Engine, text: str | None, aliases: Mapping[str, str] = _NO_ALIASES
    ) -> ResolvedVoice | None:
        # Without the store: a broken one must not silence an engine's own voices.
        if _is_own(name, engine):
            return None
        record = await self._store.find(name, owner)
        if record is None:
            return await self._unregistered(name, owner, engine, aliases)
        self._consent.check_use(record)
        if _is_styled(record, engine) and (style := await self._style(record)) is not None:
            return self._styled([_FittedShare(1.0, record, style)], ())
        if engine.capabilities.voice_design and (description := design_of(record.report)) is not None:
            return _designed(record, description)
        self._registry.check_cloning(engine, registered=True)
        transcript = text or record.transcript
        known = bool(transcript) or record.transcription is not Transcription.PENDING
        return ResolvedVoice(
            record.id,
            lambda engine: self._prepare_registered(record, text, engine),
            content=f"recording {prompt_digest(record.audio_digest, transcript)}" if known else "",
            recordings=(record.audio_digest,),
            private=record.owner != SHARED_OWNER,
        )

    async def _unknown(self, name: str, owner: str, engine: Engine) -> UnknownVoiceError:
        """The refusal of a name that means no voice, with some that do."""
        store = await self._store.opened_if_any()
        query = VoiceQuery(owners=visible_to(owner), limit=_NAMED_VOICES)
        registered = () if store is None else (await self._store.run(partial(store.page, query))).voices
        own = (voice.id for voice in engine.voices)
        names = list(dict.fromkeys((*own, *(record.name for record in registered), *self._presets.names)))
        some = ", ".join(names[:_NAMED_VOICES])
        more = f" and {len(names) - _NAMED_VOICES} more; GET /speakers lists them" if len(names) > _NAMED_VOICES else ""
        there = f"use one of {some}{more}; or" if names else "there is none yet:"
        return UnknownVoiceError(f"There is no voice {name[:80]!r}; {there} register a recording.", field="voice")

    async def _unregistered(
        self, name: str, owner: str, engine: Engine, aliases: Mapping[str, str]
    ) -> ResolvedVoice | None:
        """A mix with fitted voices, a further name of a voice, or a built-in voice of another engine."""
        if is_voice_id(name):
            raise UnknownVoiceError("There is no voice of this id; GET /v1/voices lists yours.", field="voice")
        if (target := aliases.get(name, name)) != name:
            if language := unspoken_language(name, target, engine.capabilities.languages):
                raise UnknownVoiceError(
                    f"The voice {name!r} is for the language {language!r}, which the model {engine.name!r} does not "
                    "speak; GET /speakers lists those that it has.",
                    field="voice",
                )
            resolved = await self._registered(target, owner, engine, None)
            own = ResolvedVoice(target, _own_voice, native=True, content=f"own {target}")
            return own if resolved is None else resolved
        if isinstance(engine, SupportsStyle):
            return await self._mixed(name, owner, engine)
        if not engine.capabilities.cloning:
            return None
        if (preset := self._presets.find(name)) is not None:
            return ResolvedVoice(name, partial(self._prepare_preset, preset), identity=f"preset {name}")
        return await self._borrowed_mix(name, owner)

    async def _borrowed_mix(self, expression: str, owner: str) -> ResolvedVoice | None:
        """A mix with voices that were fitted for another model, which speaks its prompt; None where it is none."""
        shares = await self._mix_shares(expression, owner, self._presets.model or "", ())
        if not shares.fitted:
            return None
        if shares.unfitted:
            raise InvalidRequestError(
                f"The voice {shares.unfitted[0]!r} can be part of a mix once it is fitted: polyvox voices fit "
                f"{shares.unfitted[0]}",
                field="voice",
            )
        parts, offset = _combined(shares.fitted, shares.plain)
        nearest = max(parts, key=lambda part: part.share, default=None)
        preset = self._presets.any_of(shares.fitted[0].record.language) if nearest is None else None
        preset = preset if nearest is None else self._presets.find(nearest.voice)
        if preset is None:
            return None
        return ResolvedVoice(expression, partial(self._prepare_preset, preset, style=MixedStyle(parts, offset)))

    async def _prepare_preset(
        self, preset: PresetPrompt, engine: Engine, *, style: MixedStyle | None = None
    ) -> PreparedVoice:
        """Prepare a borrowed voice. It is kept on disk, by the model's files, since it is nobody's own."""
        model = "" if self._fingerprint is None else await self._fingerprint(engine.name, engine)
        digest = await self._presets.digest(preset, style, model=model)
        prompt = partial(self._presets.prompt, preset, digest, style)
        return await self._prompts.prepared(engine, digest, prompt, SHARED_OWNER, kept=bool(model))

    async def _mixed(self, expression: str, owner: str, engine: Engine) -> ResolvedVoice | None:
        """A mix with fitted voices in it; None where it has none, which the engine resolves itself."""
        shares = await self._mix_shares(
            expression, owner, style_model_of(engine), [voice.id for voice in engine.voices]
        )
        if shares.unfitted:
            self._registry.check_cloning(engine, registered=True)
        return self._styled(shares.fitted, shares.plain) if shares.fitted else None

    async def _mix_shares(self, expression: str, owner: str, model: str, own: Sequence[str]) -> "_MixShares":
        """The voices of a mix, those that were fitted for a model apart; none where the name is no mix."""
        fitted: list[_FittedShare] = []
        plain: list[MixTerm] = []
        unfitted: list[str] = []
        try:
            parts = parse_mix(expression)
        except UnknownVoiceError:
            parts = ()
        for part in parts:
            record = None if part.voice in own else await self._store.find(part.voice, owner)
            if record is None:
                plain.append(part)
                continue
            style = await self._style(record) if style_model(record.report) == model else None
            if style is None:
                unfitted.append(part.voice)
            else:
                self._consent.check_use(record)
                fitted.append(_FittedShare(part.share, record, style))
        return _MixShares(fitted, plain, unfitted)

    async def _style(self, record: VoiceRecord) -> VoiceStyle | None:
        """The style of a registered voice, if it is one."""
        pack = pack_reference(record.report)
        if pack is None:
            return plain_style(record.report)
        return VoiceStyle(pack.model, "", await self._store.run(partial(self._packs.read, pack.file, pack.digest)))

    def _styled(self, fitted: Sequence[_FittedShare], plain: Sequence[MixTerm]) -> ResolvedVoice:
        """Fitted voices, each a mix plus an offset, and voices of the engine, as one fitted voice."""
        parts, offset = _combined(fitted, plain)

        async def prepare(engine: Engine) -> PreparedVoice:
            assert isinstance(engine, SupportsStyle)
            voices = await self._store.opened()
            for one in fitted:
                await self._store.run(partial(voices.touch, one.record))
            return engine.voice_from_style(parts, offset, fitted[0].record.language)

        style = digest_of(repr(parts).encode() + offset.tobytes() + fitted[0].record.language.encode())
        return ResolvedVoice(
            "+".join(one.record.id for one in fitted),
            prepare,
            native=True,
            content=f"style {style}",
            recordings=tuple(one.record.audio_digest for one in fitted),
            private=any(one.record.owner != SHARED_OWNER for one in fitted),
        )

    async def _pair(self, names: str, owner: str, engine: Engine, text: str | None) -> ResolvedVoice:
        """Two registered voices, the first for `[S1]` and the second for `[S2]`."""
        if text:
            raise InvalidRequestError(
                "'prompt_text' is for one voice; leave it out with two, which keep their registered transcripts.",
                field="prompt_text",
            )
        both: list[ResolvedVoice] = []
        for name in names.split(","):
            resolved = await self._registered(name.strip(), owner, engine, None, self._settings.aliases)
            if resolved is None:
                raise UnknownVoiceError(
                    f"There is no voice {name.strip()[:80]!r}; GET /v1/voices lists yours.", field="voice"
                )
            both.append(resolved)
        first, second = both

        async def prepare(engine: Engine) -> PreparedVoice:
            assert isinstance(engine, SupportsDialogue)
            speakers = [await voice.prepare(engine) for voice in both]
            return engine.dialogue_voice(*(speaker for speaker in speakers if speaker is not None))

        return ResolvedVoice(
            f"{first.label}+{second.label}",
            prepare,
            content=f"{first.content} and {second.content}" if first.content and second.content else "",
            recordings=first.recordings + second.recordings,
            private=first.private or second.private,
        )

    async def _prepare_taken(
        self, reference: InlineVoice | UrlVoice, text: str | None, engine: Engine, owner: str
    ) -> PreparedVoice:
        taken = await self._prompts.take(reference, "voice", owner)
        await self._consent.prompted(owner, taken.audio_digest)
        pcm, rate = taken.recording.pcm, taken.recording.sample_rate
        transcript = text
        if transcript is None:
            transcript = await _heard(self._prompts.transcript(taken.audio_digest, pcm, rate, owner), engine)
        digest = prompt_digest(taken.audio_digest, transcript)

        async def prompt() -> VoicePrompt:
            return VoicePrompt(pcm, rate, transcript, digest)

        return await self._prompts.prepared(engine, digest, prompt, owner)

    async def _prepare_registered(self, record: VoiceRecord, text: str | None, engine: Engine) -> PreparedVoice:
        voices = await self._store.opened()
        transcript = text or record.transcript
        if record.transcription is Transcription.PENDING and not transcript:
            pcm, rate = await self._store.run(partial(voices.recording, record))
            hearing = self._prompts.transcript(record.audio_digest, pcm, rate, record.owner, record.language)
            transcript = await _heard(hearing, engine)
        digest = prompt_digest(record.audio_digest, transcript)

        async def prompt() -> VoicePrompt:
            pcm, rate = await self._store.run(partial(voices.recording, record))
            return VoicePrompt(pcm, rate, transcript, digest)

        voice = await self._prompts.prepared(engine, digest, prompt, record.owner)
        await self._store.run(partial(voices.touch, record))
        return voice


def _combined(
    fitted: Sequence[_FittedShare], plain: Sequence[MixTerm]
) -> tuple[list[MixTerm], npt.NDArray[np.float32]]:
    """The mix of a model's own voices that fitted and plain ones add up to, and its offset."""
    based = [one for one in fitted if one.style.base]
    parts = [MixTerm(part.voice, part.share * one.share) for one in based for part in parse_mix(one.style.base)]
    offset = np.asarray(sum(one.share * one.style.offset for one in fitted), dtype=np.float32)
    return [*parts, *plain], offset


def _designed(record: VoiceRecord, description: str) -> ResolvedVoice:
    async def prepare(engine: Engine) -> PreparedVoice:
        return described_voice(engine.name, description)

    return ResolvedVoice(
        record.id,
        prepare,
        native=True,
        content=f"design {digest_of(description.encode())}",
        recordings=(record.audio_digest,),
        private=record.owner != SHARED_OWNER,
    )


async def _own_voice(_: Engine) -> None:
    """Nothing is to be prepared: the engine has the voice."""


def _is_own(name: str, engine: Engine) -> bool:
    """Return whether a name is a voice of the engine's, or a mix of such voices alone."""
    own = {voice.id for voice in engine.voices}
    if name in own or not engine.capabilities.voice_mixing:
        return name in own
    try:
        return all(term.voice in own for term in parse_mix(name))
    except UnknownVoiceError:
        return False


def _is_styled(record: VoiceRecord, engine: Engine) -> bool:
    """Return whether a registered voice has a style for an engine."""
    return isinstance(engine, SupportsStyle) and style_model(record.report) == style_model_of(engine)


def style_model_of(engine: Engine) -> str:
    """The model for which a voice must have been fitted to be spoken by an engine."""
    return engine.style_model if isinstance(engine, SharesStyles) else engine.name


async def _heard(hearing: Awaitable[str], engine: Engine) -> str:
    """The transcript of a recording; none where that cannot be had and the engine speaks without one."""
    try:
        return await hearing
    except (UnavailableError, PromptError):
        if not engine.capabilities.wordless:
            raise
        return ""
