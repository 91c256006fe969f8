"""HTML as a manuscript, however sloppy it is."""

from html.parser import HTMLParser

from polyvox.books.manuscript import Manuscript, ManuscriptLimits
from polyvox.books.readers.blocks import chapters_of
from polyvox.books.readers.markup_blocks import VOID, MarkupBlocks


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
    parser.feed(text)
    parser.close()
    sink.finish()
    return sink


def read_html(text: str, limits: ManuscriptLimits) -> Manuscript:
    """The manuscript in a page; its headings begin the chapters."""
    page = html_blocks(text, limits)
    title, chapters = chapters_of(page.blocks, limits)
    return Manuscript(title or page.title, "", page.language, None, chapters)
