"""Reads a manuscript from a file."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Final

from polyvox.books.manuscript import Manuscript, ManuscriptLimits
from polyvox.books.readers.epub import read_epub
from polyvox.books.readers.html_text import read_html
from polyvox.books.readers.markdown_text import read_markdown
from polyvox.books.readers.plain_text import read_plain_text
from polyvox.errors import ManuscriptError

_ZIP: Final = b"PK\x03\x04"
_TEXT_READERS: Final[Mapping[str, Callable[[str, ManuscriptLimits], Manuscript]]] = {
    "": read_plain_text,
    ".txt": read_plain_text,
    ".text": read_plain_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
}
_CHARSET: Final = re.compile(
    rb"""<(?:meta[^>]{0,200}charset=["']?|\?xml[^>]{0,200}encoding=["'])(?P<name>[\w-]{1,40})""", re.I
)


def read_manuscript(data: bytes | Path, name: str, limits: ManuscriptLimits = ManuscriptLimits()) -> Manuscript:
    """The manuscript in a file's bytes or at a path; the ending of `name` says what it is. Blocks.

    ManuscriptError where the file is broken, hostile, copy-protected, over a limit, or has no words.
    """
    ending = PurePath(name).suffix.lower()
    content = _bytes(data, limits)
    if ending == ".epub":
        return read_epub(content, limits)
    reader = _TEXT_READERS.get(ending)
    if reader is None or content.startswith(_ZIP):
        raise ManuscriptError(
            f"{PurePath(name).name[:80]!r} is no manuscript that is read here; give a .txt, .md, .html or .epub file.",
            field="file",
        )
    return reader(_text(content), limits)


def _bytes(data: bytes | Path, limits: ManuscriptLimits) -> bytes:
    if isinstance(data, Path):
        with data.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise ManuscriptError(
            f"The manuscript is larger than {limits.file_bytes:,} bytes; split it into parts.", field="file"
        )
    return data


def _text(content: bytes) -> str:
    """The text in a file: UTF-8, UTF-16 with its mark, or what a page says that it is."""
    declared = _CHARSET.search(content[:2048])
    encodings = ["utf-16"] if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig"]
    if declared is not None:
        encodings.append(declared["name"].decode("ascii"))
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        if "\0" not in text:
            return text
    raise ManuscriptError("The manuscript is not UTF-8 text; save it as UTF-8.", field="file")
