"""Numbers and a half, a quarter or three quarters, which have words of their own before what is weighed, timed "
"or counted."""

import re
from typing import Final

from polyvox.text.normalize.hindi.numbers import DASH, cardinal
from polyvox.text.tracked import TrackedText

_UNITS: Final = {
    "kgs": "किलो",
    "kg": "किलो",
    "Kg": "किलो",
    "KG": "किलो",
    "km": "किलोमीटर",
    "L": "लीटर",
    "l": "लीटर",
    "ltr": "लीटर",
    "hrs": "घंटे",
    "hr": "घंटे",
    "h": "घंटे",
    "Ton": "टन",
    "ton": "टन",
    "tonne": "टन",
    "inch": "इंच",
    "ft": "फ़ुट",
    "Cr": "करोड़",
    "cr": "करोड़",
}
_WORDS: Final = (
    "लाख|करोड़|करोड़|हज़ार|हजार|अरब|घंटे|घंटा|घंटों|किलो|लीटर|टन|साल|वर्ष|महीने|माह|दिन|कप|चम्मच|चमच|फुट|फ़ुट|फीट|गुना|गुणा|पैकेट"
    "|बजे|इंच|एकड़|एकड़|बीघा|मील|पाव|दर्जन|गज"
)
_UNIT: Final = (
    rf"(?P<unit>(?:{_WORDS})(?![\u0900-\u0963\u0966-\u097f])|(?:{'|'.join(_UNITS)})(?![A-Za-z0-9/²³\u0900-\u0963]))"
)
_PARTED: Final = r"(?:\d{1,3}\.50?(?!\d)|(?:\d{1,3} ?)?[½¼¾])"
_WHOLE: Final = r"\d{1,3}(?![\d.½¼¾])"
_START: Final = r"(?<![\d.,/:A-Za-z₹$€£-])(?<!\d )"
_SPAN: Final = re.compile(rf"{_START}(?P<first>{_PARTED}|{_WHOLE}){DASH}(?P<last>{_PARTED}|{_WHOLE}) ?(?={_UNIT})")
_ONE: Final = re.compile(rf"{_START}(?P<first>{_PARTED}) ?{_UNIT}")
_MIXED: Final = re.compile(r"(?<![\d.,/])(?P<first>\d{1,3} ?[½¼¾])(?![\d/])")
_POINTS: Final = re.compile(r"(?<![\d.,/])(?P<first>\d{1,3}½)[-–](?P<last>\d{1,3}½)(?![\d/])")
_SIGN: Final = re.compile(r"[½¼¾]|\.5")
_HALF: Final = {1: "डेढ़", 2: "ढाई"}
_ALONE: Final = {"½": "आधा", "¼": "एक चौथाई", "¾": "तीन चौथाई"}


def read(text: TrackedText) -> TrackedText:
    """Amounts before a unit, from one to another too, and whole numbers with a sign of a fraction."""
    if _SIGN.search(text.text) is None:
        return text
    text = text.sub(_SPAN, _span).sub(
        _ONE, lambda match: f"{half(match['first'])} {_UNITS.get(match['unit'], match['unit'])}"
    )
    text = text.sub(_POINTS, _points)
    return text.sub(_MIXED, lambda match: half(match["first"]))


def _points(match: re.Match[str]) -> str | None:
    """Points of two players; None for a span, which goes up."""
    first, last = float(match["first"][:-1]), float(match["last"][:-1])
    return f"{half(match['first'])} {half(match['last'])}" if first >= last else None


def half(written: str) -> str:
    """ "2.5", "6½" or "7" in words: ढाई, साढ़े छह, सात."""
    sign = written[-1] if written[-1] in _ALONE else "½" if ".5" in written else ""
    whole = written.removesuffix(sign).strip().partition(".")[0]
    if not sign:
        return cardinal(whole)
    value = int(whole or "0")
    if not value:
        return _ALONE[sign]
    if sign == "¼":
        return "सवा" if value == 1 else f"सवा {cardinal(whole)}"
    if sign == "¾":
        return f"पौने {cardinal(str(value + 1))}"
    return _HALF.get(value) or f"साढ़े {cardinal(whole)}"


def _span(match: re.Match[str]) -> str | None:
    """None for two whole numbers."""
    if not _SIGN.search(match["first"] + match["last"]):
        return None
    return f"{half(match['first'])} से {half(match['last'])} "
