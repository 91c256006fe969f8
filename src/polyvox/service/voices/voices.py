"""The voice service: register, list, change and delete voices, and resolve those of requests."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import structlog

from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.engines.base import Engine, SupportsStyle
from polyvox.engines.catalog import Catalog
from polyvox.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    PolyvoxError,
    PromptError,
    UnavailableError,
)
from polyvox.service.keys.access import Access
from polyvox.service.keys.accounts import Accounts
from polyvox.service.keys.operations import Operation
from polyvox.service.registry.registry import Readiness, Registry
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.consent import ConsentRule, is_of_somebody
from polyvox.service.voices.default_voice import DefaultVoice
from polyvox.service.voices.design_previews import DesignPreviews
from polyvox.service.voices.preset_prompts import PresetPrompts
from polyvox.service.voices.prompts import AcceptedRecording, CacheKind, Prompts
from polyvox.service.voices.transcriber import ASR_BUNDLE, MULTILINGUAL_BUNDLE, Transcriber
from polyvox.service.voices.voice_resolver import Fingerprint, VoiceResolver, style_model_of, voice_tag
from polyvox.service.voices.voice_store import AsyncVoiceStore, visible_to
from polyvox.types import VoicePrompt
from polyvox.voices.designs import design_of
from polyvox.voices.fitted import KEY, FittedStyle
from polyvox.voices.names import name_key
from polyvox.voices.recognition.similarity import SAME_SPEAKER, similarity
from polyvox.voices.recording.fetch import Fetcher
from polyvox.voices.recording.intake import RecordingIntake
from polyvox.voices.records import (
    SHARED_OWNER,
    Embedding,
    Registration,
    Transcription,
    VoiceDetails,
    VoicePage,
    VoiceQuery,
    VoiceRecord,
)
from polyvox.voices.references import InlineVoice, UrlVoice
from polyvox.voices.storage.contract import SupportsSidecars, VoiceStore
from polyvox.voices.storage.location import location_of
from polyvox.voices.style_packs import PACKS, PackFiles
from polyvox.voices.styles import PACK_KEY, pack_reference, style_model

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_TIDY_SECONDS = 30.0
_CHECK_SECONDS = 2.0
_EVERY = 1_000_000_000
_NO_TRANSCRIPT = (
    "It has no transcript yet, which most models need: send it, or have this server transcribe; run: "
    "polyvox pull moonshine-base"
)


Result = TypeVar("Result")


class Transcribe(StrEnum):
    """The time to transcribe a recording without a transcript: before the response, after it, or not at all."""

    INLINE = "inline"
    BACKGROUND = "background"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Registered:
    """A new voice, and warnings about it."""

    record: VoiceRecord
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deleted voice, whether its recording was deleted, and how many cached and prepared entries."""

    record: VoiceRecord
    audio: bool
    cached: int
    prepared: int


class _SpeechCache(Protocol):
    async def forget(self, voice: str) -> int:
        """Delete all speech in a voice, by its tag; how many entries that were."""


class _Fingerprints(Protocol):
    async def of(self, model: str, engine: Engine) -> str:
        """Identify the files of a model that is loaded."""


class SpeechParts(Protocol):
    """The parts of a speech service that its voices share with it."""

    @property
    def settings(self) -> Settings: ...

    @property
    def registry(self) -> Registry: ...

    @property
    def metrics(self) -> Metrics: ...

    @property
    def cache(self) -> _SpeechCache: ...

    @property
    def accounts(self) -> Accounts: ...

    @property
    def fingerprints(self) -> _Fingerprints: ...


