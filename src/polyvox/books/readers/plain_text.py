"""Plain text as a manuscript: chapters found by their headings, lines joined to paragraphs."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from polyvox.books.manuscript import Chapter, Manuscript, ManuscriptLimits
from polyvox.books.readers.blocks import SCENE_BREAK, Block, chapters_of, joined_titles
from polyvox.books.readers.chapter_headings import LONGEST_HEADING, bare_numbers, is_heading
from polyvox.books.words import speakable

_LINE_END: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_GUTENBERG: Final = re.compile(
    r"^\*\*\* ?(?P<edge>START|END) OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*$", re.IGNORECASE | re.MULTILINE
)
_FIELD: Final = re.compile(r"^(?P<name>Title|Author|Language):[ \t]*(?P<value>\S[^\n]*)$", re.MULTILINE)
_LANGUAGES: Final = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "italian": "it", "portuguese": "pt",
    "chinese": "zh", "japanese": "ja", "hindi": "hi", "malay": "ms", "indonesian": "id",
}  # fmt: skip
_HEAD_CHARS: Final = 10_000
_TITLE_PAGE_WORDS: Final = 40
_BYLINE: Final = re.compile(r"(?:by|von|par|por|di|oleh)\s+(?P<name>\S.*)", re.IGNORECASE)
_DENSE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u3000-\u303f]")
_SENTENCE_ENDS: Final = tuple(".!?…:\"'”’»)。！？」』）—")
_SHORT: Final = 0.75
"""Of the longest line: a shorter one that ends a sentence ends its paragraph, too."""
_WRAPPED_AT_MOST: Final = 110
"""Characters of a line that an editor wrapped; a longer one is a paragraph."""


def read_plain_text(text: str, limits: ManuscriptLimits) -> Manuscript:
    """The manuscript in a text; what stands around it in files of Project Gutenberg is left out, but for the title."""
    text = _LINE_END.sub("\n", text)
    text, fields = _without_frame(text)
    _, chapters = chapters_of(list(_blocks(text)), limits)
    if _is_title_page(chapters):
        fields = {**_title_page(chapters[0].paragraphs), **fields}
        chapters = chapters[1:]
    language = _LANGUAGES.get(fields.get("language", "").lower(), "")
    return Manuscript(fields.get("title", ""), fields.get("author", ""), language, None, chapters)


def _is_title_page(chapters: Sequence[Chapter]) -> bool:
    """Return whether the text before the first heading is the book's title and author."""
    words = sum(len(text.split()) for text in chapters[0].paragraphs)
    return len(chapters) > 1 and not chapters[0].title and words <= _TITLE_PAGE_WORDS


def _title_page(paragraphs: Sequence[str]) -> dict[str, str]:
    found = {"title": paragraphs[0]}
    author = next((match for match in map(_BYLINE.fullmatch, paragraphs[1:]) if match), None)
    return found if author is None else {**found, "author": author["name"]}


def _without_frame(text: str) -> tuple[str, dict[str, str]]:
    marks = {match["edge"].upper(): match for match in _GUTENBERG.finditer(text)}
    if "START" not in marks:
        return text, {}
    head = text[: min(marks["START"].start(), _HEAD_CHARS)]
    fields = {match["name"].lower(): match["value"].strip() for match in _FIELD.finditer(head)}
    end = marks["END"].start() if "END" in marks else len(text)
    return text[marks["START"].end() : end], fields


def _blocks(text: str) -> Iterator[Block]:
    """Headings and paragraphs; an empty line ends either."""
    lines = text.split("\n")
    numbered = bare_numbers(lines)
    group: list[str] = []
    for index, line in enumerate((*lines, "")):
        if line.strip():
            group.append(line.rstrip())
            continue
        yield from _group(group, numbered=index - len(group) in numbered)
        group = []


def _group(lines: list[str], *, numbered: bool) -> Iterator[Block]:
    """The blocks of lines without an empty one between them."""
    if not lines:
        return
    if not any(speakable(line) for line in lines):
        yield Block(SCENE_BREAK)
        return
    start = 0
    for index, line in enumerate(lines):
        if is_heading(line) or (numbered and index == 0):
            yield from _paragraphs(lines[start:index])
            start = index + 1
            if index == 0 and _is_subtitle(lines[1:]):
                yield Block(joined_titles([line.strip(), " ".join(part.strip() for part in lines[1:])]), 1)
                return
            yield Block(line.strip(), 1)
    yield from _paragraphs(lines[start:])


def _is_subtitle(lines: Sequence[str]) -> bool:
    """Return whether the lines right below a heading are a part of it."""
    if not 0 < len(lines) <= 2:
        return False
    text = " ".join(line.strip() for line in lines)
    return len(text) <= LONGEST_HEADING and not text.endswith((".", ",", ";", "。", "，", "”", '"'))


def _paragraphs(lines: Sequence[str]) -> Iterator[Block]:
    width = max(map(len, lines), default=0)
    start = 0
    for index in range(1, len(lines) + 1):
        if index == len(lines) or _ends_paragraph(lines[index - 1], lines[index], width):
            yield Block(_joined(lines[start:index]))
            start = index


def _ends_paragraph(line: str, following: str, width: int) -> bool:
    """Return whether a line of a group whose longest has `width` characters ends its paragraph."""
    if width > _WRAPPED_AT_MOST:
        return True
    if not line.endswith(_SENTENCE_ENDS):
        return False
    return following[0].isspace() or _DENSE.match(line[-1]) is not None or len(line) < _SHORT * width


def _joined(lines: Sequence[str]) -> str:
    text = ""
    for line in lines:
        words = " ".join(line.split())
        apart = text and not text.endswith("-") and not (_DENSE.match(text[-1]) and _DENSE.match(words[0]))
        text += f" {words}" if apart else words
    return text
