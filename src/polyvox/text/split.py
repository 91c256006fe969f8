"""Splitting into sentences, and into the clauses of one.

The parts, put together, are the text again; white space at a cut stays at the end of the part before it.
"""

import re
from collections.abc import Iterable
from typing import Final

from polyvox.text.normalize.english.abbreviations import ANYWHERE, BEFORE_FIGURES, LABEL_WORDS, TITLES, WITHIN
from polyvox.text.normalize.english.context import STARTERS
from polyvox.text.placeholders import PLACEHOLDERS
from polyvox.text.tracked import TrackedText

_CLOSERS: Final = r"\"'”’»)\]}」』）】〕》"
_BEFORE_SPACE: Final = rf"(?=[\s{PLACEHOLDERS}]|$)"
_END: Final = re.compile(
    rf"\n|[。！？｡．]+[{_CLOSERS}]*|(?P<mark>[.!?…।॥؟۔]+)(?P<closers>[{_CLOSERS}]*){_BEFORE_SPACE}"
)
_CLAUSE: Final = re.compile(
    rf"\n|(?:[，、；：—]|……)+[{_CLOSERS}]*|(?:[,;:]|…)+[{_CLOSERS}]*{_BEFORE_SPACE}|–{_BEFORE_SPACE}"
)
_SPACE: Final = re.compile(r"\s*")
_LINE_END: Final = re.compile(r"[^\S\n]*\n")

_REACH: Final = 32
_FOLLOWING: Final = re.compile(r"\s*[\"'“‘«(\[]*(?P<word>[^\W_]*)(?P<stop>\.?)")
_LAST_WORDS: Final = re.compile(r"(?:(?P<before>[A-Za-z]+) |^|[^\w.])(?P<word>\w(?:[\w.]*\w)?)$")
_DOTTED: Final = re.compile(r"(?:[A-Za-z]{1,2}\.)+[A-Za-z]")
_CALENDAR: Final = frozenset("Mon Tue Tues Wed Thu Thur Thurs Fri Jan Feb Apr Jun Jul Aug Sep Sept Oct Nov Dec".split())
_MAY_END: Final = frozenset(ANYWHERE) | _CALENDAR | {"St"}
_NEVER_ENDS: Final = frozenset(TITLES) | frozenset(WITHIN) | {"Dr", "v"}


def sentences(text: TrackedText) -> list[TrackedText]:
    """The sentences, each with its closing marks; a line end always ends one."""
    return _cut(text, (match.end() for match in _END.finditer(text.text) if _ends(match)))


def clauses(text: TrackedText) -> list[TrackedText]:
    """The clauses of a sentence, each with the mark that closes it."""
    return _cut(text, (match.end() for match in _CLAUSE.finditer(text.text)))


def settled_end(text: str) -> int | None:
    """The end of the first sentence of a text that is still streaming in; None until no more text can change it."""
    for match in _END.finditer(text):
        ends_line = _LINE_END.match(text, match.end()) is not None
        if not ends_line and not _settled(match):
            return None
        if (ends_line or _ends(match)) and not text[: match.end()].isspace():
            return match.end()
    return None


def _settled(match: re.Match[str]) -> bool:
    """Whether all the text that `_ends` looks at is there."""
    text, end = match.string, match.end()
    if match[0] == "\n":
        return True
    if end == len(text):
        return False
    mark = match["mark"]
    if mark is None or (mark != "." and not mark.endswith("…") and not match["closers"]):
        return True
    following = _FOLLOWING.match(text, end, end + _REACH)
    return len(text) >= end + _REACH or (following is not None and following.end() < len(text))


def _cut(text: TrackedText, ends: Iterable[int]) -> list[TrackedText]:
    parts: list[TrackedText] = []
    start = reached = 0
    for mark_end in (*ends, len(text)):
        if mark_end <= reached:
            continue
        space = _SPACE.match(text.text, mark_end)
        reached = space.end() if space else mark_end
        if not text.text[start:reached].isspace():
            parts.append(text[start:reached])
            start = reached
    return parts


def _ends(match: re.Match[str]) -> bool:
    """Whether the sentence ends here, and not just an abbreviation, an initial, or a quotation inside it."""
    if match["mark"] is None:
        return True
    following = _FOLLOWING.match(match.string, match.end(), match.end() + _REACH)
    word, stop = (following["word"], following["stop"]) if following else ("", "")
    if word[:1].islower() and (match["closers"] or match["mark"].endswith("…")):
        return False
    if match["mark"] != "." or not word:
        return True
    starts_anew = word in STARTERS and not (len(word) == 1 and stop)
    return not _abbreviates(match, word, starts_anew)


def _abbreviates(match: re.Match[str], following: str, starts_anew: bool) -> bool:
    """Whether the full stop only shortens the word before it, in the middle of a sentence."""
    last = _LAST_WORDS.search(match.string[max(0, match.start() - _REACH) : match.start()])
    if last is None:
        return False
    word = last["word"]
    if word in BEFORE_FIGURES and following[0].isdigit():
        return True
    if word in _NEVER_ENDS:
        return True
    if word in _MAY_END or _DOTTED.fullmatch(word):
        return not starts_anew
    if word.isdigit():
        return match.start() - len(word) == 0 or match.string[match.start() - len(word) - 1] == "\n"
    initial = len(word) == 1 and word.isupper() and following[0].isupper()
    return initial and not starts_anew and (last["before"] or "").lower() not in LABEL_WORDS
