"""The files of `polyvox book`: the manuscript that it reads, and those that it writes."""

import asyncio
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from polyvox.audio.encode import AudioFormat, parse_format
from polyvox.audio.loudness import MAX_TARGET, MIN_TARGET
from polyvox.books.manuscript import Manuscript
from polyvox.books.narration.options import BookFormat, BookFormats, BoundFile, FileKind
from polyvox.books.pictures import read_cover
from polyvox.books.readers.reader_process import read_manuscript_apart
from polyvox.errors import InvalidRequestError
from polyvox.text.captions import CaptionFormat

STATE_SUFFIX: Final = ".parts"
"""Behind the name of the book: the folder of what is spoken already."""
_ENDINGS: Final = {"ogg": "opus", "m4a": "m4b"}
_RANGE: Final = re.compile(r"(?P<first>\d{1,6})(?:-(?P<last>\d{1,6})?)?")


async def read_book(path: Path, title: str | None, author: str | None, cover: Path | None) -> Manuscript:
    """The manuscript at a path, with what the user says about it."""
    found = await read_manuscript_apart(await asyncio.to_thread(path.read_bytes), path.name)
    picture = found.cover if cover is None else read_cover(await asyncio.to_thread(cover.read_bytes))
    return replace(
        found,
        title=found.title or path.stem if title is None else title,
        author=found.author if author is None else author,
        cover=picture,
    )


def selected(manuscript: Manuscript, chapters: str | None) -> Manuscript:
    """The manuscript with some of its chapters: `1-3,7`, or `4-` for the fourth and all that follow."""
    if chapters is None:
        return manuscript
    count = len(manuscript.chapters)
    wanted: set[int] = set()
    for part in chapters.split(","):
        match = _RANGE.fullmatch(part.strip())
        first = int(match["first"]) if match else 0
        last = first if match is None or "-" not in part else int(match["last"] or count)
        if not 1 <= first <= last <= count:
            raise InvalidRequestError(
                f"--chapters {chapters} is not understood: the book has chapters 1 to {count}; write 1-3 or 2,5.",
                field="chapters",
            )
        wanted |= set(range(first, last + 1))
    return replace(manuscript, chapters=tuple(manuscript.chapters[number - 1] for number in sorted(wanted)))


@dataclass(frozen=True, slots=True)
class BookOutput:
    """The destination of a book; `folder` says that `path` is one, for a file per chapter."""

    path: Path
    folder: bool
    formats: BookFormats

    @property
    def state(self) -> Path:
        """The folder of the narration, beside the book."""
        return self.path.with_name(self.path.name + STATE_SUFFIX)

    def deliver(self, files: Sequence[BoundFile]) -> list[Path]:
        """Move the finished files to their place; returns the paths."""
        if self.folder:
            self.path.mkdir(exist_ok=True)
        return [_moved(file.path, self._place(file)) for file in files]

    def _place(self, file: BoundFile) -> Path:
        if self.folder:
            return self.path / file.name
        if file.kind is FileKind.BOOK:
            return self.path
        return self.path.with_name(self.path.stem + file.name.removeprefix("book"))


def book_output(
    path: Path, format_name: str | None, captions: Sequence[str], loudness: float, *, overwrite: bool
) -> BookOutput:
    """The output for the options; what cannot work is refused here, before anything is spoken."""
    if not MIN_TARGET <= loudness <= MAX_TARGET:
        raise InvalidRequestError(
            f"--loudness must lie between {MIN_TARGET:g} and {MAX_TARGET:g} LUFS.", field="loudness"
        )
    if not path.parent.is_dir():
        raise InvalidRequestError(f"{path} cannot be written: its folder does not exist.", field="output")
    wanted = tuple(_caption_format(name) for name in captions)
    if path.is_dir() or (not path.suffix and format_name is None):
        chapters = AudioFormat.MP3 if format_name is None else parse_format(format_name, field="format")
        return BookOutput(path, True, BookFormats((), chapters, wanted, loudness))
    if path.exists() and not overwrite:
        raise InvalidRequestError(
            f"{path} is there already; add --overwrite to make it again, or give another name.", field="output"
        )
    return BookOutput(path, False, BookFormats((_book_format(path, format_name),), None, wanted, loudness))


def _book_format(path: Path, name: str | None) -> BookFormat:
    asked = (name or path.suffix.removeprefix(".")).lower()
    try:
        return BookFormat(_ENDINGS.get(asked, asked))
    except ValueError:
        raise InvalidRequestError(
            f"A book is written as .m4b, .mp3 or .opus, not as {asked[:20]!r}; a folder takes chapters of any format.",
            field="output",
        ) from None


def _caption_format(name: str) -> CaptionFormat:
    try:
        return CaptionFormat(name.lower())
    except ValueError:
        known = ", ".join(CaptionFormat)
        raise InvalidRequestError(
            f"{name[:20]!r} is no format of captions; use one of {known}.", field="captions"
        ) from None


def _moved(source: Path, target: Path) -> Path:
    shutil.move(source, target)
    return target
