"""Reference recordings on their way to an engine, and everything about them that is worth keeping for a while."""

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
from polyvox.engines.base import Engine
from polyvox.errors import InvalidRequestError, PromptError, RequestTooLargeError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.metrics import Metrics
from polyvox.service.sharing import Shared
from polyvox.types import Pcm, PreparedVoice, VoicePrompt
from polyvox.voices.cache import BoundedCache, PreparedVoiceFiles
from polyvox.voices.intake import CheckedRecording
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recordings import digest_of, wav_bytes
from polyvox.voices.records import Embedding
from polyvox.voices.references import InlineVoice, UrlVoice

_TRANSCRIPT_BYTES = 1_048_576
_BYTES_PER_CHAR = 4
_ENTRY_BYTES = 256


class CacheKind(StrEnum):
    """What can be cleared on its own."""

    URL = "url"
    INLINE = "inline"
    TRANSCRIPT = "transcript"
    PREPARED = "prepared"


class Taking(Protocol):
    """Whoever checks recordings; `voices.intake.RecordingIntake` does."""

    async def take(self, data: bytes, limits: PromptLimits) -> CheckedRecording: ...


class Fetching(Protocol):
    """Whoever fetches them; `voices.fetch.Fetcher` does."""

    async def fetch(self, url: str) -> bytes: ...


class Listening(Protocol):
    """Whoever hears words and speakers; `service.ears.Ears` does."""

    def check_words(self) -> None: ...

    def transcribe(self, pcm: Pcm, rate: int) -> str: ...

    def embed(self, pcm: Pcm, rate: int) -> Embedding | None: ...


