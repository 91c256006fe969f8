"""Splitting into sentences, and into the clauses of one.

The parts, put together, are the text again; white space at a cut stays at the end of the part before it.
"""

import re
from collections.abc import Iterable
from typing import Final

from polyvox.text.placeholders import PLACEHOLDERS
from polyvox.text.segmentation.abbreviations import last_word, may_abbreviate, never_ends, shortens
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
_WIDE_DECIMAL: Final = re.compile(r"\d．\d")
_SIGN: Final = re.compile(r" [@$€£¥₹#~<>=+±≈≤≥§]")
_JOINED: Final = re.compile(" [&§]")
_FACTORIAL: Final = re.compile(r"[\dnk]! [=+×*/~≈-]")
_FOLLOWING: Final = re.compile(r"\s*[\"'“‘«(\[]*(?P<word>[^\W_]*)(?P<stop>\.?)")


def sentences(text: TrackedText) -> list[TrackedText]:
    """The sentences, each with its closing marks; a line end always ends one."""
    return _cut(text, (match.end() for match in _END.finditer(text.text) if _ends(match)))


def clauses(text: TrackedText) -> list[TrackedText]:
    """The clauses of a sentence, each with the mark that closes it."""
    return _cut(text, (match.end() for match in _CLAUSE.finditer(text.text)))


def first_end(text: str, start: int, searched: int, *, final: bool = False) -> tuple[int | None, int]:
    """The end of the first sentence behind `start` of a text that is still arriving, and how far that is certain.

    The end is None until no more text can change it; up to the second position no sentence ends, whatever follows, and
    from there the search goes on as `searched`. With `final` nothing follows.
    """
    for match in _END.finditer(text, searched):
        ends_line = _LINE_END.match(text, match.end()) is not None
        if not (final or ends_line or _settled(match)):
            return None, match.start()
        if (ends_line or _ends(match)) and not text[start : match.end()].isspace():
            return match.end(), match.end()
    return None, len(text)


def _settled(match: re.Match[str]) -> bool:
    """Return whether all the text that `_ends` looks at is there."""
    text, end = match.string, match.end()
    if match[0] == "\n":
        return True
    if end == len(text):
        return False
    mark = match["mark"]
    if mark is None or (not match["closers"] and not _needs_following(match)):
        return True
    following = _FOLLOWING.match(text, end, end + _REACH)
    return len(text) >= end + _REACH or (following is not None and following.end() < len(text))


def _needs_following(match: re.Match[str]) -> bool:
    """Return whether a mark without closers behind it ends a sentence or not for the word that follows."""
    if match["mark"] == "!":
        return match.string[max(0, match.start() - 1) : match.start()].isdigit()
    if match["mark"] != ".":
        return match["mark"].endswith("…")
    return may_abbreviate(last_word(match.string, match.start()))


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
    """Return whether the sentence ends here, and not just an abbreviation, an initial, or a quotation inside it."""
    if match["mark"] is None:
        return _WIDE_DECIMAL.search(match.string, max(0, match.start() - 1), match.end() + 1) is None
    following = _FOLLOWING.match(match.string, match.end(), match.end() + _REACH)
    word, stop = (following["word"], following["stop"]) if following else ("", "")
    if word[:1].islower() and (match["closers"] or match["mark"].endswith("…")):
        return False
    if match["mark"] == "!" and _FACTORIAL.match(match.string, max(0, match.start() - 1)):
        return False
    if match["mark"] == "." and not word and _JOINED.match(match.string, match.end()):
        return not may_abbreviate(last_word(match.string, match.start()))
    if match["mark"] != "." or (not word and not _SIGN.match(match.string, match.end())):
        return True
    if not word:
        return not never_ends(last_word(match.string, match.start()))
    return not shortens(match.string, match.start(), word, initial_follows=len(word) == 1 and bool(stop))
