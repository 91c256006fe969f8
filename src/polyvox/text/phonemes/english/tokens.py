"""English text cut into words, marks and inserts."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from polyvox.text.characters import HAN, LATIN
from polyvox.text.markup.markup import Insert, insert_at
from polyvox.text.tracked import TrackedText


class TokenKind(StrEnum):
    RUN = "run"  # Latin letters and digits, with what holds them together
    HAN = "han"
    FOREIGN = "foreign"  # letters of any other script
    MARK = "mark"
    INSERT = "insert"


@dataclass(frozen=True, slots=True)
class TextToken:
    """A token of the text, from `start` to `end`; a mark that is repeated is one token."""

    kind: TokenKind
    text: str
    start: int
    end: int
    insert: Insert | None = None


_APOSTROPHE: Final = "['’]"
_TOKEN: Final = re.compile(
    rf"""
      (?P<insert>[\ue000-\uf8ff])
    | (?P<dotted>[A-Za-z](?:\.[A-Za-z](?![A-Za-z]))+\.?(?![A-Za-z]))
    | (?P<run>
        (?:{_APOSTROPHE}(?:tis|twas|twere|twill|em|cause|til|cept|neath|n)(?![{LATIN}]){_APOSTROPHE}?
         | (?: [{LATIN}\d][\u0300-\u036f]*
             | (?<=[{LATIN}\d\u0300-\u036f]){_APOSTROPHE}(?=[{LATIN}])
             | (?<=in){_APOSTROPHE}(?=\s)
             | (?<=[{LATIN}\d\u0300-\u036f])[-‐‑](?=[{LATIN}\d])
             | (?<=\d)[.,](?=\d)
           )+
        )
      )
    | (?P<han>[{HAN}]+)
    | (?P<foreign>[^\W\d_{LATIN}{HAN}]+)
    | (?P<mark>(?P<sign>\S)(?P=sign)*)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def tokens(text: TrackedText, inserts: Sequence[Insert]) -> list[TextToken]:
    """The tokens of a text in order; nothing but white space is left out."""
    whole = text.text
    found: list[tuple[TokenKind, int, int]] = []
    for kind, start, end in _scan(whole):
        if found and found[-1][2] == start and _continues(found[-1][0], kind, whole[start]):
            kind, start, _ = found.pop()
        found.append((kind, start, end))
    return [_token(kind, whole, start, end, inserts) for kind, start, end in found]


def _scan(text: str) -> Iterator[tuple[TokenKind, int, int]]:
    body = len(text.rstrip())
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup != "dotted":
            yield TokenKind(match.lastgroup or "mark"), start, end
        elif end == body and text[end - 1] == ".":
            yield TokenKind.RUN, start, end - 1
            yield TokenKind.MARK, end - 1, end
        else:
            yield TokenKind.RUN, start, end


def _continues(last: TokenKind, kind: TokenKind, first: str) -> bool:
    """Vowel signs go with the letters of another script before them, and so do further letters."""
    if last is not TokenKind.FOREIGN:
        return False
    return kind is TokenKind.FOREIGN or (kind is TokenKind.MARK and unicodedata.category(first).startswith("M"))


def _token(kind: TokenKind, text: str, start: int, end: int, inserts: Sequence[Insert]) -> TextToken:
    insert = insert_at(text[start], inserts) if kind is TokenKind.INSERT else None
    known = TokenKind.MARK if kind is TokenKind.INSERT and insert is None else kind
    return TextToken(known, text[start:end], start, end, insert)
