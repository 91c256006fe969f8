"""A manuscript: the text of a book, chapter by chapter, as any file format gives it."""

from dataclasses import dataclass, field

from polyvox.errors import ManuscriptError

__all__ = ["Chapter", "Cover", "Manuscript", "ManuscriptError", "ManuscriptLimits"]


@dataclass(frozen=True, slots=True)
class Cover:
    """The picture of a book: the bytes of a JPEG or PNG file, and `image/jpeg` or `image/png`."""

    data: bytes = field(repr=False)
    media_type: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter. `title` may be empty; `voice` is None for the book's own.

    A paragraph may hold `[voice:NAME]` tags, each valid up to the next one or to the end of the chapter. One without
    any letter or digit, such as `* * *`, is a break between scenes.
    """

    title: str
    paragraphs: tuple[str, ...]
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A book to be narrated; `language` is a BCP 47 tag, and all but the chapters may be empty."""

    title: str
    author: str
    language: str
    cover: Cover | None
    chapters: tuple[Chapter, ...]

    @property
    def chars(self) -> int:
        """Characters of all titles and paragraphs."""
        return sum(len(chapter.title) + sum(map(len, chapter.paragraphs)) for chapter in self.chapters)


@dataclass(frozen=True, slots=True)
class ManuscriptLimits:
    """Limits beyond which a file is refused. The defaults hold the longest novels with room to spare."""

    file_bytes: int = 64 * 1024 * 1024
    """The manuscript's file itself."""
    text_chars: int = 12_000_000
    """Characters of the text."""
    chapters: int = 2_000
    archive_files: int = 5_000
    """Files within an EPUB."""
    unpacked_bytes: int = 256 * 1024 * 1024
    """All files of an EPUB together, unpacked."""
    document_bytes: int = 16 * 1024 * 1024
    """One file of an EPUB, unpacked."""
    packing_ratio: int = 200
    """Unpacked size of a file over its packed size, from a megabyte on."""
    depth: int = 200
    """Elements within elements."""
    cover_bytes: int = 8 * 1024 * 1024
    """A larger cover is left out."""
    seconds: float = 60.0
    """Time that reading may take."""
