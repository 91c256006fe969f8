"""Reads a manuscript from a file."""

from pathlib import Path, PurePath

from polyvox.books.manuscript import Manuscript, ManuscriptLimits
from polyvox.books.plain_text import read_plain_text
from polyvox.errors import ManuscriptError


def read_manuscript(data: bytes | Path, name: str, limits: ManuscriptLimits = ManuscriptLimits()) -> Manuscript:
    """The manuscript in a file's bytes or at a path; the ending of `name` says what it is. Blocks."""
    ending = PurePath(name).suffix.lower()
    content = _bytes(data, limits)
    if ending not in (".txt", ""):
        raise ManuscriptError(f"{ending} is not a kind of manuscript; give a .txt, .md, .html or .epub file.")
    return read_plain_text(content.decode("utf-8-sig"), limits)


def _bytes(data: bytes | Path, limits: ManuscriptLimits) -> bytes:
    if isinstance(data, Path):
        with data.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise ManuscriptError(
            f"The manuscript is larger than {limits.file_bytes:,} bytes; split it into parts.", field="file"
        )
    return data
