"""Music: the time of a bar."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import cardinal
from polyvox.text.tracked import TrackedText

_TIME: Final = re.compile(
    r"(?<![\w./])(?P<beats>[2-9]|1[0-9])/(?P<value>2|4|8|16)(?![\w/]|\.\d)"
    r"(?P<named> (?:time|meter|metre|beat|bars?|groove|waltz|march|signature|swing|shuffle|rhythm)\b)?"
)
_PLAYED: Final = re.compile(
    r"\b(?:bpm|song|songs|tempo|rhythm|waltz|jig|march|minor|major|drum\w*|groove|melody|signature|in|tune|ballad)\b"
)
_NEAR: Final = 40


def read(text: TrackedText) -> TrackedText:
    """ "in 6/8 time"."""
    return text.sub(_TIME, _time) if "/" in text.text else text


def _time(match: re.Match[str]) -> str | None:
    """The beats of a bar: before a word that says so, or in a figure that no fraction has, where music is told of."""
    beats, value = int(match["beats"]), int(match["value"])
    words = f"{cardinal(match['beats'])} {cardinal(match['value'])}"
    if match["named"]:
        return words + match["named"]
    unlike_fraction = (beats, value) in ((4, 4), (6, 8), (9, 8), (12, 8), (2, 4), (6, 4), (2, 2))
    near = _PLAYED.search(match.string, max(0, match.start() - _NEAR), match.end() + _NEAR)
    return words if unlike_fraction and near else None
