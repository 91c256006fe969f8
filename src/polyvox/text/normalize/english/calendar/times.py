"""Times of day."""

import re
from typing import Final

from polyvox.text.normalize.english.context import ends_sentence, word_after, word_before
from polyvox.text.normalize.english.numbers import ITEM_END, cardinal, spelled, two_digits
from polyvox.text.tracked import TrackedText

_START: Final = r"(?<![\w:-])(?<!\d[.,/])(?<![\s/]/)"
_HALF: Final = r" ?[aApP](?:\.[mM]|[mM])(?![A-Za-z])"
_SPAN: Final = re.compile(
    rf"{_START}\d{{1,2}}(?::\d{{2}})?(?:{_HALF}\.?)?(?P<dash> ?[-–—] ?)(?=\d{{1,2}}(?::\d{{2}}(?!\d)|{_HALF}))"
)
_UNTIL_NOON: Final = re.compile(
    rf"{_START}(?P<hour>\d{{1,2}})(?::(?:00|(?P<minute>\d\d)))?(?P<half>{_HALF}\.?)?"
    r" ?[-–—] ?(?=(?:noon|midnight)(?!\w))"
)
_FROM_NOON: Final = re.compile(rf"(?<=noon) ?[-–—] ?(?=\d{{1,2}}(?::\d\d|{_HALF}|(?![\d:%/-]|[.,]\d)))")
_PACE: Final = re.compile(
    r"(?P<time>(?<![\w:.])\d{1,2}:[0-5]\d(?:\.\d{1,2})?) ?/ ?(?P<of>mi|mile|km|k|lap|100 ?(?:m|yd|y)|500 ?m|400 ?m)\b"
    r"(?:\.(?= [a-z(]|[,;)]))?"
)
_UNDER: Final = re.compile(r"(?<=\b[Ss]ub)-(?P<time>\d{1,2}(?=:[0-5]\d(?!\d)))(?::00)?(?![\d:]\d{3})")
_LISTED: Final = re.compile(r"(?<=\d:[0-5]\d)/(?=\d{1,2}:[0-5]\d(?!\d))")
_SHORT_HOUR: Final = re.compile(r"(?P<hour>[1-9](?<![\w.,:/$-].)[0-2]?)(?P<half>[ap])(?!\w|\.\w)")
_BEFORE_HOUR: Final = re.compile(r"(?:\b(?:after|at|before|by|due|from|thru|through|til|till|until)|@|:\d\d ?[-–]) ?\Z")
_LENGTHS: Final = {"mi": "mile", "km": "kilometer", "k": "kilometer", "y": "yards", "yd": "yards", "m": "meters"}
_ROUGHLY: Final = re.compile(r"(?<=\d)ish(?!\w)")
_SHORT_HALF: Final = re.compile(r"(?<=\d:\d\d)[apAP](?!\w|\.\w)")
_SHORT_HALVES: Final = re.compile(
    rf"{_START}(?P<first>\d{{1,2}}(?::\d\d)?)(?P<from>[ap]) ?[-–] ?(?P<last>\d{{1,2}}(?::\d\d)?)(?P<to>[ap])(?!\w)"
)
_BRITISH_POINT: Final = re.compile(rf"(?<=\d)\.(?=[0-5]\d{_HALF})")
# Hours and minutes with a point, where a journey, a day or a door shows that they are no decimal.
_POINTED: Final = re.compile(
    r"(?:(?<=\b[Tt]he )|(?P<lead>\b(?:arr(?:iv(?:es?|ing|al))?|dep(?:art(?:s|ing|ure)?)?|leav(?:es?|ing)|[Kk]ick-?off"
    r"|[Kk]icks? off|KO|"
    r"doors(?: open)?|curtain(?: up)?|starts?|check-?in|last (?:bus|entry|orders|train)|(?:Mon|Tues?|Wednes|Thurs?"
    r"|Fri|Satur|Sun)"
    r"(?:day)?s?|F|open|lunch|dinner)\b[.):,]{0,2} (?:at |from |by )?"
    r"|\b(?:[Aa]rr|[Dd]ep)\b[.,:]? (?:[A-Z][a-z]+ ){1,2}(?:at )?))"
    r"(?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?![\w%]|[.,:/]\d)"
)
_POINT: Final = re.compile(r"\d\.[0-5]\d(?!\d)")
_JOURNEY: Final = re.compile(
    r" (?:to|from|for|via|out of|service|train|bus|ferry|flight|departure|sailing|Eurostar|kick-?off|start)\b| at [A-Z]"
)
_POINTED_TO: Final = re.compile(
    r"(?<=\d:\d\d)(?P<dash> ?[-–—] ?| to )(?P<hour>[01]?\d|2[0-3])(?:\.(?P<minute>[0-5]\d))?(?![\w%]|[.,:/]\d)"
)
_TIME: Final = re.compile(
    rf"{_START}(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}})(?:\.(?P<part>\d++))?)?"
    rf"(?P<zone>Z|[+-]\d\d:?\d\d)?"
    rf"(?P<half>{_HALF}(?P<dot>(?<=\.[mM])\.)?)?(?P<hours> ?(?:h|hrs?|hours)(?![A-Za-z]))?(?!\w|:\d|,\d{{3}})"
)
_HOUR: Final = re.compile(rf"{_START}(?P<hour>\d{{1,2}})(?P<half>{_HALF}(?P<dot>(?<=\.[mM])\.)?)")
_SHORT_SPAN: Final = re.compile(rf"{_START}\d{{1,2}}:\d{{2}}(?P<dash> ?[-–—] ?)(?=\d{{1,2}}(?![\d:%/-]|[.,]\d))")
_SHIFT: Final = re.compile(
    r"(?<![\w:.,/-])(0\d|1\d|2[0-3])([0-5]\d)(?: ?[-–—] ?| to )([01]\d|2[0-3])([0-5]\d)"
    rf"(?: ?(?P<hours>h|hrs|hours))?{ITEM_END}"
)
_MILITARY: Final = re.compile(r"(?<![\w:.,])([01]\d|2[0-3])([0-5]\d)(?P<zone>[LZ])?(?![\w:]|[.,]\d)")
_ZONE_LETTERS: Final = {"L": " local", "Z": " zulu"}
# Before a moment of the day, where elsewhere hours, minutes and seconds are how long something took.
_MOMENTS: Final = frozenset("at by until till since from after before around to between and".split())
_SPANS: Final = frozenset("in of took takes ran run runs lasted lasts length duration runtime time clocked for".split())
_BEFORE_RATIO: Final = frozenset(
    "grade gradient incline pitch slope ratio dilute diluted scale odds proportion mixed".split()
)
_BEHIND_RATIO: Final = frozenset("ratio scale dilution mix mixture odds blend".split())
_JOURNEYS: Final = frozenset(
    "boat briefing bus call crossing departure ferry flight sailing service shift start train tram".split()
)
_BEFORE_JOURNEY: Final = frozenset(
    "arr arrive arrived arrives arriving dep depart departed departs departing in left leaving leaves".split()
)
_ZONES: Final = frozenset("UTC GMT CET CEST BST IST EST EDT PST PDT JST Uhr".split())
_DATED: Final = re.compile(r"(?:\d|T|\d,|th,?|st,?|nd,?|rd,?|\[) ?$")


