"""Markdown as a manuscript."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from polyvox.books.manuscript import Manuscript, ManuscriptLimits
from polyvox.books.readers.blocks import SCENE_BREAK, Block, chapters_of
from polyvox.books.readers.comments import without_comments
from polyvox.books.words import VOICE_TAG, pieces
from polyvox.errors import MarkupError
from polyvox.text.markup import markup

_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(?P<fields>.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(
    r"^(?P<name>title|author|lang|language):[ \t]*(?P<value>\S[^\n]*)$", re.MULTILINE | re.IGNORECASE
)
_LONGEST_MARK: Final = 1_000
"""Characters of a line up to which it may be a heading or a rule."""
_HEADING: Final = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<text>\S.*?)(?:[ \t]+#+)?[ \t]*(?:\{[^{}]*\})?[ \t]*")
_UNDERLINE: Final = re.compile(r" {0,3}(?:(?P<first>=+)|(?P<second>-+))[ \t]*")
_RULE: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_NEW_BLOCK: Final = re.compile(r"\s*(?:[-*+•][ \t]+|\d{1,4}[.)][ \t]+|\|)")
_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_NOTE: Final = re.compile(r" {0,3}\[\^[^\[\]\n]{1,40}\]:")
_TABLE_RULE: Final = frozenset(" \t|:-")


def read_markdown(text: str, limits: ManuscriptLimits) -> Manuscript:
    """The manuscript in a text; front matter may give title, author and language. Code and notes are left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT_MATTER.match(text)
    fields: dict[str, str] = {}
    if front is not None:
        fields = {
            field["name"].lower(): field["value"].strip().strip("\"'") for field in _FIELD.finditer(front["fields"])
        }
        text = text[front.end() :]
    lines = _without_code(without_comments(text).split("\n"))
    title, chapters = chapters_of([block for block in _blocks(lines) if block.text], limits)
    language = fields.get("lang", "") or fields.get("language", "")
    return Manuscript(fields.get("title", "") or title, fields.get("author", ""), language, None, chapters)


def _without_code(lines: list[str]) -> Iterator[str]:
    """The lines without fenced blocks of code; a fence that is never closed opens none."""
    fenced: list[str] = []
    for line in lines:
        fence = _FENCE.match(line)
        if not fenced and fence is None:
            yield line
        elif fenced and fence is not None and fence["mark"].startswith(_mark(fenced[0])) and not fence["info"].strip():
            fenced = []
            yield ""
        else:
            fenced.append(line)
    yield from fenced


def _mark(line: str) -> str:
    fence = _FENCE.match(line)
    return fence["mark"] if fence else ""


def _blocks(lines: Iterable[str]) -> Iterator[Block]:
    group: list[str] = []
    for line in chain(lines, [""]):
        heading = _HEADING.fullmatch(line) if len(line) <= _LONGEST_MARK else None
        underline = _UNDERLINE.fullmatch(line) if group else None
        if heading is None and underline is None and line.strip() and not _starts_block(line):
            group.append(line)
            continue
        if underline is not None:
            yield Block(_plain(" ".join(group)), 1 if underline["first"] else 2)
            group = []
            continue
        yield from _paragraph(group)
        group = []
        if heading is not None:
            yield Block(_plain(heading["text"]), len(heading["marks"]))
        elif _is_rule(line):
            yield Block(SCENE_BREAK)
        elif line.strip():
            group = [line]


def _starts_block(line: str) -> bool:
    return _NEW_BLOCK.match(line) is not None or _NOTE.match(line) is not None or _is_rule(line)


def _is_rule(line: str) -> bool:
    return len(line) <= _LONGEST_MARK and _RULE.fullmatch(line) is not None


def _paragraph(lines: list[str]) -> Iterator[Block]:
    if lines and not _NOTE.match(lines[0]) and not _TABLE_RULE.issuperset(lines[0]):
        yield Block(_plain("\n".join(lines)))


def _plain(text: str) -> str:
    """The words of a block; voice tags, pauses and phonemes stay for the engine."""
    parts: list[str] = []
    done = 0
    for tag in VOICE_TAG.finditer(text):
        parts += (_words(text[done : tag.start()]), tag[0])
        done = tag.end()
    parts.append(_words(text[done:]))
    return " ".join(" ".join(parts).split())


def _words(text: str) -> str:
    return "".join(_piece_words(piece) for piece in pieces(text) if piece.strip())


def _piece_words(text: str) -> str:
    try:
        found = markup.parse(text)
    except MarkupError:  # the plan of the narration refuses it, and names its sentence
        return text
    words = found.text
    return "".join(
        char if markup.insert_at(char, found.inserts) is None else text[words.starts[index] : words.ends[index]]
        for index, char in enumerate(words.text)
    )
