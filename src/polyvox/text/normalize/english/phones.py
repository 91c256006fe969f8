"""Telephone numbers and other numbers that are read digit by digit."""

import re
from typing import Final

from polyvox.text.normalize.english.context import is_plural, word_after, word_before
from polyvox.text.normalize.english.numbers import spelled, spelled_in_groups
from polyvox.text.tracked import TrackedText

_START: Final = r"(?<![\w.,/$€£¥+-])"
_END: Final = r"(?![\w/-]|[.,]\d)"
_AMERICAN: Final = re.compile(
    rf"{_START}(?:\+?1[ .-]?)?(?:\(\d{{3}}\) ?|\d{{3}}(?P<mark>[ .-]))\d{{3}}(?(mark)(?P=mark)|[ .-])\d{{4}}{_END}"
)
_INTERNATIONAL: Final = re.compile(rf"{_START}\+\d[\d ().-]{{6,20}}\d{_END}")
_LOCAL: Final = re.compile(rf"{_START}\d{{3}}-\d{{4}}{_END}")
_SHORT: Final = re.compile(r"(?<=[A-Za-z.] )\d{3,8}(?!\w|[.,:]\d)")
_VANITY: Final = re.compile(
    r"(?<![\w.,/$€£¥+-])(?:1[ -])?8(?:00|33|44|55|66|77|88)[ -](?=[A-Z0-9-]{0,12}[A-Z]{3})[A-Z0-9]{1,12}"
    r"(?:-[A-Z0-9]{1,12}){0,3}(?![\w-])"
)
_SERVICE: Final = re.compile(
    r"(?<![\w.,:/$€£¥#+-])(?:[2-8]11|911|112|999|988|(?:(?<=[Rr]ing )|(?<=[Dd]ial )|(?<=[Cc]all )|(?<=[Pp]hone ))1\d\d)"
    r"(?![\w%:/-]|[.,]\d)"
)
_TEXT_TO: Final = re.compile(r"(?:(?<= to )|(?<=\b[Tt]ext ))\d{5,6}(?!\w|[.,:]\d)")
_FIVE_DIGITS: Final = re.compile(r"\d{5}")
_ASKED: Final = re.compile(
    r"\b(?:call|dial|phone|ring|text|line|hotline|helpline|emergency|emergencies)\b", re.IGNORECASE
)
_TEXTED: Final = re.compile(r"\b(?:te?xt|sms|send)\b", re.IGNORECASE)
_NEAR: Final = 60
_CARD: Final = re.compile(rf"{_START}\d{{4}}(?P<gap>[ -])(?:\d{{4}}(?P=gap)){{2}}\d{{1,4}}{_END}")
_AREA: Final = re.compile(rf"{_START}\((?:0\d{{1,4}}\) ?\d{{3,4}}[ -]?\d{{3,4}}|\d{{2,3}}\) ?\d{{4}}[ -]\d{{4}}){_END}")
# British numbers, which begin with a zero: "07700 900123", "020 7946 0018", "0800 1111".
_BRITISH: Final = re.compile(
    rf"{_START}0(?:\d{{4}} \d{{6}}|\d{{4}} \d{{3}} \d{{3}}|\d{{4}} \d{{2}} \d{{2}} \d{{2}}|\d{{3}} \d{{3}} \d{{4}}"
    rf"|\d{{3}} \d{{7}}"
    rf"|\d{{2}} \d{{4}} \d{{4}}|\d{{2}} \d{{8}}|(?:800|500) \d{{4,6}}|\d{{3}} \d{{3}} \d{{3}}"
    rf"|\d{{3}} \d{{3}} \d{{2}} \d{{2}}|[1-9]\d{{8,9}}){_END}"
)
_PHONE: Final = re.compile(r"(?<!\w)Ph(?=[:.] ?[+(\d])\.?")
_EXTENSION: Final = re.compile(r"(?<=\d{4}),? (?:x\.?|[Ee]xt\.?) ?(?=\d{1,5}(?!\w))")
_DIGITS: Final = re.compile(r"\d+")
_CALLS: Final = frozenset("call called calling calls dial dialed dialled dials ext ext. extension pin".split())


def read(text: TrackedText) -> TrackedText:
    """Cards, American, international and short numbers, emergency numbers and extensions."""
    if "Ph" in text.text:
        text = text.sub(_PHONE, "Phone")
    if "(" in text.text:
        text = text.sub(_AREA, _groups)
    text = (
        text.sub(_EXTENSION, ", extension ")
        .sub(_CARD, _groups)
        .sub(_BRITISH, _groups)
        .sub(_AMERICAN, _groups)
        .sub(_INTERNATIONAL, _international)
        .sub(_LOCAL, _groups)
    )
    text = text.sub(_VANITY, _vanity).sub(_SERVICE, _service)
    text = text.sub(_TEXT_TO, _texted) if _FIVE_DIGITS.search(text.text) else text
    return text.sub(_SHORT, _short)


def _short(match: re.Match[str]) -> str | None:
    called = word_before(match).lower() in _CALLS and not is_plural(word_after(match))
    return spelled(match.group()) if called else None


def _vanity(match: re.Match[str]) -> str:
    """A number with a word in it: the word is said, the figures are called."""
    parts = (_group(part) if part.isdigit() else part.lower() for part in re.split("[ -]", match.group()))
    return " ".join(parts)


def _service(match: re.Match[str]) -> str | None:
    """A number of three digits that a service answers: 911 nearly always, the others where somebody calls."""
    before, following = word_before(match), word_after(match)
    if is_plural(following) or before in ("Porsche", "Flight", "Room", "Route", "Highway"):
        return None
    asked = _ASKED.search(match.string[max(0, match.start() - _NEAR) : match.start()])
    return spelled(match.group()) if asked or match.group() == "911" else None


def _texted(match: re.Match[str]) -> str | None:
    asked = not is_plural(word_after(match)) and _TEXTED.search(
        match.string[max(0, match.start() - _NEAR) : match.start()]
    )
    return spelled(match.group()) if asked else None


def _groups(match: re.Match[str]) -> str:
    found = _DIGITS.findall(match.group())
    first = 1 if found[0] == "1" else 0
    groups = [_group(digits) if place == first else _digits(digits) for place, digits in enumerate(found)]
    return ("plus " if match.group()[0] == "+" else "") + ", ".join(groups)


def _group(digits: str) -> str:
    """The first group; the round ones of toll-free numbers are hundreds."""
    if digits in ("800", "900", "0800", "0300", "0500"):
        return f"{'oh ' if digits[0] == '0' else ''}{spelled(digits.lstrip('0')[0])} hundred"
    return _digits(digits)


def _digits(digits: str) -> str:
    return spelled_in_groups(digits) if len(digits) > 4 else spelled(digits)


def _international(match: re.Match[str]) -> str | None:
    return _groups(match) if 8 <= sum(char.isdigit() for char in match.group()) <= 15 else None
