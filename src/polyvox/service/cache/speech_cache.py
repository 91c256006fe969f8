"""Finished speech on disk, which answers the same request again: chunk by chunk, as it was spoken.

An entry is one file: a line of magic, the length of a JSON header, the header, the samples of all chunks, and a digest
of it all. It appears when it is complete; one that is torn or altered is no entry, and goes.
"""

import asyncio
import hashlib
import json
import os
import struct
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import structlog

from polyvox.config import Settings
from polyvox.errors import EngineError
from polyvox.private_files import make_private_folder, open_private
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.delivery import closing
from polyvox.service.telemetry.metrics import Metrics
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, ChunkPolicy, MarkTiming, PhonemeShare, Span, TimingSource, WordTiming
from polyvox.voices.cache_files import file_states, unlinked

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_MAGIC = b"polyvox speech 2\n"
_LENGTH = struct.Struct("<I")
_DIGEST_BYTES = 16
_READ_BYTES = 1_048_576
_LARGEST_ENTRY = 67_108_864
_LARGEST_SHARE = 0.25
"""Share of the cache that one entry may take."""
_RECORDED_BYTES = 268_435_456
"""Memory for speech that is not written yet, of all requests together."""
_LOW_WATER = 0.9
_ABANDONED_SECONDS = 600.0
_RESCAN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class SpeechKey:
    """The key of a request's speech; `voices` are tags of the recordings whose voices speak, to forget it by."""

    digest: str
    voices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CacheUse:
    """A session's use of the cache; `age` is that of a hit in seconds, None for a miss."""

    key: SpeechKey
    age: float | None = None

    @property
    def hit(self) -> bool:
        return self.age is not None


class CachedSpeech:
    """One entry, open to be read."""

    def __init__(self, file: BinaryIO, header: dict[str, Any], pcm_start: int, now: float) -> None:
        self.warnings: tuple[str, ...] = tuple(header["warnings"])
        self.created: float = header["created"]
        self.age = max(0.0, now - self.created)
        self._file = file
        self._rate: int = header["sample_rate"]
        self._channels: int = header["channels"]
        self._rows: list[dict[str, Any]] = header["chunks"]
        lengths = [row["samples"] * self._channels * 4 for row in self._rows]
        self._places = list(zip(accumulate([pcm_start, *lengths[:-1]]), lengths, strict=True))

    async def chunks(self, executor: DeviceExecutor) -> AsyncGenerator[AudioChunk]:
        """The chunks as they were spoken; their costs are not reported again."""
        with self._file:
            for row, (start, length) in zip(self._rows, self._places, strict=True):
                data = await executor.run(partial(os.pread, self._file.fileno(), length, start))
                if len(data) != length:
                    raise EngineError("Cached speech was damaged while it was read; send the request again.")
                pcm = np.frombuffer(data, "<f4").astype(np.float32)
                yield _chunk(row, pcm if self._channels == 1 else pcm.reshape(-1, self._channels), self._rate)


def cache_folder(settings: Settings) -> Path:
    """The folder of the cache."""
    folder = settings.speech_cache_folder
    return settings.data_dir / "speech-cache" if folder is None else folder


def forget_speech(folder: Path, voice: str) -> int:
    """Delete all speech in a voice, by its tag; how many entries that were. Blocks."""
    return sum(unlinked(path) for path in list(folder.glob(f"*/*{voice}*.speech")))


