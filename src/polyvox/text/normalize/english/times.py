"""Times of day."""

import re
from typing import Final

from polyvox.text.normalize.english.context import ends_sentence, word_after, word_before
from polyvox.text.normalize.english.numbers import ITEM_END, cardinal, two_digits
from polyvox.text.tracked import TrackedText

_START: Final = r"(?<![\w:-])(?<!\d[.,/])(?<![\s/]/)"
_HALF: Final = r" ?[aApP](?:\.[mM]|[mM])(?![A-Za-z])"
_SPAN: Final = re.compile(
    rf"{_START}\d{{1,2}}(?::\d{{2}})?(?:{_HALF}\.?)?(?P<dash> ?[-–—] ?)(?=\d{{1,2}}(?::\d{{2}}(?!\d)|{_HALF}))"
)
_ROUGHLY: Final = re.compile(r"(?<=\d)ish(?!\w)")
_SHORT_HALF: Final = re.compile(r"(?<=\d:\d\d)[ap](?!\w|\.\w)")
_BRITISH_POINT: Final = re.compile(rf"(?<=\d)\.(?=[0-5]\d{_HALF})")
_TIME: Final = re.compile(
    rf"{_START}(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}})(?:\.\d++)?)?(?P<zone>Z|[+-]\d\d:?\d\d)?"
    rf"(?P<half>{_HALF}(?P<dot>(?<=\.[mM])\.)?)?(?P<hours> ?(?:h|hrs?|hours)(?![A-Za-z]))?(?!\w|:\d|,\d{{3}})"
)
_HOUR: Final = re.compile(rf"{_START}(?P<hour>\d{{1,2}})(?P<half>{_HALF}(?P<dot>(?<=\.[mM])\.)?)")
_SHORT_SPAN: Final = re.compile(rf"{_START}\d{{1,2}}:\d{{2}}(?P<dash> ?[-–—] ?)(?=\d{{1,2}}(?![\d:%/-]|[.,]\d))")
_SHIFT: Final = re.compile(
    r"(?<![\w:.,/-])(0\d|1\d|2[0-3])([0-5]\d)(?: ?[-–—] ?| to )([01]\d|2[0-3])([0-5]\d)"
    rf"(?: ?(?P<hours>h|hrs|hours))?{ITEM_END}"
)
_MILITARY: Final = re.compile(r"(?<![\w:.,])0(\d)([0-5]\d)(?![\w:]|[.,]\d)")


def read(text: TrackedText) -> TrackedText:
    """Times with minutes, full hours with a.m. or p.m., and what lies between two of them."""
    if "ish" in text.text:
        text = text.sub(_ROUGHLY, "-ish")
    text = text.sub(_SHORT_HALF, lambda match: match.group() + "m").sub(_BRITISH_POINT, ":").sub(_SHIFT, _shift)
    for span in (_SPAN, _SHORT_SPAN):
        text = text.sub(span, lambda match: match.group()[: -len(match["dash"])] + " to ")
    return text.sub(_TIME, _time).sub(_HOUR, _hour).sub(_MILITARY, _military)


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return None
    if match["half"]:
        words = [cardinal(str(hour))]
        words += [two_digits(minute)] if minute else []
    else:
        words = [_on_24_hours(hour, minute, word_after(match), called=match["hours"] is not None)]
    if match["second"] and int(match["second"]):
        words.append(f"and {cardinal(str(int(match['second'])))} second{'' if match['second'] == '01' else 's'}")
    words += [_half(match)] if match["half"] else []
    words += ["hours"] if match["hours"] and not match["half"] else []
    return " ".join(words) + _zone(match["zone"] or "")


def _on_24_hours(hour: int, minute: int, following: str, *, called: bool) -> str:
    if called and not minute:
        return f"{'oh ' if hour < 10 else ''}{cardinal(str(hour))} hundred"
    if minute:
        return f"{cardinal(str(hour))} {two_digits(minute)}" if hour else f"twelve {two_digits(minute)} A.M"
    if hour == 0:
        return "midnight"
    if following in ("noon", "midnight"):
        return cardinal(str(hour))
    return f"{cardinal(str(hour))} o'clock" if hour <= 12 else f"{cardinal(str(hour))} hundred"


def _half(match: re.Match[str]) -> str:
    letters = "A.M" if match["half"].strip()[0] in "aA" else "P.M"
    return letters + ("." if match["dot"] and ends_sentence(match) else "")


def _zone(zone: str) -> str:
    if not zone:
        return ""
    if zone == "Z":
        return " UTC"
    figures = zone[1:].replace(":", "")
    minutes = f" {cardinal(figures[2:])}" if int(figures[2:]) else ""
    return f" UTC {'plus' if zone[0] == '+' else 'minus'} {cardinal(str(int(figures[:2])))}{minutes}"


def _hour(match: re.Match[str]) -> str | None:
    hour = int(match["hour"])
    return f"{cardinal(str(hour))} {_half(match)}" if 1 <= hour <= 12 else None


def _shift(match: re.Match[str]) -> str | None:
    """ "0900-1700"; without a leading zero or "hrs" it could be years."""
    first, last = match[1] + match[2], match[3] + match[4]
    if first[0] != "0" and not match["hours"]:
        return None
    return f"{_on_the_radio(first)} to {_on_the_radio(last)}{' hours' if match['hours'] else ''}"


def _on_the_radio(figures: str) -> str:
    hour, minute = int(figures[:2]), int(figures[2:])
    return f"{'oh ' if hour < 10 else ''}{cardinal(str(hour))} {two_digits(minute) if minute else 'hundred'}"


def _military(match: re.Match[str]) -> str | None:
    if word_after(match) not in ("hours", "hrs") and word_before(match) not in ("at", "by", "until", "from"):
        return None
    hour, minute = match.groups()
    return f"oh {cardinal(hour)} {two_digits(int(minute)) if int(minute) else 'hundred'}"