def read(text: TrackedText) -> TrackedText:
    """Times with minutes, full hours with a.m. or p.m., and what lies between two of them."""
    if "ish" in text.text:
        text = text.sub(_ROUGHLY, "-ish")
    if "ub-" in text.text:
        text = text.sub(_UNDER, r" \g<time>")
    if "/" in text.text:
        text = text.sub(_PACE, _pace).sub(_LISTED, ", ")
    text = text.sub(_SHORT_HOUR, _short_hour)
    if "noon" in text.text or "midnight" in text.text:
        text = text.sub(_UNTIL_NOON, _until_noon).sub(_FROM_NOON, " to ")
    if _POINT.search(text.text):
        text = _pointed(text)
    text = text.sub(_SHORT_HALVES, r"\g<first>\g<from>m-\g<last>\g<to>m")
    text = text.sub(_SHORT_HALF, lambda match: match.group() + "m").sub(_BRITISH_POINT, ":").sub(_SHIFT, _shift)
    for span in (_SPAN, _SHORT_SPAN):
        text = text.sub(span, lambda match: match.group()[: -len(match["dash"])] + " to ")
    return text.sub(_TIME, _time).sub(_HOUR, _hour).sub(_MILITARY, _military)


def _pointed(text: TrackedText) -> TrackedText:
    """ "The 17.42 to Leeds", "Mon-Fri 8.30-5" with colons."""
    pointed = text.sub(_POINTED, _with_colon)
    return text if pointed is text else pointed.sub(_POINTED_TO, _ending_with_colon)


