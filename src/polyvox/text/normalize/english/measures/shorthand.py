"""Shorthand of measures, written out before the units are read: "2 lg eggs", "75th %ile", "384 MtCO2e"."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_PERCENTILE: Final = re.compile(r"(?<=\d(?:st|nd|rd|th)) ?-?%-?(?P<tile>ile|tile)?(?P<many>s)?(?!\w)")
# What a percentage is of: "5 wt%".
_SHARE_OF: Final = re.compile(r"(?<=\d) ?(?P<of>wt|vol|mol)\.? ?%")
_SHARES: Final = {"wt": "weight", "vol": "volume", "mol": "mole"}
# Sizes and heats of a recipe: "2 lg eggs", "med-high".
_SIZES: Final = re.compile(
    r"(?:(?<=\d )(?P<size>lg|sm|med|xl|lge)|(?<=\b[Aa] )(?P<one>lge?|sm))\.? (?=[a-z]{3})|(?<![\w-])"
    r"(?P<heat>[Mm]ed)\.?(?P<joint>[- ])(?=(?:high|low|heat|hot|rare|well|bowl)\b)"
)
_SIZE_NAMES: Final = {"lg": "large", "lge": "large", "sm": "small", "med": "medium", "xl": "extra large"}
_ANY_SIZE: Final = re.compile(r"[ (](?:lge?|sm|xl|med)\b|Med\b")
_CARBON: Final = re.compile(r"(?<=\d) ?(?P<scale>[kMG])?t ?CO2(?P<equal>e|eq)?(?!\w)")
_TONS: Final = {"k": "thousand ", "M": "million ", "G": "billion ", None: ""}
_INCHES_TO: Final = re.compile(r"(?<=\d)[\"″] ?[-–] ?(?=\d{1,3}(?:\.\d{1,2})?[\"″])")
# What of a memory is in use: "3.2/8 GiB".
_USED: Final = re.compile(r"(?<=\d\.\d)/(?=\d{1,4}(?:\.\d)? ?[KMGTP]i?B\b)")
# The temperatures of a day: "22/14°C".
_HIGH_AND_LOW: Final = re.compile(r"(?<=\d)/(?=-?\d{1,3} ?°)|(?<=\d°)/(?=-?\d{1,3})|(?<=\d°[CF])/(?=-?\d{1,3})")


def read(text: TrackedText) -> TrackedText:
    """Each in the form that the readers of units know, or in words."""
    if "CO2" in text.text:
        text = text.sub(_CARBON, _carbon)
    if "%" in text.text:
        text = text.sub(_PERCENTILE, r" percentile\g<many>")
        text = text.sub(_SHARE_OF, lambda match: f" {_SHARES[match['of']]} percent")
    if '"' in text.text or "″" in text.text:
        text = text.sub(_INCHES_TO, "-")
    if "/" in text.text:
        text = text.sub(_HIGH_AND_LOW, ", ").sub(_USED, " of ")
    return text.sub(_SIZES, _size) if _ANY_SIZE.search(text.text) else text


def _carbon(match: re.Match[str]) -> str:
    """ "384 MtCO2e"."""
    return f" {_TONS[match['scale']]}tons C.O two{' E' if match['equal'] else ''}"


def _size(match: re.Match[str]) -> str:
    return f"{match['heat']}ium{match['joint']}" if match["heat"] else f"{_SIZE_NAMES[match['size'] or match['one']]} "
