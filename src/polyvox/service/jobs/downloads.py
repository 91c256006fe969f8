"""Finished files that their owner may fetch again for a while, by names that nobody can guess."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from polyvox.config import Settings
from polyvox.errors import NotFoundError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_NAME_BYTES = 24


@dataclass(frozen=True, slots=True)
class Download:
    """A finished file, whose it is, and until when it is kept."""

    name: str
    owner: str
    media_type: str
    data: bytes
    expires: float


class Downloads:
    """Files in memory, bounded in number and bytes: the oldest make room for new ones.

    A file belongs to the owner of the key that asked for it, and exists once it is complete.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_files = settings.max_downloads
        self._max_bytes = settings.max_download_bytes
        self._seconds = settings.download_seconds
        self._clock = clock
        self._files: OrderedDict[str, Download] = OrderedDict()
        self._recorded_bytes = 0

    @property
    def enabled(self) -> bool:
        return self._max_files > 0

    @property
    def used_bytes(self) -> int:
        """Bytes of all files, those that are still being written included."""
        return sum(len(file.data) for file in self._files.values()) + self._recorded_bytes

    def record(self, suffix: str, media_type: str, owner: str) -> "DownloadRecorder":
        """A file to be written; its name is known before its content."""
        return DownloadRecorder(self, f"{secrets.token_urlsafe(_NAME_BYTES)}.{suffix}", media_type, owner)

    def record_beside(self, file: "DownloadRecorder", suffix: str, media_type: str) -> "DownloadRecorder":
        """A file that belongs to another one: of the same owner, under the same name with a further suffix."""
        return DownloadRecorder(self, f"{file.name}.{suffix}", media_type, file.owner)

    def find(self, name: str, owner: str) -> Download:
        """The file; the error is the same for one that is not there and one of another owner."""
        self._expire()
        file = self._files.get(name)
        if file is None or not secrets.compare_digest(file.owner.encode(), owner.encode()):
            raise NotFoundError(
                f"There is no such file: it is still being made, was made more than {self._seconds:g} s ago, or had to "
                "make room. Ask for the speech again."
            )
        return file

    def grow(self, count: int) -> bool:
        """Make room for bytes of a file that is being written; whether there is any."""
        self._expire()
        while self._files and self.used_bytes + count > self._max_bytes:
            self._files.popitem(last=False)
        if self.used_bytes + count > self._max_bytes:
            return False
        self._recorded_bytes += count
        return True

    def release(self, count: int) -> None:
        """Give back the room of a file that is not written any more."""
        self._recorded_bytes -= count

    def add(self, name: str, owner: str, media_type: str, data: bytes) -> None:
        """Keep a file whose room was made by `grow`."""
        self._recorded_bytes -= len(data)
        while len(self._files) >= self._max_files:
            self._files.popitem(last=False)
        self._files[name] = Download(name, owner, media_type, data, self._clock() + self._seconds)

    def _expire(self) -> None:
        now = self._clock()
        while self._files and next(iter(self._files.values())).expires <= now:
            self._files.popitem(last=False)


class DownloadRecorder:
    """One file while it is written; `finish` makes it complete, `discard` forgets it."""

    def __init__(self, downloads: Downloads, name: str, media_type: str, owner: str) -> None:
        self.name = name
        self._downloads = downloads
        self._media_type = media_type
        self.owner = owner
        self._parts: list[bytes] = []
        self._size = 0
        self._open = True

    def write(self, data: bytes) -> None:
        """Add to the file; one for which there is no room is forgotten."""
        if not self._open:
            return
        if self._downloads.grow(len(data)):
            self._parts.append(data)
            self._size += len(data)
        else:
            log.warning("download not kept: too large", bytes=self._size + len(data))
            self.discard()

    def finish(self) -> None:
        if self._open:
            self._open = False
            self._downloads.add(self.name, self.owner, self._media_type, b"".join(self._parts))
            self._parts.clear()

    def discard(self) -> None:
        if self._open:
            self._open = False
            self._downloads.release(self._size)
            self._parts.clear()