class SpeechCache:
    """Speech within a number of bytes; what was used longest ago makes room. Processes may share a folder."""

    def __init__(self, settings: Settings, metrics: Metrics, clock: Callable[[], float] = time.time) -> None:
        self._folder = cache_folder(settings)
        self._max_bytes = settings.speech_cache_bytes
        self._seconds = settings.speech_cache_seconds
        self._metrics = metrics
        self._clock = clock
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="polyvox-speech-cache")
        self._pending: dict[str, asyncio.Future[None]] = {}
        self._recorded = 0
        self._closed = False
        self._used: int | None = None
        self._scanned = 0.0
        if self.enabled:
            metrics.watch_speech_cache(lambda: float(self._used or 0))

    @property
    def enabled(self) -> bool:
        return self._max_bytes > 0

    @property
    def largest(self) -> int:
        """Bytes that one entry may have."""
        return min(_LARGEST_ENTRY, int(self._max_bytes * _LARGEST_SHARE))

    async def close(self) -> None:
        """Write what is complete, and end."""
        self._closed = True
        await asyncio.to_thread(self._writer.shutdown)

    async def find(self, key: SpeechKey) -> CachedSpeech | None:
        """The entry of a key, which counts as used."""
        if (pending := self._pending.get(key.digest)) is not None:
            await asyncio.wait([pending])
        found = await asyncio.to_thread(self._opened, self._path(key))
        self._metrics.speech_cache("miss" if found is None else "hit")
        return found

    async def record(
        self, key: SpeechKey, speech: AsyncIterator[AudioChunk], warnings: Warnings
    ) -> AsyncGenerator[AudioChunk]:
        """Pass speech on, and keep it once it has come to its end; one that is broken off is not kept."""
        kept: list[AudioChunk] | None = []
        size = 0
        try:
            async with closing(speech):
                async for chunk in speech:
                    if kept is not None:
                        size += chunk.pcm.nbytes
                        self._recorded += chunk.pcm.nbytes
                        kept.append(chunk)
                        if size > self.largest or self._recorded > _RECORDED_BYTES:
                            kept = None
                            self._recorded -= size
                            size = 0
                            self._metrics.speech_cache("too_large")
                    yield chunk
            if kept and not self._closed:
                self._write_later(key, kept, size, warnings.sentences)
                size = 0
        finally:
            self._recorded -= size

    async def forget(self, voice: str) -> int:
        """Delete all speech in a voice, by its tag; how many entries that were."""
        if not self.enabled:
            return 0
        for pending in list(self._pending.values()):
            await asyncio.wait([pending])
        return await asyncio.to_thread(forget_speech, self._folder, voice)

    def _write_later(self, key: SpeechKey, chunks: Sequence[AudioChunk], size: int, warnings: Iterable[str]) -> None:
        loop = asyncio.get_running_loop()
        writing = loop.run_in_executor(self._writer, self._write, self._path(key), chunks, tuple(warnings))
        self._pending[key.digest] = writing

        def written(future: "asyncio.Future[None]") -> None:
            self._recorded -= size
            self._pending.pop(key.digest, None)
            if not future.cancelled() and (error := future.exception()) is not None:
                log.warning("speech not cached", reason=str(error))

        writing.add_done_callback(written)

    def _write(self, path: Path, chunks: Sequence[AudioChunk], warnings: tuple[str, ...]) -> None:
        """Write an entry and make room for it. Blocks."""
        first = chunks[0]
        header: dict[str, Any] = {
            "created": self._clock(),
            "sample_rate": first.sample_rate,
            "channels": 1 if first.pcm.ndim == 1 else first.pcm.shape[1],
            "warnings": warnings,
            "chunks": [_row(chunk) for chunk in chunks],
        }
        packed = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        make_private_folder(path.parent)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        try:
            with open_private(part) as file:
                for piece in (_MAGIC, _LENGTH.pack(len(packed)), packed, *(_bytes(chunk) for chunk in chunks)):
                    digest.update(piece)
                    file.write(piece)
                file.write(digest.digest())
                size = file.tell()
            os.utime(part, (header["created"], header["created"]))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        self._metrics.speech_cache("stored")
        self._trim(size)

    def _trim(self, added: int) -> None:
        """Delete what is too old, and what was used longest ago until the rest fits with room to spare."""
        now = self._clock()
        known = self._used is not None and time.monotonic() < self._scanned + _RESCAN_SECONDS
        if known and self._used is not None and self._used + added <= self._max_bytes:
            self._used += added
            return
        used, goal = 0, self._max_bytes
        entries = sorted(file_states(self._folder.glob("??/*")), reverse=True)
        if sum(size for _, size, _ in entries) > self._max_bytes:
            goal = int(self._max_bytes * _LOW_WATER)
        for touched, size, path in entries:
            partial_file = path.name.startswith(".")
            old = touched < now - (_ABANDONED_SECONDS if partial_file else self._seconds)
            if old or used + size > goal:
                if unlinked(path) and not partial_file:
                    self._metrics.speech_cache("expired" if old else "evicted")
            else:
                used += size
        self._used, self._scanned = used, time.monotonic()

    def _opened(self, path: Path) -> CachedSpeech | None:
        """The entry in a file; None where there is none that is whole and young enough. Blocks."""
        try:
            file = path.open("rb")
        except OSError:
            return None
        try:
            found = _read_header(file)
            if found is not None and found[0]["created"] + self._seconds > self._clock():
                os.utime(path, (self._clock(), self._clock()))
                return CachedSpeech(file, *found, self._clock())
        except (OSError, ValueError, KeyError) as error:
            log.warning("cached speech cannot be read", reason=str(error))
        file.close()
        unlinked(path)
        return None

    def _path(self, key: SpeechKey) -> Path:
        return self._folder / key.digest[:2] / ".".join((key.digest, *key.voices, "speech"))


