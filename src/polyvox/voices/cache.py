"""LRU caches of fetched, decoded and prepared voices, bounded by bytes and age."""

import hashlib
import os
import re
import time
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import structlog

from polyvox import __version__
from polyvox.bundles.disk import write_whole
from polyvox.private_files import make_private_folder, open_private
from polyvox.types import PreparedVoice
from polyvox.voices.cache_files import file_states, unlinked
from polyvox.voices.records import SHARED_OWNER

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Value = TypeVar("Value")


class CacheEvent(StrEnum):
    """The events that a cache reports."""

    HIT = "hit"
    MISS = "miss"
    EVICTION = "eviction"


CacheObserver = Callable[[str, CacheEvent], None]
"""Called with the cache's kind and the event."""

_FILE_NAME = re.compile(r"[0-9a-f]{64}-[0-9a-f]{64}\.[a-z0-9_.-]{1,64}(~[0-9a-f]{16})?\.npz")
_OWNER_CHARS = 16
_ABANDONED_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Value]):
    value: Value
    nbytes: int
    expires: float


class BoundedCache(Generic[Value]):
    """An LRU cache in memory. Use it from one thread, the event loop's."""

    def __init__(
        self,
        kind: str,
        *,
        max_bytes: int,
        max_age: float,
        observer: CacheObserver,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.kind = kind
        self.nbytes = 0
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._observer = observer
        self._clock = clock
        self._entries: OrderedDict[str, _Entry[Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> Value | None:
        """The value, if it is here and not too old."""
        entry = self._entries.get(key)
        if entry is not None and entry.expires <= self._clock():
            self._evict(key)
            entry = None
        if entry is None:
            self._observer(self.kind, CacheEvent.MISS)
            return None
        self._entries.move_to_end(key)
        self._observer(self.kind, CacheEvent.HIT)
        return entry.value

    def put(self, key: str, value: Value, nbytes: int) -> None:
        """Store a value, evicting others; one larger than the whole cache is not stored."""
        self._drop(key)
        if nbytes > self._max_bytes:
            return
        while self.nbytes + nbytes > self._max_bytes:
            self._evict(next(iter(self._entries)))
        self._entries[key] = _Entry(value, nbytes, self._clock() + self._max_age)
        self.nbytes += nbytes

    def remove(self, matches: Callable[[str, Value], bool]) -> int:
        """Drop what matches, by key or value; returns how many."""
        found = [key for key, entry in self._entries.items() if matches(key, entry.value)]
        for key in found:
            self._drop(key)
        return len(found)

    def expire(self) -> None:
        """Evict expired entries, also those that are never asked for again."""
        now = self._clock()
        for key in [key for key, entry in self._entries.items() if entry.expires <= now]:
            self._evict(key)

    def _evict(self, key: str) -> None:
        self._drop(key)
        self._observer(self.kind, CacheEvent.EVICTION)

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        self.nbytes -= 0 if entry is None else entry.nbytes


class PreparedVoiceFiles:
    """Prepared voices as files of plain arrays, by owner, shared by all processes on one folder.

    Their age counts from their last use. Files of other releases are not read. Methods block.
    """

    kind = "prepared_disk"

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int,
        max_age: float,
        observer: CacheObserver,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._own = folder / __version__
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._observer = observer
        self._clock = clock

    def read(self, engine: str, digest: str, owner: str = SHARED_OWNER) -> PreparedVoice | None:
        """The owner's cached voice of an engine for the prompt with this digest."""
        arrays = _arrays_in(self._path(engine, digest, owner))
        self._observer(self.kind, CacheEvent.MISS if arrays is None else CacheEvent.HIT)
        return None if arrays is None else PreparedVoice(engine, digest, arrays)

    def write(self, voice: PreparedVoice, owner: str = SHARED_OWNER) -> None:
        """Keep a prepared voice; the least recently used are evicted. A disk error is logged, not raised."""
        if any(array.dtype.hasobject for array in voice.arrays.values()):
            raise ValueError(f"{voice.engine} prepares object arrays, which cannot be stored")
        buffer = BytesIO()
        np.savez(buffer, allow_pickle=False, **voice.arrays)
        if buffer.tell() > self._max_bytes:
            return
        path = self._path(voice.engine, voice.digest, owner)
        try:
            make_private_folder(self._own)
            write_whole(path, buffer.getvalue(), opened=open_private)
        except OSError as error:
            log.warning("prepared voice not kept", reason=str(error))
        self.trim()

    def remove(self, audio_digest: str, owner: str | None) -> int:
        """Delete whatever was prepared from an owner's recording, from everybody's if None; returns how many."""
        return sum(unlinked(path) for path in self._files(owner) if path.name.startswith(f"{audio_digest}-"))

    def clear(self, owner: str | None) -> int:
        """Delete everything of an owner, of everybody if None; returns how many."""
        return sum(unlinked(path) for path in self._files(owner))

    def trim(self) -> None:
        """Delete what is too old, then what was used longest ago until the rest fits; and what a crash left behind."""
        now = self._clock()
        left = 0
        for used, nbytes, path in sorted(file_states(self._files()), key=lambda state: state[0], reverse=True):
            left += nbytes
            if (left > self._max_bytes or used < now - self._max_age) and unlinked(path):
                left -= nbytes
                self._observer(self.kind, CacheEvent.EVICTION)
        for used, _, path in file_states(self._folder.glob("*/.*")):
            if used < now - _ABANDONED_SECONDS:
                unlinked(path)

    def _files(self, owner: str | None = None) -> list[Path]:
        named = [path for path in self._folder.glob("*/*.npz") if _FILE_NAME.fullmatch(path.name)]
        return named if owner is None else [path for path in named if path.stem.partition("~")[2] == _owner_tag(owner)]

    def _path(self, engine: str, digest: str, owner: str) -> Path:
        tag = _owner_tag(owner)
        name = f"{digest}.{engine}~{tag}.npz" if tag else f"{digest}.{engine}.npz"
        if not _FILE_NAME.fullmatch(name):
            raise ValueError("a prepared voice's file is named by digests, an engine and an owner")
        return self._own / name


def _owner_tag(owner: str) -> str:
    """An owner in a file's name; nothing for the shared voices."""
    return "" if owner == SHARED_OWNER else hashlib.sha256(owner.encode()).hexdigest()[:_OWNER_CHARS]


def _arrays_in(path: Path) -> Mapping[str, npt.NDArray[Any]] | None:
    """The arrays of a file, which counts as used; one that cannot be read goes, since it can be made again."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        os.utime(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        log.warning("prepared voice damaged", reason=str(error))
        path.unlink(missing_ok=True)
        return None
    return arrays
