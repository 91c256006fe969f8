"""EPUB 2 and 3 as a manuscript."""

from collections.abc import Iterator, Sequence

from polyvox.books.manuscript import Cover, Manuscript, ManuscriptLimits
from polyvox.books.pictures import read_cover
from polyvox.books.readers.blocks import Block, Draft, chapters_of, finished, is_boilerplate
from polyvox.books.readers.epub_archive import EpubArchive
from polyvox.books.readers.epub_package import Entry, Package, read_package
from polyvox.books.readers.html_text import html_blocks
from polyvox.books.readers.markup_blocks import MarkupBlocks
from polyvox.books.readers.safe_xml import BrokenXmlError, parse_xml
from polyvox.errors import ManuscriptError
from polyvox.hostile_xml import XmlHandlers

_TITLE_PAGE_WORDS = 40
"""Up to so many words before the first chapter are a title page."""


def read_epub(data: bytes, limits: ManuscriptLimits) -> Manuscript:
    """The manuscript in an EPUB."""
    archive = EpubArchive(data, limits)
    package = read_package(archive, limits)
    documents = list(_documents(archive, package, limits))
    title = ""
    if package.contents:
        drafts = [draft for draft in _drafts(documents, package.contents) if not _is_titled_page(draft, package.title)]
        chapters = finished(drafts, limits)
    else:
        title, chapters = chapters_of([block for _, blocks in documents for block in blocks], limits)
    return Manuscript(
        package.title or title, package.author, package.language, _cover(archive, package, limits), chapters
    )


def _documents(archive: EpubArchive, package: Package, limits: ManuscriptLimits) -> Iterator[tuple[str, list[Block]]]:
    """The documents in reading order, as blocks; those that the contents call boilerplate are left out."""
    skipped = {entry.path for entry in package.contents if not entry.anchor and is_boilerplate(entry.title)}
    chars = 0
    for path in package.documents:
        if path in skipped:
            continue
        blocks = document_blocks(archive.read(path), limits)
        chars += sum(len(block.text) for block in blocks)
        if chars > limits.text_chars:
            raise ManuscriptError(
                f"The EPUB has more than {limits.text_chars:,} characters; split it into volumes.", field="file"
            )
        yield path, blocks


def document_blocks(document: bytes, limits: ManuscriptLimits) -> list[Block]:
    """The blocks of one document; one that is not well-formed is read as a browser would."""
    sink = MarkupBlocks(limits)
    try:
        parse_xml(document, XmlHandlers(sink.start, sink.end, sink.data), limits)
    except BrokenXmlError:
        return html_blocks(document.decode("utf-8", errors="replace"), limits).blocks
    return sink.finish()


def _drafts(documents: Sequence[tuple[str, list[Block]]], contents: Sequence[Entry]) -> Iterator[Draft]:
    """The chapters that the table of contents names; a document that it does not name goes on with the one before."""
    entries = _chapter_entries(contents)
    draft, named = Draft([], []), False
    for path, blocks in documents:
        starts = _starts(blocks, entries.get(path, ()))
        for index, block in enumerate(blocks):
            if index in starts:
                if named or not _is_title_page(draft):
                    yield draft
                draft, named = Draft([starts[index].title], []), True
            _add(draft, block)
    yield draft


def _chapter_entries(contents: Sequence[Entry]) -> dict[str, list[Entry]]:
    """By document, the entries that begin chapters: the first of each document, and others of the top level.

    Deeper entries into a document that has begun already are its sections.
    """
    entries: dict[str, list[Entry]] = {}
    for entry in contents:
        if entry.path and entry.title and (entry.path not in entries or entry.depth == 0):
            entries.setdefault(entry.path, []).append(entry)
    return entries


def _starts(blocks: Sequence[Block], entries: Sequence[Entry]) -> dict[int, Entry]:
    """The blocks at which entries begin. Headings before the place that the first one links to are part of it; text
    there belongs to the chapter before."""
    starts: dict[int, Entry] = {}
    for entry in entries:
        linked = (index for index, block in enumerate(blocks) if entry.anchor and entry.anchor in block.anchors)
        at = next(linked, 0)
        if not starts and all(block.is_heading for block in blocks[:at]):
            at = 0
        starts.setdefault(at, entry)
    return starts


def _add(draft: Draft, block: Block) -> None:
    """Add a block; headings that open a chapter are its title, unless the contents have the same words."""
    if not block.is_heading or draft.paragraphs:
        draft.paragraphs.append(block.text)
        return
    said = _plain(" ".join(draft.titles))
    heading = _plain(block.text)
    if said and said in heading:
        draft.titles[:] = [block.text]
    elif heading not in said:
        draft.titles.append(block.text)


def _plain(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _is_title_page(draft: Draft) -> bool:
    """Return whether what stands before the first chapter is the book's title and author, or nothing."""
    return sum(len(text.split()) for text in (*draft.titles, *draft.paragraphs)) <= _TITLE_PAGE_WORDS


def _is_titled_page(draft: Draft, title: str) -> bool:
    """Return whether it is a page of the contents that only says what the book is called."""
    return bool(title) and _plain(" ".join(draft.titles)) == _plain(title) and _is_title_page(draft)


def _cover(archive: EpubArchive, package: Package, limits: ManuscriptLimits) -> Cover | None:
    """The cover, if it is a picture that a book of audio can carry."""
    path = package.cover
    if path is None or path not in archive or archive.size(path) > limits.cover_bytes:
        return None
    try:
        return read_cover(archive.read(path))
    except ManuscriptError:
        return None
