"""The zip archive of an EPUB, checked as a whole before anything in it is read."""

import io
import stat
import struct
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import Final

from polyvox.books.manuscript import ManuscriptLimits
from polyvox.errors import ManuscriptError

_END_RECORD: Final = struct.Struct("<4s4H2LH")
_END_MARK: Final = b"PK\x05\x06"
_LONGEST_COMMENT: Final = 65_535
_ENTRY_BYTES: Final = 512
"""Room in the archive's directory for one file, on average."""
_SMALL: Final = 1024 * 1024
"""Unpacked size up to which a file may be packed as tightly as it likes."""
_ENCRYPTED: Final = 0x1
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class EpubArchive:
    """The files of an EPUB by their paths. ManuscriptError where the archive is hostile, broken or encrypted."""

    def __init__(self, data: bytes, limits: ManuscriptLimits) -> None:
        self._limits = limits
        _check_directory(data, limits)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise _broken() from error
        self._files = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        _check_entries(self._zip.infolist(), limits)

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return self._files[path].file_size

    def read(self, path: str) -> bytes:
        """A file; ManuscriptError where it is missing, too large or broken."""
        info = self._files.get(path)
        if info is None:
            raise ManuscriptError(f"The EPUB lacks its file {path[:100]!r}; save the book anew.", field="file")
        if info.file_size > self._limits.document_bytes:
            raise ManuscriptError(
                f"The EPUB has a document of {info.file_size:,} bytes; "
                f"{self._limits.document_bytes:,} are the most that is read.",
                field="file",
            )
        try:
            with self._zip.open(info) as file:
                return file.read()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise _broken() from error


def _check_directory(data: bytes, limits: ManuscriptLimits) -> None:
    """Refuse a directory of too many files by its size alone, before it is read."""
    at = data.rfind(_END_MARK, max(0, len(data) - _END_RECORD.size - _LONGEST_COMMENT))
    if at < 0 or at + _END_RECORD.size > len(data):
        raise ManuscriptError("The file is no EPUB: it is not a zip archive, or not a whole one.", field="file")
    _, _, _, _, entries, size, offset, _ = _END_RECORD.unpack_from(data, at)
    if entries > limits.archive_files or size > limits.archive_files * _ENTRY_BYTES:
        raise ManuscriptError(
            f"The EPUB holds more than {limits.archive_files:,} files, as no book does; it is refused.", field="file"
        )
    if 0xFFFFFFFF in (size, offset):
        raise ManuscriptError("The EPUB is a zip archive of the 64-bit kind; save the book anew.", field="file")


def _check_entries(entries: list[zipfile.ZipInfo], limits: ManuscriptLimits) -> None:
    if len(entries) > limits.archive_files:
        raise ManuscriptError(f"The EPUB holds more than {limits.archive_files:,} files; it is refused.", field="file")
    if sum(entry.file_size for entry in entries) > limits.unpacked_bytes:
        raise ManuscriptError(
            f"The EPUB unpacks to more than {limits.unpacked_bytes:,} bytes; it is refused.", field="file"
        )
    for entry in entries:
        if problem := _problem(entry, limits):
            raise ManuscriptError(f"The EPUB holds {problem}; it is refused.", field="file")


def _problem(entry: zipfile.ZipInfo, limits: ManuscriptLimits) -> str | None:
    """The problem with an entry of the archive; None where there is none."""
    path = PurePosixPath(entry.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or ":" in path.parts[:1]:
        return "a file outside its own folder"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link to another file"
    if entry.flag_bits & _ENCRYPTED:
        return "a file that needs a password"
    if entry.compress_type not in _METHODS:
        return "a file packed in a way that EPUB does not allow"
    if entry.file_size > _SMALL and entry.file_size > limits.packing_ratio * max(1, entry.compress_size):
        return "a file that is packed like a zip bomb"
    return None


def _broken() -> ManuscriptError:
    return ManuscriptError("The EPUB is damaged; save the book anew.", field="file")
