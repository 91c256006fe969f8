"""Blocks of HTML or XHTML, whichever parser reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.books.manuscript import ManuscriptLimits
from polyvox.books.readers.blocks import SCENE_BREAK, Block, joined_titles
from polyvox.errors import ManuscriptError

VOID: Final = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form "
    "header hgroup hr html li main ol p pre section summary table tbody tfoot thead tr ul".split()
) | frozenset(_HEADINGS)
_CLOSED_BY_THE_NEXT: Final = frozenset("p li dd dt tr td th option".split())
_CELLS: Final = frozenset(("td", "th"))
_SILENT: Final = frozenset(
    "audio button canvas datalist del embed head iframe math nav noscript object rp rt script select style svg "
    "template textarea video".split()
)
_SILENT_TYPES: Final = frozenset(
    "annoref bibliography colophon copyright-page cover endnote endnotes footnote footnotes halftitlepage imprint "
    "index landmarks loi lot noteref pagebreak page-list rearnote rearnotes titlepage toc doc-backlink "
    "doc-bibliography doc-biblioref doc-colophon doc-cover doc-endnote doc-endnotes doc-footnote doc-index doc-noteref "
    "doc-pagebreak doc-pagelist doc-toc".split()
)
_NOTE_MARK: Final = re.compile(r"[\[(]?\s*(?:\d{1,4}|[*†‡§¶]{1,3}|[a-z]|[ivxlc]{1,6})\s*[\])]?")
_LONGEST_NOTE_MARK: Final = 40
_NOTE_CLASS: Final = re.compile("note|fn", re.IGNORECASE)
_LINE_BREAK: Final = "\ue000"
_CELL_END: Final = "\ue001"
_NOTE_CLASSES: Final = frozenset("footnote footnotes endnote endnotes rearnote rearnotes noteref footnote-ref".split())


@dataclass(slots=True)
class _Open:
    """An element that is open. `link_start` is where the text of a link within the book began."""

    tag: str
    silent: bool
    link_start: int | None = None
    is_note: bool = False


class MarkupBlocks:
    """Takes the events of a parser, and gathers headings and paragraphs in reading order.

    Navigation, notes and their marks, page numbers, and whatever says by its `epub:type` or `role` that it is about the
    book, are left out.
    """

    def __init__(self, limits: ManuscriptLimits) -> None:
        self.blocks: list[Block] = []
        self.title = ""
        self.language = ""
        self._limits = limits
        self._open: list[_Open] = []
        self._pieces: list[str] = []
        self._anchors: list[str] = []
        self._has_words = False
        self._level = 0
        self._chars = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins; names are in lower case and without a prefix."""
        if tag in _BLOCKS or tag == "br":
            self._break(tag)
        while self._open and tag in _CLOSED_BY_THE_NEXT and self._open[-1].tag == tag:
            self._open.pop()
        self._note_ids(tag, attributes)
        self._level = _HEADINGS.get(tag, self._level)
        if tag in _CELLS and self._has_words:
            self._pieces.append(_CELL_END)
        silent = self._silent or tag in _SILENT or _is_silent(attributes)
        opened = _Open(tag, silent)
        if tag == "a" and "#" in attributes.get("href", ""):
            opened.link_start = len(self._pieces)
            opened.is_note = _NOTE_CLASS.search(attributes.get("class", "")) is not None or self._within("sup")
        self._open.append(opened)
        if len(self._open) > self._limits.depth:
            raise ManuscriptError(
                f"The manuscript nests more than {self._limits.depth} elements; it is no book.", field="file"
            )

    def end(self, tag: str) -> None:
        """An element ends; an end without a beginning is ignored."""
        if not any(opened.tag == tag for opened in self._open):
            return
        if tag in _BLOCKS:
            self._flush()
        while self._open:
            opened = self._open.pop()
            if opened.link_start is not None:
                self._drop_note_mark(opened, opened.link_start)
            if opened.tag == "sup":
                self._mark_note()
            if opened.tag == tag:
                break
        if tag in _HEADINGS:
            self._level = 0

    def data(self, text: str) -> None:
        """Characters of the text."""
        if self._open and self._open[-1].tag == "title":
            self.title = " ".join((self.title + text).split())[:500]
        elif not self._silent:
            self._chars += len(text)
            if self._chars > self._limits.text_chars:
                raise ManuscriptError(
                    f"The manuscript has more than {self._limits.text_chars:,} characters; split it.", field="file"
                )
            self._pieces.append(text)
            self._has_words = self._has_words or not text.isspace()

    def finish(self) -> list[Block]:
        """All blocks."""
        self._flush()
        return self.blocks

    @property
    def _silent(self) -> bool:
        return bool(self._open) and self._open[-1].silent

    def _within(self, tag: str) -> bool:
        return any(opened.tag == tag for opened in self._open)

    def _note_ids(self, tag: str, attributes: Mapping[str, str]) -> None:
        anchor = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if anchor:
            self._anchors.append(anchor)
        if tag == "html":
            self.language = attributes.get("lang", "") or attributes.get("xml:lang", "")

    def _break(self, tag: str) -> None:
        """Break the text before an element as its beginning asks; two line breaks end a paragraph."""
        if tag == "br" and not (self._pieces and self._pieces[-1] == _LINE_BREAK):
            if not self._silent:
                self._pieces.append(_LINE_BREAK)
            return
        self._flush()
        if tag == "hr" and not self._silent:
            self.blocks.append(Block(SCENE_BREAK))

    def _drop_note_mark(self, opened: _Open, start: int) -> None:
        text = "".join(self._pieces[start:])
        if (
            len(text) <= _LONGEST_NOTE_MARK
            and _NOTE_MARK.fullmatch(text)
            and (opened.is_note or text.strip().startswith("["))
        ):
            del self._pieces[start:]

    def _mark_note(self) -> None:
        """A raised number within a link makes the link the mark of a note."""
        for opened in self._open:
            opened.is_note = opened.is_note or opened.link_start is not None

    def _flush(self) -> None:
        """End the block."""
        lines = [_even(line) for line in "".join(self._pieces).split(_LINE_BREAK)]
        text = joined_titles(lines) if self._level else " ".join(line for line in lines if line)
        for opened in self._open:
            opened.link_start = None if opened.link_start is None else 0
        self._pieces, self._has_words = [], False
        if text:
            self.blocks.append(Block(text, self._level, tuple(self._anchors)))
            self._anchors = []


def _even(line: str) -> str:
    """A line with single spaces, and commas between the cells of a table."""
    cells = (" ".join(cell.split()) for cell in line.split(_CELL_END))
    return ", ".join(cell for cell in cells if cell)


def _is_silent(attributes: Mapping[str, str]) -> bool:
    """Return whether an element says that it is not part of the text."""
    if "hidden" in attributes or not _NOTE_CLASSES.isdisjoint(attributes.get("class", "").lower().split()):
        return True
    types = attributes.get("epub:type", "") + " " + attributes.get("role", "")
    return not _SILENT_TYPES.isdisjoint(types.lower().split())