def _with_colon(match: re.Match[str]) -> str | None:
    if match["lead"] is None and _JOURNEY.match(match.string, match.end()) is None:
        return None
    return f"{match['lead'] or ''}{match['hour']}:{match['minute']}"


def _ending_with_colon(match: re.Match[str]) -> str:
    return f"{match['dash']}{match['hour']}" + (f":{match['minute']}" if match["minute"] else "")


def _pace(match: re.Match[str]) -> str:
    """ "6:41/mi": how long each mile takes."""
    figures = match["of"].rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = match["of"].removeprefix(figures).strip()
    each = f"{cardinal(figures).removeprefix('one ')} " if figures else ""
    return f"{match['time']} per {each}{_LENGTHS.get(unit, unit)}"


def _short_hour(match: re.Match[str]) -> str | None:
    """ "by 5p"."""
    led = _BEFORE_HOUR.search(match.string, max(0, match.start() - 8), match.start())
    return f"{match.group()}m" if led and int(match["hour"]) <= 12 else None


def _until_noon(match: re.Match[str]) -> str:
    minute = f":{match['minute']}" if match["minute"] else ""
    return f"{match['hour']}{minute}{match['half'] or ''} to "


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return None
    if not match["half"] and (word_before(match).lower() in _BEFORE_RATIO or word_after(match) in _BEHIND_RATIO):
        return f"{cardinal(str(hour))} to {cardinal(str(minute))}"
    if _is_duration(match):
        if match["second"] is None:
            return _duration(0, 0, match["minute"])
        return _duration(hour, minute, match["second"], match["part"] or "")
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


def _is_duration(match: re.Match[str]) -> bool:
    """Return whether the figures tell how long something took or has left: "2:01:09", "0:42"."""
    if match["half"] or match["zone"] or match["hours"] or word_after(match) in _ZONES:
        return False
    if match["second"] is None:
        return match["hour"] == "0"
    before = word_before(match).lower()
    if before in _SPANS:
        return True
    short = len(match["hour"]) == 1 or match["hour"] == "00"
    start = match.start()
    dated = _DATED.search(match.string[max(0, start - 4) : start])
    told = bool(before) or match.string.endswith(": ", 0, start)
    return short and told and before not in _MOMENTS and dated is None


def _duration(hours: int, minutes: int, seconds: str, part: str = "") -> str:
    """ "two hours, one minute and nine seconds"; what is zero is left out."""
    counts = ((hours, "hour"), (minutes, "minute"), (0 if part else int(seconds), "second"))
    words = [f"{cardinal(str(count))} {unit}{'' if count == 1 else 's'}" for count, unit in counts if count]
    if part:
        words.append(f"{cardinal(str(int(seconds)))} point {spelled(part)} seconds")
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:]))) or "zero seconds"


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
    """A time without a colon: with "hrs" behind it, or before "hours" and behind "at" and such."""
    following = word_after(match)
    before = word_before(match)
    signed = match.string.endswith("@ ", 0, match.start())
    at_moment = signed or before in ("at", "by", "until", "from", "before", "after", "till", "NLT")
    if match["zone"]:
        told = at_moment or before in ("circa", "since", "to") or match["zone"] == "Z"
        return _on_the_radio(match.group()[:4]) + _ZONE_LETTERS[match["zone"]] if told else None
    early = match[1][0] == "0"
    journey = early and (following in _JOURNEYS or before.lower().rstrip(".") in _BEFORE_JOURNEY)
    if not (
        journey
        or following in _ZONES
        or following == "hrs"
        or (early and (at_moment or following == "hours"))
        or (at_moment and following == "hours")
    ):
        return None
    return _on_the_radio(match.group())
