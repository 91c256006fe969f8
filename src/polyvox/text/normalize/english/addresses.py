"""Postal addresses and directions: house numbers, states, ZIP codes and the letters of the compass."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import code, spelled
from polyvox.text.tracked import TrackedText

_STATES: Final = {
    "AL": "Alabama",
    "AK": "Alaska",
    "AZ": "Arizona",
    "AR": "Arkansas",
    "CA": "California",
    "CO": "Colorado",
    "CT": "Connecticut",
    "DE": "Delaware",
    "FL": "Florida",
    "GA": "Georgia",
    "HI": "Hawaii",
    "ID": "Idaho",
    "IL": "Illinois",
    "IN": "Indiana",
    "IA": "Iowa",
    "KS": "Kansas",
    "KY": "Kentucky",
    "LA": "Louisiana",
    "ME": "Maine",
    "MD": "Maryland",
    "MA": "Massachusetts",
    "MI": "Michigan",
    "MN": "Minnesota",
    "MS": "Mississippi",
    "MO": "Missouri",
    "MT": "Montana",
    "NE": "Nebraska",
    "NV": "Nevada",
    "NH": "New Hampshire",
    "NJ": "New Jersey",
    "NM": "New Mexico",
    "NY": "New York",
    "NC": "North Carolina",
    "ND": "North Dakota",
    "OH": "Ohio",
    "OK": "Oklahoma",
    "OR": "Oregon",
    "PA": "Pennsylvania",
    "RI": "Rhode Island",
    "SC": "South Carolina",
    "SD": "South Dakota",
    "TN": "Tennessee",
    "TX": "Texas",
    "UT": "Utah",
    "VT": "Vermont",
    "VA": "Virginia",
    "WA": "Washington",
    "WV": "West Virginia",
    "WI": "Wisconsin",
    "WY": "Wyoming",
}
# States that are also a word in capitals, or initials that a comma may precede.
_DOUBTFUL: Final = frozenset("CO DE HI ID IN LA MA ME MS OH OK OR PA".split())
_CITIES: Final = frozenset(
    "Bangor Boise Boulder Boston Cincinnati Cleveland Columbus Dayton Denver Eugene Gary Hilo Honolulu Indianapolis "
    "Jackson Norman Philadelphia Pittsburgh Portland Reading Salem Shreveport Toledo Tulsa Wilmington".split()
)
_COMPASS: Final = {
    "N": "North",
    "S": "South",
    "E": "East",
    "W": "West",
    "NE": "Northeast",
    "NW": "Northwest",
    "SE": "Southeast",
    "SW": "Southwest",
}
_SUFFIX: Final = (
    r"(?:St|Ave?|Rd|Blvd|Dr|Ln|Ct|Pl|Pkwy|Hwy|Cir|Ter|Sq|Street|Avenue|Road|Boulevard|Drive|Lane|Court|Place|Parkway|"
    r"Highway|Circle|Terrace|Square|Way|Broadway|Row|Close|Crescent|Gardens|Hill)\b"
)
_NAME: Final = r"(?:\d{1,3}(?:st|nd|rd|th)|[A-Z][a-z]+(?:'s)?)"
_POINT: Final = r"(?:[NS][EW]|[NESW])"

_ANY: Final = re.compile(r"[A-Z]{2}|\d[a-z]{2} [fF]l\b|\d{3}|(?<![A-Za-z'])[NESW](?![A-Za-z'])")
_HOUSE: Final = re.compile(
    rf"(?<![\w.,:/$€£#-])(?P<number>[1-9]\d{{2,4}})(?= (?:{_POINT}\.? )?(?:{_NAME} ){{0,3}}{_SUFFIX})"
)
_STATE: Final = re.compile(
    rf"(?<=[A-Za-z.], )(?P<state>{'|'.join(_STATES)})(?P<zip> \d{{5}}(?:-\d{{4}})?)?(?![\w&'’-]|\.\w)"
)
_CITY: Final = re.compile(r"(?:\b(?P<led>in|from|to|near|of|at|via|outside|around) )?(?P<city>[A-Z][A-Za-z.]+), $")
_ZIP: Final = re.compile(r"(?<![\w.,$€£-])\d{5}(?P<more>-\d{4})?(?![\w-]|[.,]\d)")
_ZIP_CUE: Final = re.compile(r"\b(?:[A-Z]{2} |D\.C\. |(?i:zip|postal code|postcode)\b[^\n]{0,32})$")
_BEFORE_STREET: Final = re.compile(rf"(?<![\w.'])(?P<point>{_POINT})\.?(?= (?:{_NAME} ){{1,3}}{_SUFFIX})")
_BEFORE_POINT: Final = ("on ", "onto ", "at ", "to ", "of ", "and ", "down ", "along ")
_PARTY: Final = re.compile(rf"(?<=\()(?P<party>[DRI])-(?P<state>{'|'.join(_STATES)})(?=\))")
_FLOOR: Final = re.compile(r"(?<=\d(?:st|nd|rd|th) )[fF]l(?:\.(?!\s*$)|(?=[.,;)]|\s|$))")
_NEAR: Final = 48
_BEHIND_STREET: Final = re.compile(rf"(?P<lead>{_SUFFIX}\.? )(?P<point>{_POINT})(?![\w'’&]|\.\w)")
_BEHIND_ROAD: Final = re.compile(
    r"(?P<lead>\b(?:I-|US-|SR-|Interstate |Highway |Hwy\.? |Route |Rte\.? )\d{1,3} )(?P<point>[NESW])(?![\w'’&-]|\.\w)"
)
_OF_PLACE: Final = re.compile(rf"(?<=[a-z\d] )(?P<point>{_POINT})(?= of (?:[A-Z]|the\b))")
_FAR: Final = re.compile(
    rf"(?P<lead>\d ?(?:mi|km|m|ft|miles?|blocks?|meters|feet)\.? (?:due )?)(?P<point>{_POINT})\.?"
    r"(?= (?:of|on|along|from)\b|[,;)])"
)
_HEADED: Final = re.compile(
    r"(?P<lead>\b(?:[Hh]ead(?:ed|ing|s)?|[Gg]o(?:ing|es)?|[Ff]ac(?:e|es|ing)|[Tt]urn(?:ed|ing)?|[Ff]l(?:y|ew|ying)"
    r"|[Ss]ail(?:ed|ing)?|[Ww]inds?|[Dd]rove|[Dd]riv(?:e|ing)) (?:due )?)(?P<point>[NS][EW])(?![\w'’&]|\.\w)"
)


def read(text: TrackedText) -> TrackedText:
    """House numbers, the compass beside streets and roads, states behind a city, and ZIP codes."""
    if _ANY.search(text.text) is None:
        return text
    if "(" in text.text:
        text = text.sub(_PARTY, lambda match: f"{match['party']}, {_STATES[match['state']]}")
    text = text.sub(_STATE, _state).sub(_ZIP, _zip)
    text = text.sub(_BEFORE_STREET, _point).sub(_HOUSE, lambda match: code(match["number"]))
    for pattern in (_BEHIND_STREET, _BEHIND_ROAD):
        text = text.sub(pattern, lambda match: match["lead"] + _COMPASS[match["point"]])
    for pattern in (_FAR, _HEADED):
        text = text.sub(pattern, lambda match: match["lead"] + _COMPASS[match["point"]].lower())
    text = text.sub(_FLOOR, "floor")
    return text.sub(_OF_PLACE, lambda match: _COMPASS[match["point"]].lower())


def _state(match: re.Match[str]) -> str | None:
    """The state, where a city stands before it; what may be a word needs a ZIP code or a place that is surely one."""
    city = _CITY.search(match.string[max(0, match.start() - _NEAR) : match.start()])
    if city is None:
        return None
    certain = match["zip"] or city["led"] or city["city"] in _CITIES or match["state"] not in _DOUBTFUL
    if not certain:
        return None
    return _STATES[match["state"]] + (f" {_digits(match['zip'].strip())}" if match["zip"] else "")


def _zip(match: re.Match[str]) -> str | None:
    """Five digits behind a state or the word "zip", and five with four more anywhere."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    return _digits(match.group()) if match["more"] or _ZIP_CUE.search(before) else None


def _digits(figure: str) -> str:
    return ", ".join(spelled(part) for part in figure.split("-"))


def _point(match: re.Match[str]) -> str | None:
    """A letter before a street's name: behind a house number or a preposition, or with a stop of its own."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    led = before[-2:-1].isdigit() or not before.strip() or before.endswith(_BEFORE_POINT)
    return _COMPASS[match["point"]] if led or len(match["point"]) == 2 or match.group().endswith(".") else None
