"""Files of several items in one body, written one after the other: a zip archive, or a multipart message."""

import secrets
import struct
import time
import zlib
from collections.abc import Sequence
from typing import Protocol

from polyvox.errors import InvalidRequestError

_MOST_BYTES = 0xF000_0000
"""Of the items in an archive whose offsets take 32 bits; the rest is for its results and its directory."""
_VERSION = 20
_MADE_ON_UNIX = 3 << 8 | _VERSION
_UTF8_NAMES = 0x800
_STORED = 0
_REGULAR_FILE = 0o100644 << 16


class Archive(Protocol):
    """A body that grows file by file."""

    @property
    def media_type(self) -> str: ...

    def file(self, name: str, media_type: str, data: bytes) -> Sequence[bytes]:
        """The bytes that add a file, in parts."""

    def check_room(self, size: int) -> None:
        """Raise InvalidRequestError where a file of so many bytes would be too much."""

    def end(self) -> bytes:
        """The bytes that complete the body."""


class ZipArchive:
    """A zip archive of stored files. Each local header has the true sizes, so readers of streams can unpack it too."""

    media_type = "application/zip"

    def __init__(self) -> None:
        self._directory: list[bytes] = []
        self._size = 0
        self._time = _dos_time()

    def check_room(self, size: int) -> None:
        if self._size + size > _MOST_BYTES:
            raise InvalidRequestError(
                "The zip archive would be over 4 GB; ask for multipart, for a compressed format, or send fewer items."
            )

    def file(self, name: str, media_type: str, data: bytes) -> Sequence[bytes]:
        written = name.encode()
        common = struct.pack(
            "<HHHIIIIHH",
            _VERSION,
            _UTF8_NAMES,
            _STORED,
            self._time,
            zlib.crc32(data),
            len(data),
            len(data),
            len(written),
            0,
        )
        header = b"PK\x03\x04" + common + written
        where = struct.pack("<HHHII", 0, 0, 0, _REGULAR_FILE, self._size)
        self._directory.append(b"PK\x01\x02" + struct.pack("<H", _MADE_ON_UNIX) + common + where + written)
        self._size += len(header) + len(data)
        return header, data

    def end(self) -> bytes:
        directory, files = b"".join(self._directory), len(self._directory)
        return directory + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, files, files, len(directory), self._size, 0)


class MultipartArchive:
    """A `multipart/mixed` message with one part a file, each with its length."""

    def __init__(self) -> None:
        self._boundary = f"polyvox-{secrets.token_hex(16)}"  # random, so that no file can hold it

    @property
    def media_type(self) -> str:
        return f"multipart/mixed; boundary={self._boundary}"

    def check_room(self, size: int) -> None:
        """A message may be of any length."""

    def file(self, name: str, media_type: str, data: bytes) -> Sequence[bytes]:
        header = (
            f"--{self._boundary}\r\n"
            f"Content-Type: {media_type}\r\n"
            f'Content-Disposition: attachment; filename="{name}"\r\n'
            f"Content-Length: {len(data)}\r\n\r\n"
        )
        return header.encode(), data, b"\r\n"

    def end(self) -> bytes:
        return f"--{self._boundary}--\r\n".encode()


def _dos_time() -> int:
    """The present time as archives write it, the date in the upper half."""
    now = time.gmtime()
    date = max(0, now.tm_year - 1980) << 9 | now.tm_mon << 5 | now.tm_mday
    return date << 16 | now.tm_hour << 11 | now.tm_min << 5 | now.tm_sec // 2