def _read_header(file: BinaryIO) -> tuple[dict[str, Any], int] | None:
    """The header of an entry that is whole, and where its samples begin; None where it is not."""
    size = os.fstat(file.fileno()).st_size
    if size < len(_MAGIC) + _LENGTH.size + _DIGEST_BYTES or file.read(len(_MAGIC)) != _MAGIC:
        return None
    packed_length = file.read(_LENGTH.size)
    (length,) = _LENGTH.unpack(packed_length)
    start = file.tell() + length
    if start + _DIGEST_BYTES > size:
        return None
    packed = file.read(length)
    digest = hashlib.blake2b(_MAGIC + packed_length + packed, digest_size=_DIGEST_BYTES)
    left = size - _DIGEST_BYTES - start
    while left > 0:
        piece = file.read(min(_READ_BYTES, left))
        if not piece:
            return None
        digest.update(piece)
        left -= len(piece)
    return (json.loads(packed), start) if file.read(_DIGEST_BYTES) == digest.digest() else None


def _bytes(chunk: AudioChunk) -> bytes:
    return np.ascontiguousarray(chunk.pcm, "<f4").tobytes()


def _row(chunk: AudioChunk) -> dict[str, Any]:
    policy = chunk.policy
    return {
        "index": chunk.index,
        "start": chunk.start,
        "samples": len(chunk.pcm),
        "text": chunk.text,
        "span": _pair(chunk.span),
        "tokens": _pair(chunk.tokens),
        "frames": _pair(chunk.frames),
        "words": [_word_row(word) for word in chunk.words],
        "marks": [[mark.name, mark.time] for mark in chunk.marks],
        "voice": chunk.voice,
        "policy": None if policy is None else list(astuple(policy)),
    }


def _chunk(row: dict[str, Any], pcm: Any, rate: int) -> AudioChunk:  # noqa: ANN401 - an array of any shape
    return AudioChunk(
        pcm=pcm,
        sample_rate=rate,
        index=row["index"],
        start=row["start"],
        text=row["text"],
        span=_span(row["span"]),
        tokens=_span(row["tokens"]),
        frames=_span(row["frames"]),
        words=tuple(_word(*word) for word in row["words"]),
        marks=tuple(MarkTiming(name, at) for name, at in row["marks"]),
        voice=row["voice"],
        policy=None if row["policy"] is None else ChunkPolicy(*row["policy"]),
    )


def _word_row(word: WordTiming) -> list[Any]:
    shares = [[share.phoneme, share.start, share.end] for share in word.shares]
    return [word.word, word.start, word.end, _pair(word.span), str(word.source), shares]


def _word(
    word: str, start: float, end: float, span: list[int], source: str, shares: list[tuple[str, float, float]]
) -> WordTiming:
    phonemes = tuple(PhonemeShare(*share) for share in shares)
    return WordTiming(word, start, end, Span(*span), TimingSource(source), phonemes)


def _pair(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def _span(pair: list[int] | None) -> Span | None:
    return None if pair is None else Span(*pair)
