"""Names that are written with figures or signs: "3M", "A$AP Rocky"."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_NAMES: Final = {
    "2Pac": "Tupac",
    "3Com": "three Com",
    "A$AP": "ASAP",
    "MrBeast": "Mister Beast",
    "Ke$ha": "Kesha",
    "P!nk": "Pink",
    "Se7en": "Seven",
    "Yahoo!": "Yahoo",
    "blink-182": "Blink one eighty two",
    "deadmau5": "dead mouse",
    "will.i.am": "will I am",
}
_NAMED: Final = re.compile(
    r"(?=[23AKMPSbdw])(?<![\w$.@/-])(?:2Pac|3Com|A\$AP|Ke\$ha|P!nk|Se7en|blink-182|deadmau5|will\.i\.am|MrBeast)(?![\w@]|\.[a-z])"
    r"|(?<![\w$.-])Yahoo!(?= [a-z]|'s|,)"
)
# A car whose number stands behind a stop: "ID.4".
_CAR: Final = re.compile(r"(?<![\w.])ID\.(?=\d(?!\d)|Buzz\b)")
# The firm, and not a count of millions: before what only a firm has, or beside another name.
_FIRM: Final = re.compile(
    r"(?<![\w.,$€£/-])3M(?=['’]s\b|,? (?:and|or|&) [A-Z]|, [A-Z]|[;.)](?!\w)| (?:Co|Company|Corp|said|says|shares?"
    r"|stock|tape|"
    r"earplugs?|masks?|respirators?|lawsuits?|settlement|fell|rose|has|will|may|could|would|must|can|plans?|agreed|executives?|products?)\b)"
)
_AMOUNT_BEFORE: Final = re.compile(r"\b(?:to|of|about|over|under|than|nearly|by|at|least|some|almost|cost|worth) \Z")
_NEAR: Final = 12


def read(text: TrackedText) -> TrackedText:
    """Each name as it is said."""
    if "3M" in text.text:
        text = text.sub(_FIRM, _firm)
    if "ID." in text.text:
        text = text.sub(_CAR, "I.D ")
    return text.sub(_NAMED, lambda match: _NAMES[match.group()])


def _firm(match: re.Match[str]) -> str | None:
    counted = _AMOUNT_BEFORE.search(match.string, max(0, match.start() - _NEAR), match.start())
    return None if counted else "three M"