@dataclass(frozen=True, slots=True)
class Taken:
    """A recording that passed its checks, and the name of its content as it would be stored."""

    recording: CheckedRecording
    audio_digest: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many cached recordings and prepared voices went."""

    cached: int
    prepared: int


@dataclass(slots=True, eq=False)
class _Making:
    """Something that is being made of a recording; it is wanted as long as the recording is not deleted."""

    audio_digest: str
    wanted: bool = True


class Prompts:
    """Takes recordings in, hears what they say and has engines prepare them; each of these once, however many ask."""

    def __init__(
        self, settings: Settings, folder: Path, *, intake: Taking, fetcher: Fetching, ears: Listening, metrics: Metrics
    ) -> None:
        self._limits = PromptLimits.of(settings)
        self._intake = intake
        self._fetcher = fetcher
        self._ears = ears
        self._metrics = metrics
        self._executor = DeviceExecutor("polyvox-ears", 1)
        observer, age = metrics.voice_cache, settings.recording_cache_seconds
        self._recordings: Mapping[CacheKind, BoundedCache[Taken]] = {
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
        self._files = None
        if settings.prepared_disk_bytes:
            self._files = PreparedVoiceFiles(
                folder,
                max_bytes=settings.prepared_disk_bytes,
                max_age=settings.prepared_disk_seconds,
                observer=observer,
            )
        self._taking: Shared[Taken] = Shared()
        self._hearing: Shared[str] = Shared()
        self._preparing: Shared[PreparedVoice] = Shared()
        self._under_way: set[_Making] = set()

    async def close(self) -> None:
        """Stop what is under way."""
        for work in (self._taking, self._hearing, self._preparing):
            await work.close()
        await asyncio.to_thread(self._executor.close)

    async def take(self, reference: InlineVoice | UrlVoice, field: str) -> Taken:
        """The recording that a request carries or points at; `field` is where, and to blame if it will not do."""
        if isinstance(reference, UrlVoice):
            kind, key = CacheKind.URL, digest_of(reference.url.encode())
        else:
            kind, key = CacheKind.INLINE, await asyncio.to_thread(digest_of, reference.data)
        found = self._recordings[kind].get(key)
        try:
            return found or await self._taking.run(f"{kind} {key}", lambda: self._take(reference, kind, key))
        except (InvalidRequestError, RequestTooLargeError) as error:
            error.field = error.field or field
            raise

    async def transcript(self, audio_digest: str, pcm: Pcm, rate: int) -> str:
        """What is said in a recording; PromptError where nothing can be made out."""
        found = self._transcripts.get(audio_digest)
        return found or await self._hearing.run(audio_digest, lambda: self._hear(audio_digest, pcm, rate))

    async def check_hearing(self) -> None:
        """Raise the typed error if `transcript` could not work at all."""
        await self._executor.run(self._ears.check_words)

    async def embedding(self, pcm: Pcm, rate: int) -> Embedding | None:
        """How the speaker of a recording sounds, where that can be told."""
        return await self._executor.run(partial(self._ears.embed, pcm, rate))

    async def prepared(
        self, engine: Engine, digest: str, prompt: Callable[[], Awaitable[VoicePrompt]]
    ) -> PreparedVoice:
        """The engine's voice for the prompt of this digest; the prompt itself is asked for only if it is new."""
        key = f"{digest}.{engine.name}"
        found = self._prepared.get(key)
        return found or await self._preparing.run(key, lambda: self._prepare(engine, digest, prompt, key))

    async def forget(self, audio_digest: str) -> Forgotten:
        """Drop everything that was made of a recording; what is being made of it just now will not be kept."""
        for making in self._under_way:
            making.wanted = making.wanted and making.audio_digest != audio_digest
        cached = sum(
            cache.remove(lambda _, taken: taken.audio_digest == audio_digest) for cache in self._recordings.values()
        )
        cached += self._transcripts.remove(lambda key, _: key == audio_digest)
        prepared = self._prepared.remove(lambda key, _: key.startswith(audio_digest))
        if self._files is not None:
            prepared += await asyncio.to_thread(self._files.remove, audio_digest)
        return Forgotten(cached, prepared)

    async def clear(self, kind: CacheKind) -> int:
        """Drop everything of a kind; returns how many."""
        if kind in self._recordings:
            return self._recordings[kind].clear()
        if kind is CacheKind.TRANSCRIPT:
            return self._transcripts.clear()
        on_disk = 0 if self._files is None else await asyncio.to_thread(self._files.clear)
        return self._prepared.clear() + on_disk

    async def tidy(self) -> None:
        """Drop what is too old."""
        for recordings in self._recordings.values():
            recordings.expire()
        self._transcripts.expire()
        self._prepared.expire()
        if self._files is not None:
            await asyncio.to_thread(self._files.trim)

    async def _take(self, reference: InlineVoice | UrlVoice, kind: CacheKind, key: str) -> Taken:
        data = reference.data if isinstance(reference, InlineVoice) else await self._fetcher.fetch(reference.url)
        recording = await self._intake.take(data, self._limits)
        stored = await asyncio.to_thread(wav_bytes, recording.pcm, recording.sample_rate)
        taken = Taken(recording, digest_of(stored))
        self._recordings[kind].put(key, taken, recording.pcm.nbytes + _ENTRY_BYTES)
        return taken

    async def _hear(self, audio_digest: str, pcm: Pcm, rate: int) -> str:
        with self._making(audio_digest) as making:
            heard = await self._executor.run(partial(self._ears.transcribe, pcm, rate))
            if not heard:
                raise PromptError("No words could be made out in the recording; send its transcript.")
            if making.wanted:
                self._transcripts.put(audio_digest, heard, _BYTES_PER_CHAR * len(heard) + _ENTRY_BYTES)
            return heard

    async def _prepare(
        self, engine: Engine, digest: str, prompt: Callable[[], Awaitable[VoicePrompt]], key: str
    ) -> PreparedVoice:
        audio_digest = digest.partition("-")[0]
        with self._making(audio_digest) as making:
            voice = await self._read(engine.name, digest)
            if voice is None:
                began = time.monotonic()
                voice = await engine.prepare(await prompt())
                self._metrics.prepared(engine.name, time.monotonic() - began)
                if self._files is not None and making.wanted:
                    await asyncio.to_thread(self._files.write, voice)
            if making.wanted:
                self._prepared.put(key, voice, voice.nbytes + _ENTRY_BYTES)
            elif self._files is not None:
                await asyncio.to_thread(self._files.remove, audio_digest)
            return voice

    @contextmanager
    def _making(self, audio_digest: str) -> Iterator[_Making]:
        making = _Making(audio_digest)
        self._under_way.add(making)
        try:
            yield making
        finally:
            self._under_way.discard(making)

    async def _read(self, engine: str, digest: str) -> PreparedVoice | None:
        return None if self._files is None else await asyncio.to_thread(self._files.read, engine, digest)
