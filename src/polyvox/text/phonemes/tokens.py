"""English text cut into words, marks and inserts."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from polyvox.text.markup import Insert, insert_at
from polyvox.text.phonemes.scripts import HAN, LATIN
from polyvox.text.tracked import TrackedText


class Kind(StrEnum):
    RUN = "run"  # Latin letters and digits, with what holds them together
    HAN = "han"
    FOREIGN = "foreign"  # letters of any other script
    MARK = "mark"
    INSERT = "insert"


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of the text, from `start` to `end`, and whether white space follows it."""

    kind: Kind
    text: str
    start: int
    end: int
    space: bool
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
    | (?P<mark>\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def tokens(text: TrackedText, inserts: Sequence[Insert]) -> list[Token]:
    """The tokens of a text in order; nothing but white space is left out."""
    found: list[Token] = []
    for token in _scan(text.text, inserts):
        last = found[-1] if found else None
        if last and last.end == token.start and _continues(last, token):
            token = Token(last.kind, last.text + token.text, last.start, token.end, token.space)
            found.pop()
        found.append(token)
    return found


def _scan(text: str, inserts: Sequence[Insert]) -> Iterator[Token]:
    body = len(text.rstrip())
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        kind = match.lastgroup or "mark"
        if kind == "dotted" and end == body and text[end - 1] == ".":
            yield Token(Kind.RUN, text[start : end - 1], start, end - 1, False)
            yield Token(Kind.MARK, ".", end - 1, end, text[end : end + 1].isspace())
            continue
        insert = insert_at(match.group(), inserts) if kind == "insert" else None
        name = Kind.RUN if kind == "dotted" else Kind(kind)
        if name is Kind.INSERT and insert is None:
            name = Kind.MARK
        yield Token(name, match.group(), start, end, text[end : end + 1].isspace(), insert)


def _continues(last: Token, token: Token) -> bool:
    """Vowel signs go with the letters before them, and a mark that is repeated counts once."""
    if token.kind is Kind.FOREIGN:
        return last.kind is Kind.FOREIGN
    if token.kind is not Kind.MARK:
        return False
    if last.kind is Kind.FOREIGN:
        return unicodedata.category(token.text).startswith("M")
    return last.kind is Kind.MARK and last.text[-1] == token.text
