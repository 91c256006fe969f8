"""HTML as a manuscript, however sloppy it is."""

import re
from html.parser import HTMLParser
from typing import Final

from polyvox.books.manuscript import Manuscript, ManuscriptLimits
from polyvox.books.readers.blocks import chapters_of
from polyvox.books.readers.comments import without_comments
from polyvox.books.readers.markup_blocks import VOID, MarkupBlocks

_BRACKET: Final = re.compile("[<>]")
_MOST_NESTED: Final = 8
"""Tags that may begin within one before it ends, as in an attribute that holds HTML; beyond that it is no tag."""


class _Parser(HTMLParser):
    """Hands the events of Python's tolerant parser on."""

    def __init__(self, sink: MarkupBlocks) -> None:
        super().__init__(convert_charrefs=True)
        self._sink = sink

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._sink.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self._sink.end(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._sink.start(tag, {name: value or "" for name, value in attrs})
        self._sink.end(tag)

    def handle_endtag(self, tag: str) -> None:
        self._sink.end(tag)

    def handle_data(self, data: str) -> None:
        self._sink.data(data)


def html_blocks(text: str, limits: ManuscriptLimits) -> MarkupBlocks:
    """The blocks of a page."""
    sink = MarkupBlocks(limits)
    parser = _Parser(sink)
    parser.feed(_with_tags_that_end(without_comments(text)))
    parser.close()
    sink.finish()
    return sink


def _with_tags_that_end(text: str) -> str:
    """The text with `&lt;` for each `<` that begins no tag.

    Python's parser looks for the end of a tag or a declaration from each of them anew, up to the end of the file.
    """
    pieces: list[str] = []
    begun, done = _MOST_NESTED, len(text)
    brackets = [match.start() for match in _BRACKET.finditer(text)]
    for at in reversed(brackets):
        if text[at] == ">":
            begun = 0
        elif begun >= _MOST_NESTED or text.startswith(("<![", "<!--"), at):
            pieces += (text[at + 1 : done], "&lt;")
            done = at
        else:
            begun += 1
    return "".join((text[:done], *reversed(pieces)))


def read_html(text: str, limits: ManuscriptLimits) -> Manuscript:
    """The manuscript in a page; its headings begin the chapters."""
    page = html_blocks(text, limits)
    title, chapters = chapters_of(page.blocks, limits)
    return Manuscript(title or page.title, "", page.language, None, chapters)
