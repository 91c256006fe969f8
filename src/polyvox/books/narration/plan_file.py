"""The plan of a narration on disk, so that a later run goes on with the very same passages."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

from polyvox.books.manuscript import Cover, Manuscript
from polyvox.books.narration.durable import write_durably
from polyvox.books.narration.options import NarrationOptions, Pauses
from polyvox.books.narration.plan import Gap, Passage, PlannedChapter, passage_seed, plan_chapters
from polyvox.errors import NotFoundError

PLAN = "plan.json"
_COVER = "cover"
_VERSION_IN_ONE_VALUE, _VERSION = 1, 2
_PART_PASSAGES = 256


@dataclass(frozen=True, slots=True)
class NarrationPlan:
    """A manuscript with the options of its narration."""

    title: str
    author: str
    language: str
    options: NarrationOptions
    chapters: tuple[PlannedChapter, ...]
    cover: str | None = None
    """Media type of the picture in the folder's file `cover`."""

    @property
    def voices(self) -> tuple[str | None, ...]:
        """The voices that speak, each once, in the order of their first passages; None is the book's own."""
        return tuple(dict.fromkeys(passage.voice for chapter in self.chapters for passage in chapter.passages))

    @property
    def sentences(self) -> int:
        return sum(len(chapter.passages) for chapter in self.chapters)

    @property
    def chars(self) -> int:
        return sum(len(passage.text) for chapter in self.chapters for passage in chapter.passages)


def make_plan(manuscript: Manuscript, options: NarrationOptions) -> NarrationPlan:
    """The plan of a manuscript; a language that the options name goes before its own."""
    cover = None if manuscript.cover is None else manuscript.cover.media_type
    chapters = plan_chapters(manuscript, options)
    return NarrationPlan(manuscript.title, manuscript.author, manuscript.language, options, chapters, cover)


def write_plan(folder: Path, plan: NarrationPlan, cover: Cover | None) -> None:
    """Write the cover and then the plan, with which the narration exists."""
    if cover is not None:
        write_durably(folder / _COVER, cover.data)
    write_durably(folder / PLAN, "".join(f"{_dumped(line)}\n" for line in _lines(plan)).encode())


def _lines(plan: NarrationPlan) -> Iterator[Any]:
    """The plan as short values: the book, then each chapter's title, behind it parts of its passages.

    The interpreter writes or parses a value in one go, during which no other thread of a server has its turn.
    """
    yield {
        "version": _VERSION,
        "title": plan.title,
        "author": plan.author,
        "language": plan.language,
        "cover": plan.cover,
        "options": asdict(plan.options),
    }
    for chapter in plan.chapters:
        yield chapter.title
        for start in range(0, len(chapter.passages), _PART_PASSAGES):
            part = chapter.passages[start : start + _PART_PASSAGES]
            yield [[passage.text, passage.voice, passage.gap.value] for passage in part]


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_plan(folder: Path) -> NarrationPlan:
    """The plan in a folder; NotFoundError where there is none that this version reads."""
    try:
        content = (folder / PLAN).read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"{folder} holds no narration.") from None
    lines: Iterator[Any] = map(json.loads, filter(None, content.split(b"\n")))
    fields = next(lines)
    if fields["version"] == _VERSION_IN_ONE_VALUE:
        lines = chain.from_iterable((chapter["title"], chapter["passages"]) for chapter in fields["chapters"])
    elif fields["version"] != _VERSION:
        raise NotFoundError(f"{folder} holds a narration of another version of this program; begin it again.")
    options = _options(fields["options"])
    chapters: list[tuple[str, list[Passage]]] = []
    indices = count()
    for line in lines:
        if isinstance(line, str):
            chapters.append((line, []))
            continue
        for (text, voice, gap), index in zip(line, indices, strict=False):
            chapters[-1][1].append(Passage(text, voice, index, passage_seed(options.seed, index), Gap(gap)))
    planned = tuple(PlannedChapter(title, tuple(passages)) for title, passages in chapters)
    return NarrationPlan(fields["title"], fields["author"], fields["language"], options, planned, fields["cover"])


def read_cover(folder: Path, plan: NarrationPlan) -> Cover | None:
    """The picture of the book."""
    return None if plan.cover is None else Cover((folder / _COVER).read_bytes(), plan.cover)


def _options(fields: dict[str, Any]) -> NarrationOptions:
    pauses, dictionaries = Pauses(**fields.pop("pauses")), tuple(fields.pop("dictionaries"))
    return NarrationOptions(**fields, pauses=pauses, dictionaries=dictionaries)
