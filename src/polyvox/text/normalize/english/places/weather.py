"""Directions of winds and storms: "SSW 10-15 mph", "moving NNW", "SW wind"."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_NAMES: Final = {"N": "north", "S": "south", "E": "east", "W": "west"}
_FINE: Final = r"(?:N[NE]E|E[NS]E|S[SE]E|[SW]SW|[WN]NW)"
_POINT: Final = rf"(?:{_FINE}|[NS][EW]|[NESW])"
_ANY: Final = re.compile(rf"(?<![A-Za-z]){_POINT}(?![A-Za-z])")
_WIND: Final = re.compile(
    rf"(?<![\w.'&/-])(?P<point>{_POINT})(?P<joint>[-–/](?P<other>{_POINT}))?"
    rf"(?= (?:winds?|gusts?|gales?|breezes?|swells?|flow|airflow|\d{{1,3}}(?:[-–]\d{{1,3}})? ?(?:mph|kts?|kn|knots"
    rf"|km/?h|kph|m/s)\b"
    r"|(?:at|@) \d))"
)
_FORCE: Final = re.compile(
    rf"(?<![\w.'&/-])(?P<point>[NS][EW]|{_FINE})(?= \d{{1,2}}(?:[-–]\d{{1,2}})?(?: to (?:\d|gale|severe|storm)| or \d"
    rf"|[,.;]|$))"
)
_GALE: Final = re.compile(
    r"\b(?:[Gg]ales?|[Ss]eas?|[Ww]inds?|[Ff]orecast|[Ss]torms?|[Bb]acking|[Vv]eering|[Gg]usting|[Rr]ough)\b"
)
_MOVING: Final = re.compile(
    r"(?P<lead>\b(?:[Mm]ov(?:e[ds]?|ing)|[Tt]rack(?:s|ed|ing)|[Bb]low(?:s|ing)|[Bb]lew|[Hh]ead(?:s|ed|ing)|[Dd]rift"
    r"(?:s|ed|ing)"
    r"|[Vv]eer(?:s|ed|ing)|[Bb]ack(?:s|ed|ing)|[Ss]hift(?:s|ed|ing)|[Ww]inds?|[Gg]usts?|[Ff]ac(?:es|ing)|[Bb]earing)"
    rf"(?: from the| to the| from| to|,|:)? )(?P<point>{_POINT})(?![\w'’&.-])"
)
# The highest and the lowest of a day: "Sun: 75/58".
_HIGH_LOW: Final = re.compile(
    r"(?P<lead>\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*|Today|Tonight|Tomorrow|Hi/[Ll]o|High/[Ll]ow|H/L)[.:]{0,2} )"
    r"(?P<high>-?\d{1,3})/(?P<low>-?\d{1,2})(?![\w/]|[.,]\d)"
)
_FORECAST: Final = re.compile(
    r"\b(?:cloud\w*|forecast|humid\w*|pollen|precip|rain|RH|showers?|snow|storms?|sun(?:ny|rise|set)|t-storms?|UV"
    r"|wind\w*)\b"
)
_GUSTING: Final = re.compile(r"(?<=\d) ?[gG] ?(?=\d{2,3} ?(?:kts?|kn|knots|mph|kph|km/?h)\b)")
_FAR: Final = re.compile(
    rf"(?:(?<=\d )(?P<point>{_FINE})|(?:(?<=mph )|(?<=knots )|(?<=kts )|(?<=km/h )|(?<=miles )|(?<=mi\. )|(?<=km ))"
    rf"(?P<there>{_POINT}))(?![\w'’&-])|(?P<lead>\b(?:the|from|to) )(?P<fine>{_FINE})(?![\w'’&-])"
)


def read(text: TrackedText) -> TrackedText:
    """The points of the compass, where wind or a way shows that they are some."""
    if "/" in text.text and _FORECAST.search(text.text):
        text = text.sub(_HIGH_LOW, r"\g<lead>\g<high>, \g<low>")
    if _ANY.search(text.text) is None:
        return text
    text = text.sub(_GUSTING, " gusting to ")
    if _GALE.search(text.text) or _FORECAST.search(text.text):
        text = text.sub(_FORCE, lambda match: _point(match["point"]))
    text = text.sub(_WIND, _wind).sub(_MOVING, lambda match: match["lead"] + _point(match["point"]))
    return text.sub(
        _FAR, lambda match: (match["lead"] or "") + _point(match["point"] or match["there"] or match["fine"])
    )


def _point(letters: str) -> str:
    """ "southwest", "south southwest"."""
    *first, last = (letters[0], letters[1:]) if len(letters) == 3 else (letters,)
    words = [_NAMES[letter] for letter in first]
    return " ".join([*words, "".join(_NAMES[letter] for letter in last)])


def _wind(match: re.Match[str]) -> str:
    joint = f" to {_point(match['other'])}" if match["joint"] else ""
    return _point(match["point"]) + joint