class VoiceService:
    """The voices of one server. An owner is a key's fingerprint, or `SHARED_OWNER` where the server has no keys."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        prompts: Prompts,
        store: AsyncVoiceStore,
        access: Access,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        self.access = access
        self._settings = settings
        self._registry = registry
        self._prompts = prompts
        self._store = store
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_forgotten = 0
        self._resumed = False
        self.forget_speech: Callable[[str], Awaitable[object]] = _nothing_cached
        """Deletes cached speech in the voice of a recording, by its digest."""
        self.presets = PresetPrompts(settings, registry, Catalog.installed())
        self.keeping = asyncio.Lock()
        """Held while a sentence is spoken for a kept voice: one at a time."""
        self.packs = PackFiles(settings.data_dir / PACKS)
        self.previews = DesignPreviews()
        self.consent = ConsentRule(settings)
        self.resolver = VoiceResolver(
            settings, registry, store, prompts, self.presets, self.packs, self.consent, fingerprint
        )
        self._default = DefaultVoice(settings, registry, store, self.presets, self.resolver)

    @classmethod
    def for_service(cls, speech: SpeechParts, access: Access | None = None) -> "VoiceService":
        """The voice service that belongs to a speech service, with its settings; its keys decide unless told."""
        settings = speech.settings
        transcriber = Transcriber(settings)
        prompts = Prompts(
            settings,
            settings.data_dir / "prepared",
            intake=RecordingIntake(settings, transcriber),
            fetcher=Fetcher(settings),
            transcriber=transcriber,
            metrics=speech.metrics,
        )
        store = AsyncVoiceStore(location_of(settings), speech.metrics.voice_store_failed)
        speech.metrics.watch_voice_store(lambda: store.state.available)
        access = access or speech.accounts.access
        voices = cls(settings, speech.registry, prompts, store, access, speech.fingerprints.of)
        voices.forget_speech = lambda recording: speech.cache.forget(voice_tag(recording))
        return voices

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems with voices for the operator to mend: the store, and models that cloning ones do without."""
        return self._store.state.warnings + self._lacking()

    def _lacking(self) -> tuple[str, ...]:
        cloning = [info for info in self._registry.models() if info.cloning]
        if not cloning:
            return ()
        lacking = []
        if not self.presets.is_installed:
            there = f" other than {', '.join(self.presets.names)}" if self.presets.names else ""
            lacking.append(f"Built-in voices{there} need another model; run: {pull_hint('kokoro')}.")
        if not (self._settings.models_dir / ASR_BUNDLE).is_dir() and not all(info.wordless for info in cloning):
            lacking.append(f"Recordings need a transcript, unless you run: {pull_hint(ASR_BUNDLE)}.")
        return tuple(lacking)

    async def readiness(self, state: Readiness) -> Readiness:
        """The readiness of a server with these voices: it is not ready while its default voice cannot be heard."""
        obstacle = await self._default.obstacle() if state.ok else ""
        if not obstacle:
            return state
        return replace(state, ok=False, reasons={self._settings.default_model: obstacle, **state.reasons})

    async def start(self) -> None:
        """Resume transcriptions that the last process left, prepare the default voice, and start to look after caches
        and the store.
        """
        self._default.expect()
        self._spawn(self._tidy_forever())
        await self._resume()
        await self._store.check()
        self._spawn(self._check_forever())

    async def _resume(self) -> None:
        """Sweep the store and go on with its pending transcriptions; again later if it is broken."""
        self._resumed = False
        try:
            voices = await self._store.opened_if_any()
            if voices is not None:
                swept = await self._store.run(partial(voices.sweep, self._forget_before()))
                await self._store.run(partial(_sweep_packs, voices, self.packs))
                log.info("voices ready", swept=swept)
                if isinstance(voices, SupportsSidecars):
                    self._spawn(self._store.run(voices.update_sidecars))
                for record in await self._store.run(voices.pending):
                    self._spawn(self._transcribe(voices, record))
            self._resumed = True
        except PolyvoxError as error:
            log.error("registered voices unavailable", reason=error.message)

    async def check(self) -> None:
        """Find out whether the store works; one that was mended or replaced is taken up again. A default voice that is
        not prepared is tried again.
        """
        await self._default.prepare()
        replaced = await self._store.check()
        if replaced or (self._store.state.available and not self._resumed):
            self._last_forgotten = 0
            await self._resume()

    async def close(self) -> None:
        """Cancel work under way; the next process resumes pending transcriptions."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._prompts.close()
        await self._store.close()

    async def register(
        self,
        reference: InlineVoice | UrlVoice,
        details: VoiceDetails,
        owner: str,
        *,
        transcribe: Transcribe = Transcribe.INLINE,
        replacing: bool = False,
        fitted: FittedStyle | None = None,
        style: Mapping[str, Any] = MappingProxyType({}),
    ) -> Registered:
        """Check a recording and store it as a voice, with the style that was fitted to it or is kept by it, if any."""
        of_somebody = is_of_somebody(style)
        if of_somebody:
            details = self.consent.checked(details)
        taken = await self.take(reference, details, owner, replacing=replacing)
        assert details.name is not None
        voices = await self._store.opened()
        text, state = await self._transcript_for(details, taken, transcribe, owner)
        embedding = await self._prompts.embedding(taken.recording.pcm, taken.recording.sample_rate)
        registration = _registration(details.name, owner, details, taken, text, state, embedding)
        if fitted is not None:
            registration = replace(registration, report={**registration.report, KEY: fitted.as_report()})
        if style:
            registration = replace(registration, report={**registration.report, **style})
        warnings = await self._store.run(partial(_similar_voices, voices, registration, taken.audio_digest))
        if (
            state is Transcription.PENDING
            and not self._is_wordless()
            and not await self._can_transcribe(details.language)
        ):
            warnings += (_NO_TRANSCRIPT,)
        limit = self._settings.max_voices
        added = await self._store.run(partial(voices.add, registration, replacing=replacing, limit=limit))
        if of_somebody:
            await self.consent.registered(added.record)
        if added.replaced is not None:
            await self.forget_speech(added.replaced.record.audio_digest)
            await self._forget_pack(added.replaced.record)
        if added.replaced is not None and not added.replaced.shared:
            await self._prompts.forget(added.replaced.record.audio_digest, owner)
        if state is Transcription.PENDING:
            self._spawn(self._transcribe(voices, added.record))
        log.info("voice registered", voice=added.record.id, seconds=round(added.record.duration, 2))
        return Registered(added.record, warnings)

    async def take(
        self, reference: InlineVoice | UrlVoice, details: VoiceDetails, owner: str, *, replacing: bool = False
    ) -> AcceptedRecording:
        """Check the recording and the name of a voice to be registered; nothing is stored yet."""
        self.access.require(Operation.CHANGE_VOICES, owner)
        if details.name is None:
            raise InvalidRequestError("'name' is required.", field="name")
        if not replacing:
            await self.check_free(details.name, owner)
        return await self._prompts.take(reference, "audio", owner)

    async def check_free(self, name: str, owner: str) -> None:
        """ConflictError for a name that its owner has given already."""
        voices = await self._store.opened()
        if await self._store.run(partial(voices.find, owner, name)) is not None:
            raise ConflictError(
                f"There is a voice named {name!r} already; choose another name or remove it.", field="name"
            )

    async def source(self, reference: InlineVoice | UrlVoice, field: str, owner: str) -> VoicePrompt:
        """The source recording of a conversion, checked like that of a voice."""
        self.access.require(Operation.CONVERT, owner)
        taken = await self._prompts.take(reference, field, owner)
        return VoicePrompt(taken.recording.pcm, taken.recording.sample_rate, "", taken.audio_digest)

    async def page(self, query: VoiceQuery, owner: str) -> VoicePage:
        """A page of the voices that this owner may use."""
        self.access.require(Operation.READ_VOICES, owner)
        voices = await self._store.opened_if_any()
        if voices is None:
            return VoicePage((), "")
        return await self._store.run(partial(voices.page, replace(query, owners=visible_to(owner))))

    async def get(self, voice_id: str, owner: str) -> VoiceRecord:
        """A voice that this owner may use, by id."""
        self.access.require(Operation.READ_VOICES, owner)
        return await self._store.get(voice_id, owner)

    async def find(self, name: str, owner: str) -> VoiceRecord:
        """A voice that this owner may use, by name: the owner's before a shared one."""
        self.access.require(Operation.READ_VOICES, owner)
        record = await self._store.find(name, owner)
        if record is None:
            raise NotFoundError("There is no voice of this name; list the voices to see which there are.", field="name")
        return record

    async def change(self, voice_id: str, details: VoiceDetails, owner: str) -> VoiceRecord:
        """Change the details of a voice."""
        self.access.require(Operation.CHANGE_VOICES, owner)
        record = await self._store.owned(voice_id, owner)
        changes: dict[str, Any] = dict(details.given)
        if details.transcript is not None:
            changes["transcription"] = Transcription.GIVEN if details.transcript else Transcription.NONE
        voices = await self._store.opened()
        changed = await self._store.run(partial(voices.update, record.id, changes))
        if changed is None:
            raise NotFoundError("The voice was deleted meanwhile.", field="id")
        if details.consent is not None:
            await self.consent.registered(changed)
        return changed

    async def delete(self, voice_id: str, owner: str) -> Deleted:
        """Delete a voice with its recording and everything made of it, as far as it is the owner's.

        Another owner who has the same recording keeps it, and the answer does not tell.
        """
        self.access.require(Operation.CHANGE_VOICES, owner)
        record = await self._store.owned(voice_id, owner)
        voices = await self._store.opened()
        removed = await self._store.run(partial(voices.remove, record.id))
        if removed is None:
            raise NotFoundError("The voice was deleted meanwhile.", field="id")
        await self.forget_speech(record.audio_digest)
        await self._forget_pack(record)
        if removed.shared:
            return Deleted(record, audio=False, cached=0, prepared=0)
        forgotten = await self._prompts.forget(record.audio_digest, owner)
        log.info("voice deleted", voice=record.id, cached=forgotten.cached, prepared=forgotten.prepared)
        return Deleted(record, audio=True, cached=forgotten.cached, prepared=forgotten.prepared)

    async def forget_file(self, name: str) -> None:
        """Delete the file of a pack that became no voice."""
        await self._store.run(partial(self.packs.remove, name))

    async def _forget_pack(self, record: VoiceRecord) -> None:
        if (pack := pack_reference(record.report)) is not None:
            await self.forget_file(pack.file)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run blocking work on voices on a thread."""
        return await self._store.run(work)

    async def styles_of(self, engine: Engine, owner: str, limit: int) -> list[VoiceRecord]:
        """The owner's fitted, kept and designed voices that an engine speaks as its own."""
        if engine.capabilities.voice_design:
            page = await self.page(VoiceQuery(limit=limit), owner)
            return [record for record in page.voices if design_of(record.report) is not None]
        if not isinstance(engine, SupportsStyle):
            return []
        page, model = await self.page(VoiceQuery(limit=limit), owner), style_model_of(engine)
        return [record for record in page.voices if style_model(record.report) == model]

    async def preview(self, voice_id: str, owner: str) -> bytes:
        """A voice's recording as a WAV file, for its owner."""
        self.access.require(Operation.READ_VOICES, owner)
        record = await self._store.owned(voice_id, owner)
        voices = await self._store.opened()
        return await self._store.run(partial(voices.audio_file, record))

    async def clear(self, *kinds: CacheKind, owner: str) -> Mapping[CacheKind, int]:
        """Drop the owner's entries of caches; returns how many each had. A server without keys drops everybody's."""
        self.access.require(Operation.CHANGE_VOICES, owner)
        scope = None if owner == SHARED_OWNER else owner
        return {kind: await self._prompts.clear(kind, scope) for kind in kinds}

    async def tidy(self) -> None:
        """Drop expired cache entries, and those of voices that other processes have deleted."""
        await self._prompts.tidy()
        voices = await self._store.opened_if_any()
        if voices is not None:
            self._last_forgotten, gone = await self._store.run(partial(voices.forgotten, self._last_forgotten))
            for audio_digest, owner in gone:
                await self._prompts.forget(audio_digest, owner)
                await self.forget_speech(audio_digest)
            await self._store.run(voices.upkeep)

    async def _transcript_for(
        self, details: VoiceDetails, taken: AcceptedRecording, transcribe: Transcribe, owner: str
    ) -> tuple[str, Transcription]:
        if details.transcript:
            return details.transcript, Transcription.GIVEN
        if transcribe is Transcribe.NONE:
            return "", Transcription.NONE
        able = await self._can_transcribe(details.language)
        if not able and details.language and details.language.partition("-")[0] != "en":
            if self._is_wordless():
                return "", Transcription.NONE
            raise InvalidRequestError(
                f"This server does not transcribe {details.language!r}; send the transcript, or run: "
                f"{pull_hint(MULTILINGUAL_BUNDLE)}",
                field="transcript",
            )
        if transcribe is Transcribe.BACKGROUND or not able:
            return "", Transcription.PENDING
        pcm, rate = taken.recording.pcm, taken.recording.sample_rate
        try:
            transcript = await self._prompts.transcript(taken.audio_digest, pcm, rate, owner, details.language)
        except PromptError:
            if not self._is_wordless():
                raise
            return "", Transcription.NONE
        return transcript, Transcription.HEARD

    def _is_wordless(self) -> bool:
        """Return whether a model is here that clones without a transcript."""
        return any(info.wordless for info in self._registry.models())

    async def _can_transcribe(self, language: str | None) -> bool:
        """Return whether the model for it is installed; without it, a voice can be cloned by its sound alone."""
        try:
            await self._prompts.check_transcription(language)
        except UnavailableError:
            return False
        return True

    async def _transcribe(self, voices: VoiceStore, record: VoiceRecord) -> None:
        """Transcribe the recording of a registered voice."""
        transcript = None
        try:
            pcm, rate = await self._store.run(partial(voices.recording, record))
            transcript = await self._prompts.transcript(record.audio_digest, pcm, rate, record.owner, record.language)
        except UnavailableError as error:
            log.warning("voice not transcribed yet", voice=record.id, reason=error.message)
            return  # the next process may have what this one lacks
        except PolyvoxError as error:
            log.warning("voice not transcribed", voice=record.id, reason=error.message)
        except Exception:
            log.exception("voice not transcribed", voice=record.id)
        try:
            await self._store.run(partial(voices.set_transcription, record.id, transcript))
        except UnavailableError as error:
            log.warning("transcript of a voice not stored yet", voice=record.id, reason=error.message)

    def _forget_before(self) -> float:
        """The time before which no process can still hold anything of a deleted voice."""
        in_memory = (self._settings.recording_cache_seconds, self._settings.prepared_cache_seconds)
        on_disk = (self._settings.prepared_disk_seconds, self._settings.speech_cache_seconds)
        return time.time() - max(*in_memory, *on_disk) - 2 * _TIDY_SECONDS

    async def _tidy_forever(self) -> None:
        while True:
            await asyncio.sleep(_TIDY_SECONDS)
            try:
                await self.tidy()
            except (PolyvoxError, OSError) as error:
                log.warning("voices not tidied", reason=str(error))

    async def _check_forever(self) -> None:
        while True:
            try:
                await self.check()
            except Exception:
                log.exception("voices not checked")
            await asyncio.sleep(_CHECK_SECONDS)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _registration(
    name: str,
    owner: str,
    details: VoiceDetails,
    taken: AcceptedRecording,
    transcript: str,
    transcription: Transcription,
    embedding: Embedding | None,
) -> Registration:
    return Registration(
        name=name,
        owner=owner,
        pcm=taken.recording.pcm,
        sample_rate=taken.recording.sample_rate,
        transcript=transcript,
        transcription=transcription,
        language=details.language or "",
        tags=details.tags or (),
        consent=bool(details.consent),
        consent_note=details.consent_note or "",
        report=asdict(taken.recording.report) | {"warnings": list(taken.recording.report.warnings)},
        embedding=embedding,
    )


def _similar_voices(store: VoiceStore, new: Registration, audio_digest: str) -> tuple[str, ...]:
    """Warnings about voices of the same owner with the same recording or the same speaker."""
    same = store.find_audio(new.owner, audio_digest)
    if same is not None and name_key(same.name) != name_key(new.name):
        return (f"Your voice {same.name!r} has the same recording.",)
    if new.embedding is None:
        return ()
    scores = {
        other.name: similarity(new.embedding, other.embedding)
        for other in store.sounding(new.owner)
        if other.embedding is not None and name_key(other.name) != name_key(new.name)
    }
    nearest = max(scores, key=scores.__getitem__, default="")
    if not nearest or scores[nearest] < SAME_SPEAKER:
        return ()
    return (f"It sounds like your voice {nearest!r} (similarity {scores[nearest]:.2f}).",)


def _sweep_packs(store: VoiceStore, packs: PackFiles) -> int:
    """Delete files of packs that no voice names."""
    every = store.page(VoiceQuery(limit=_EVERY)).voices
    found = (record.report.get(PACK_KEY) for record in every)
    return packs.sweep({str(pack.get("file")) for pack in found if isinstance(pack, Mapping)})


async def _nothing_cached(_: str) -> None:
    """There is no cache of speech."""
