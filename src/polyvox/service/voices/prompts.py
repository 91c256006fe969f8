"""Voice prompts: reference recordings on their way to an engine, with caches of all that is made of them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Protocol

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsPreparedCheck
from polyvox.errors import InvalidRequestError, PromptError, RequestTooLargeError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.single_flight import SingleFlight
from polyvox.types import Pcm, PreparedVoice, VoicePrompt
from polyvox.voices.cache import BoundedCache, PreparedVoiceFiles
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording.intake import CheckedRecording
from polyvox.voices.records import Embedding
from polyvox.voices.references import InlineVoice, UrlVoice
from polyvox.voices.storage.recordings import digest_of, wav_bytes

_TRANSCRIPT_BYTES = 1_048_576
_BYTES_PER_CHAR = 4
_ENTRY_BYTES = 256
_KEPT_BYTES = 67_108_864
"""Disk space for the voices that are kept whatever the settings say."""


class CacheKind(StrEnum):
    """The caches, each of which can be cleared on its own."""

    URL = "url"
    INLINE = "inline"
    TRANSCRIPT = "transcript"
    PREPARED = "prepared"


class TakesRecordings(Protocol):
    """Checks recordings; implemented by `voices.intake`."""

    async def take(self, data: bytes, limits: PromptLimits) -> CheckedRecording: ...


class FetchesRecordings(Protocol):
    """Downloads recordings; implemented by `voices.fetch.Fetcher`."""

    async def fetch(self, url: str) -> bytes: ...


class TranscribesRecordings(Protocol):
    """Transcribes recordings and embeds their speakers; implemented by `service.transcriber.Transcriber`."""

    def check_available(self, language: str | None = None) -> None: ...

    def transcribe(self, pcm: Pcm, rate: int, language: str | None = None) -> str: ...

    def embed(self, pcm: Pcm, rate: int) -> Embedding | None: ...


@dataclass(frozen=True, slots=True)
class AcceptedRecording:
    """A recording that passed its checks, and the digest of its audio as it would be stored."""

    recording: CheckedRecording
    audio_digest: str


@dataclass(frozen=True, slots=True)
class EvictionCounts:
    """Number of cached recordings and prepared voices that were dropped."""

    cached: int
    prepared: int


@dataclass(slots=True, eq=False)
class _Job:
    """Work on a recording of an owner that is under way; its result is wanted until the owner deletes the recording."""

    owner: str
    audio_digest: str
    wanted: bool = True


class Prompts:
    """Checks recordings, transcribes them and has engines prepare them; each once, however many requests wait.

    Everything is kept by owner: nobody can tell by a hit, a count or an answer's haste what others have sent, and what
    one owner deletes or clears stays with the others. For a registered voice that is the voice's owner, whoever speaks
    with it, so that all keys share what is made of a shared voice.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        *,
        intake: TakesRecordings,
        fetcher: FetchesRecordings,
        transcriber: TranscribesRecordings,
        metrics: Metrics,
    ) -> None:
        self._limits = PromptLimits.of(settings)
        self._intake = intake
        self._fetcher = fetcher
        self._transcriber = transcriber
        self._metrics = metrics
        self._executor = DeviceExecutor("polyvox-transcriber", 1)
        observer, age = metrics.voice_cache, settings.recording_cache_seconds
        self._recordings: Mapping[CacheKind, BoundedCache[AcceptedRecording]] = {
            kind: BoundedCache(kind, max_bytes=settings.recording_cache_bytes, max_age=age, observer=observer)
            for kind in (CacheKind.URL, CacheKind.INLINE)
        }
        self._transcripts: BoundedCache[str] = BoundedCache(
            CacheKind.TRANSCRIPT, max_bytes=_TRANSCRIPT_BYTES, max_age=age, observer=observer
        )
        self._prepared: BoundedCache[PreparedVoice] = BoundedCache(
            CacheKind.PREPARED,
            max_bytes=settings.prepared_cache_bytes,
            max_age=settings.prepared_cache_seconds,
            observer=observer,
        )
        self._keeps_all = settings.prepared_disk_bytes > 0
        self._files = PreparedVoiceFiles(
            folder,
            max_bytes=settings.prepared_disk_bytes or _KEPT_BYTES,
            max_age=settings.prepared_disk_seconds,
            observer=observer,
        )
        self._taking: SingleFlight[AcceptedRecording] = SingleFlight()
        self._transcribing: SingleFlight[str] = SingleFlight()
        self._preparing: SingleFlight[PreparedVoice] = SingleFlight()
        self._under_way: set[_Job] = set()

    async def close(self) -> None:
        """Stop what is under way."""
        for work in (self._taking, self._transcribing, self._preparing):
            await work.close()
        await asyncio.to_thread(self._executor.close)

    async def take(self, reference: InlineVoice | UrlVoice, field: str, owner: str) -> AcceptedRecording:
        """Load and check the recording of a request; errors name `field`."""
        if isinstance(reference, UrlVoice):
            kind, digest = CacheKind.URL, digest_of(reference.url.encode())
        else:
            kind, digest = CacheKind.INLINE, await asyncio.to_thread(digest_of, reference.data)
        key = _key(owner, digest)
        found = self._recordings[kind].get(key)
        try:
            return found or await self._taking.run(f"{kind} {key}", lambda: self._take(reference, kind, key))
        except (InvalidRequestError, RequestTooLargeError) as error:
            error.field = error.field or field
            raise

    async def transcript(self, audio_digest: str, pcm: Pcm, rate: int, owner: str, language: str | None = None) -> str:
        """Transcribe a recording, in its language where that is known; PromptError where no words are recognised."""
        key = _transcript_key(owner, audio_digest, language)
        found = self._transcripts.get(key)
        work = partial(self._transcribe, owner, audio_digest, pcm, rate, language)
        return found or await self._transcribing.run(key, work)

    async def check_transcription(self, language: str | None = None) -> None:
        """Raise the typed error if `transcript` could not work at all."""
        await self._executor.run(partial(self._transcriber.check_available, language))

    async def embedding(self, pcm: Pcm, rate: int) -> Embedding | None:
        """The speaker embedding of a recording; None where there is none."""
        return await self._executor.run(partial(self._transcriber.embed, pcm, rate))

    async def prepared(
        self,
        engine: Engine,
        digest: str,
        prompt: Callable[[], Awaitable[VoicePrompt]],
        owner: str,
        *,
        kept: bool = False,
    ) -> PreparedVoice:
        """The engine's prepared voice for the prompt of this digest; `prompt` is called only if it is not cached.

        One that is `kept` goes to the disk, where others go only if the settings say so.
        """
        key, kept = _key(owner, f"{digest}.{engine.name}"), kept or self._keeps_all
        found = self._prepared.get(key)
        return found or await self._preparing.run(key, lambda: self._prepare(engine, digest, prompt, owner, kept=kept))

    async def forget(self, audio_digest: str, owner: str | None) -> EvictionCounts:
        """Drop all that was made of an owner's recording, of everybody's if None; work under way will not be kept."""
        for job in self._under_way:
            theirs = owner is None or job.owner == owner
            job.wanted = job.wanted and not (theirs and job.audio_digest == audio_digest)
        start = "" if owner is None else _key(owner, "")
        cached = sum(
            cache.remove(lambda key, taken: key.startswith(start) and taken.audio_digest == audio_digest)
            for cache in self._recordings.values()
        )
        cached += self._transcripts.remove(
            lambda key, _: key.startswith(start) and _digest_in(key).startswith(audio_digest)
        )
        prepared = self._prepared.remove(
            lambda key, _: key.startswith(start) and _digest_in(key).startswith(audio_digest)
        )
        prepared += await asyncio.to_thread(self._files.remove, audio_digest, owner)
        return EvictionCounts(cached, prepared)

    async def clear(self, kind: CacheKind, owner: str | None) -> int:
        """Drop an owner's entries of one cache, or everybody's if None; returns how many."""
        start = "" if owner is None else _key(owner, "")
        if kind in self._recordings:
            return self._recordings[kind].remove(lambda key, _: key.startswith(start))
        if kind is CacheKind.TRANSCRIPT:
            return self._transcripts.remove(lambda key, _: key.startswith(start))
        on_disk = await asyncio.to_thread(self._files.clear, owner)
        return self._prepared.remove(lambda key, _: key.startswith(start)) + on_disk

    async def tidy(self) -> None:
        """Drop expired entries."""
        for recordings in self._recordings.values():
            recordings.expire()
        self._transcripts.expire()
        self._prepared.expire()
        await asyncio.to_thread(self._files.trim)

    async def _take(self, reference: InlineVoice | UrlVoice, kind: CacheKind, key: str) -> AcceptedRecording:
        data = reference.data if isinstance(reference, InlineVoice) else await self._fetcher.fetch(reference.url)
        recording = await self._intake.take(data, self._limits)
        stored = await asyncio.to_thread(wav_bytes, recording.pcm, recording.sample_rate)
        taken = AcceptedRecording(recording, digest_of(stored))
        self._recordings[kind].put(key, taken, recording.pcm.nbytes + _ENTRY_BYTES)
        return taken

    async def _transcribe(self, owner: str, audio_digest: str, pcm: Pcm, rate: int, language: str | None) -> str:
        with self._job(owner, audio_digest) as job:
            transcript = await self._executor.run(partial(self._transcriber.transcribe, pcm, rate, language))
            if not transcript:
                raise PromptError("No words could be recognised in the recording; send its transcript.")
            if job.wanted:
                nbytes = _BYTES_PER_CHAR * len(transcript) + _ENTRY_BYTES
                self._transcripts.put(_transcript_key(owner, audio_digest, language), transcript, nbytes)
            return transcript

    async def _prepare(
        self, engine: Engine, digest: str, prompt: Callable[[], Awaitable[VoicePrompt]], owner: str, *, kept: bool
    ) -> PreparedVoice:
        audio_digest = digest.partition("-")[0]
        with self._job(owner, audio_digest) as job:
            voice = await asyncio.to_thread(self._files.read, engine.name, digest, owner) if kept else None
            if voice is None or (isinstance(engine, SupportsPreparedCheck) and not engine.fits(voice)):
                began = time.monotonic()
                voice = await engine.prepare(await prompt())
                self._metrics.prepared(engine.name, time.monotonic() - began)
                if kept and job.wanted:
                    await asyncio.to_thread(self._files.write, voice, owner)
            if job.wanted:
                self._prepared.put(_key(owner, f"{digest}.{engine.name}"), voice, voice.nbytes + _ENTRY_BYTES)
            else:
                await asyncio.to_thread(self._files.remove, audio_digest, owner)
            return voice

    @contextmanager
    def _job(self, owner: str, audio_digest: str) -> Iterator[_Job]:
        job = _Job(owner, audio_digest)
        self._under_way.add(job)
        try:
            yield job
        finally:
            self._under_way.discard(job)


def _key(owner: str, rest: str) -> str:
    """A cache's key; no owner has a line break in it."""
    return f"{owner}\n{rest}"


def _transcript_key(owner: str, audio_digest: str, language: str | None) -> str:
    """A recording that was taken for another language at first is transcribed anew."""
    return _key(owner, f"{audio_digest} {language}" if language else audio_digest)


def _digest_in(key: str) -> str:
    return key.partition("\n")[2]
