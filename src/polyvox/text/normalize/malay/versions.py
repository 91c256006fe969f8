"""Versions of programs, which are numbers with points between and no decimals: Python 3.12, Laravel 10.x."""

import re
from typing import Final

from polyvox.text.normalize.english.technical.codes import PROGRAMS
from polyvox.text.normalize.malay.numbers import POINT, cardinal
from polyvox.text.tracked import TrackedText

# Names that are a short form or a letter in Malay are left out.
_NAMES: Final = PROGRAMS.difference(("pg", "C", "go")).union(
    "js JS versi Versi version Version ver Ver Office OpenSSL".split()
)
_SMALL_NAMES: Final = frozenset(name.lower() for name in _NAMES).difference(("pg", "c", "go"))
_PARTS: Final = r"\d{1,4}\.(?:\d{1,2}|x)(?!\d|[.,]\d|[A-Za-z]|/\d{4}| ?(?:%|peratus|juta|ribu|[kKMGT]B(?![A-Za-z])))"
_VERSIONS: Final = re.compile(
    rf"(?<![\w.,/]){_PARTS}"
    rf"(?:(?: (?:ke|dan|atau|hingga|kepada) |, ?| ?[-–/] ?){_PARTS}(?! ?[A-Za-z]{{1,2}}(?![A-Za-z])))*"
)
_PARTED: Final = re.compile(r"\d\.[\dx]")
_VERSION: Final = re.compile(r"(\d+)\.(\d+|x)")
_NAME: Final = re.compile(r"(?<![A-Za-z])([A-Za-z]+)\.?(?: |: ?|-|==|@)\Z")
_LONGEST: Final = 20


def read(text: TrackedText) -> TrackedText:
    """Versions of two parts behind the name of a program or behind "versi", and others tied to them."""
    return text.sub(_VERSIONS, _versions) if _PARTED.search(text.text) else text


def _versions(match: re.Match[str]) -> str | None:
    """None where nothing says that it is a version."""
    name = _NAME.search(match.string, max(0, match.start() - _LONGEST), match.start())
    if name is None or (name[1] not in _NAMES and name[1].lower() not in _SMALL_NAMES):
        return None
    return _VERSION.sub(_points, match.group())


def _points(match: re.Match[str]) -> str:
    return f"{cardinal(match[1])} {POINT} {match[2] if match[2] == 'x' else cardinal(match[2])}"
