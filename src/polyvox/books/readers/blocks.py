"""Blocks of a text, headings and paragraphs, and the chapters that they make."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from polyvox.books.manuscript import Chapter, ManuscriptLimits
from polyvox.books.words import VOICE_TAG, speakable
from polyvox.errors import ManuscriptError

SCENE_BREAK: Final = "* * *"
_LONGEST_TITLE: Final = 300
_CONTENTS_RUN: Final = 3
"""Headings in a row, of one level and without text between, from which on they are a table of contents."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or a heading of a `level` from 1 on. `anchors` are the ids by which links find it."""

    text: str
    level: int = 0
    anchors: tuple[str, ...] = ()

    @property
    def is_heading(self) -> bool:
        return self.level > 0


@dataclass(slots=True)
class Draft:
    """A chapter in the making; its title may be that of several headings in a row."""

    titles: list[str]
    paragraphs: list[str]

    def chapter(self) -> Chapter:
        """The chapter; a voice tag in its title is the chapter's voice."""
        title = joined_titles(self.titles)
        tag = VOICE_TAG.search(title)
        voice = tag["name"].strip() or None if tag else None
        return Chapter(" ".join(VOICE_TAG.sub("", title).split())[:_LONGEST_TITLE], tuple(self.paragraphs), voice)


def joined_titles(titles: Sequence[str]) -> str:
    """Several headings as one title: `Part One. Chapter 1`."""
    parts = [title.strip() for title in titles if title.strip()]
    ended = [part if part[-1] in ".!?:;,。！？：…" else f"{part}." for part in parts[:-1]]
    return " ".join((*ended, *parts[-1:]))


def finished(drafts: Iterable[Draft], limits: ManuscriptLimits) -> tuple[Chapter, ...]:
    """The chapters with something to speak; a title page without text goes before the title that follows it."""
    chapters: list[Chapter] = []
    waiting: list[str] = []
    for draft in drafts:
        if not any(speakable(paragraph) for paragraph in draft.paragraphs):
            waiting += draft.titles
            continue
        draft.titles[:0] = waiting
        waiting = []
        chapters.append(draft.chapter())
    if not chapters:
        raise ManuscriptError("The manuscript holds no text to speak; check that it is the right file.", field="file")
    if len(chapters) > limits.chapters:
        raise ManuscriptError(f"The manuscript has more than {limits.chapters:,} chapters; split it.", field="file")
    if sum(len(text) for chapter in chapters for text in chapter.paragraphs) > limits.text_chars:
        raise ManuscriptError(
            f"The manuscript has more than {limits.text_chars:,} characters; split it into volumes.", field="file"
        )
    return tuple(chapters)


def chapters_of(blocks: Sequence[Block], limits: ManuscriptLimits) -> tuple[str, tuple[Chapter, ...]]:
    """The book's title, if a heading stands alone above all others, and the chapters that the headings begin."""
    blocks = _without_contents(blocks)
    title, blocks = _book_title(blocks)
    level = _chapter_level(blocks)
    drafts = [Draft([], [])]
    for block in blocks:
        if not 0 < block.level <= level:
            drafts[-1].paragraphs.append(block.text)
        elif drafts[-1].paragraphs:
            drafts.append(Draft([block.text], []))
        else:
            drafts[-1].titles.append(block.text)
    return title, finished(drafts, limits)


def _book_title(blocks: Sequence[Block]) -> tuple[str, Sequence[Block]]:
    """A first heading that is the only one of its level and has others below it."""
    headings = [block for block in blocks if block.is_heading]
    if len(headings) < 2 or not blocks[0].is_heading:
        return "", blocks
    first, *others = headings
    return (first.text, blocks[1:]) if all(other.level > first.level for other in others) else ("", blocks)


def _chapter_level(blocks: Sequence[Block]) -> int:
    """The level down to which headings begin chapters: the first with two of them, or the one below where most of
    those are followed by a heading and not by text, as parts of a book are."""
    levels = [block.level for block in blocks]
    used = sorted(set(levels) - {0})
    for place, level in enumerate(used):
        found = [index for index, found in enumerate(levels) if found == level]
        bare = [index for index in found if index + 1 < len(levels) and levels[index + 1] > level]
        if len(found) >= 2 and (place + 1 == len(used) or 2 * len(bare) <= len(found)):
            return level
    return used[-1] if used else 0


def _without_contents(blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks without runs of headings that list the chapters; the last of a run has the text below it."""
    kept: list[Block] = []
    run: list[Block] = []
    for block in (*blocks, Block("")):
        if block.is_heading and (not run or block.level == run[-1].level):
            run.append(block)
            continue
        kept += run if len(run) < _CONTENTS_RUN else run[-1:]
        run = [block] if block.is_heading else []
        if not block.is_heading:
            kept.append(block)
    return kept[:-1]


_CONTENTS: Final = re.compile(
    r"(?:table of )?contents|cover|title ?page|copyright(?: page)?|imprint|colophon|index|landmarks|list of (?:figures|"
    r"tables|illustrations)|(?:end|foot)?notes|also by .{1,60}|kandungan|isi kandungan|hak cipta|índice|sommaire|"
    r"table des matières|indice|inhalt(?:sverzeichnis)?|impressum|目录|目錄|目次|版权(?:页|信息)?|版權頁?|封面|扉页|"
    r"奥付|表紙",
    re.IGNORECASE,
)


def is_boilerplate(title: str) -> bool:
    """Return whether a section of this title is about the book, and not the book itself."""
    return _CONTENTS.fullmatch(title.strip(" .:*")) is not None
