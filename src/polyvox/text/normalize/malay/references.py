"""Numbers of files, sections, houses and parts, in which stops, hyphens and slashes only separate: "JPN.600-1/2"."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import last_words
from polyvox.text.normalize.malay.money import CODES
from polyvox.text.normalize.malay.numbers import cardinal, code, number
from polyvox.text.tracked import TrackedText

_NO_SUM: Final = rf"(?!KM\d|(?:RM|{'|'.join(CODES)})[-.]?\d)"
# Counters, seats and rooms, from one to another.
_SERIES: Final = re.compile(
    rf"(?<![\w./-]){_NO_SUM}(?P<letters>[A-Z]{{1,2}})(?P<first>\d{{1,3}})[-–](?P=letters)(?P<last>\d{{1,3}})(?![\w-])"
)
_REFERENCE: Final = re.compile(
    rf"(?<![\w./@#$+-]){_NO_SUM}(?P<head>[A-Z]{{1,6}}\d{{0,6}})"
    r"(?P<rest>(?:[-./](?=[A-Za-z\d])[A-Z]?[A-Za-z]{0,5}\d{0,12}[A-Z]?[A-Za-z]{0,5}(?![A-Za-z\d])"
    r"|[-./]\d{1,6}[A-Za-z]{1,6}(?![A-Za-z\d])){1,8}+)(?![\w/@-])"
)
_DECIMAL: Final = re.compile(rf"(?<![^\W_]){_NO_SUM}(?P<letters>[A-Z]{{2,4}})(?P<figure>\d{{1,3}}\.\d{{1,3}})(?![\w.])")
_HOUSE: Final = re.compile(r"(?<![\w./-])(?<!\d,)\d{1,4}[A-Z]?(?:-(?:\d{1,4}[A-Z]?|[A-Z])){1,4}(?![\w/-]|[.,]\d)")
_LOT: Final = re.compile(r"(?<=\b[Ll]ot )\d{1,3}\.0\d(?![\w.])")
# Parts of a law and of a question: 39B(1)(a), 5(b).
_BRACKETED: Final = re.compile(
    r"(?<![A-Za-z])(?P<figure>\d{1,4}[A-Z]{0,2})(?P<parts>(?:\((?:\d{1,3}[A-Z]?|[a-z]|[ivx]{1,4})\))++)(?!\w)"
)
_HOUSES: Final = frozenset("apartmen blok block lot no nombor pangsapuri rumah unit".split())
_RUN: Final = re.compile(r"[A-Za-z]+|\d+|[-./]")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ROMAN: Final = dict(zip("ii iii iv vi vii viii ix".split(), "2 3 4 6 7 8 9".split(), strict=True))
_INSIDE: Final = re.compile(r"\w+")
_DIGIT: Final = re.compile(r"\d")


def read(text: TrackedText) -> TrackedText:
    """Reads every part by itself; a slash between figures is "per", as on road signs."""
    if "(" in text.text:
        text = text.sub(_BRACKETED, _bracketed)
    text = text.sub(_SERIES, _series).sub(_DECIMAL, lambda match: f"{match['letters']} {number(match['figure'])}")
    return text.sub(_REFERENCE, _reference).sub(_HOUSE, _house).sub(_LOT, _lot)


def _bracketed(match: re.Match[str]) -> str:
    parts = _INSIDE.findall(match["parts"])
    return " ".join((match["figure"], *(_ROMAN.get(part) or part.upper() for part in parts)))


def _series(match: re.Match[str]) -> str:
    letters = match["letters"]
    return f"{letters} {cardinal(match['first'])} hingga {letters} {cardinal(match['last'])}"


def _reference(match: re.Match[str]) -> str | None:
    if _DIGIT.search(match.group()) is None:
        return None
    return _parts(match.group())


def _house(match: re.Match[str]) -> str | None:
    """The number of a house or flat: behind a word for one, with a letter in it or two hyphens."""
    written = match.group()
    lettered = any(char.isalpha() for char in written)
    if not last_words(match, reach=12) & _HOUSES or not (lettered or written.count("-") > 1):
        return None
    return _parts(written)


def _lot(match: re.Match[str]) -> str:
    return " ".join(code(part) for part in match.group().split("."))


def _parts(written: str) -> str:
    runs = _RUN.findall(written)
    words: list[str] = []
    for before, run, after in zip(["", *runs], runs, [*runs[1:], ""], strict=False):
        if run.isdigit():
            words.append(cardinal(run) if _YEAR.fullmatch(run) else code(run))
        elif run == "/" and (before.isdigit() or before.isupper()) and after.isdigit():
            words.append("per")
        elif run.isalpha():
            words.append(run)
    return " ".join(words)
