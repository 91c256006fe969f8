"""Times of day."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import ends_sentence, word_before
from polyvox.text.normalize.malay.numbers import DASH, cardinal
from polyvox.text.tracked import TrackedText

_PARTS: Final = {
    written: part
    for part, forms in {
        "pagi": "pg pgi pagi",
        "tengah hari": "tghari tghhari tengahari tengahhari",
        "tengah malam": "tghmlm tghmalam tengahmlm tengahmalam",
        "petang": "ptg petang",
        "malam": "mlm malam",
        "subuh": "subuh",
    }.items()
    for written in forms.split()
}
_PART: Final = (
    r"(?i:pgi?|pagi|(?:tgh|tengah) ?(?:hari|malam|mlm)|tghari|tengahari|ptg|petang|mlm|malam|subuh"
    r"|[ap](?:\.m\.?|m))(?![A-Za-z0-9])"
)
_START: Final = r"(?<![\w:/-])(?<!\d[.,])"
_TO: Final = rf"(?:{DASH}| (?:hingga|sampai|to) )"
_CLOCK_WORD: Final = r"(?:(?<=pukul )|(?<=Pukul )|(?<=PUKUL )|(?<=jam )|(?<=Jam ))"
_NOON: Final = re.compile(r"(?<![\w.:,/-])(?P<time>(?:12|1)(?:[.:][0-5]\d)?) ?(?:tgh|tengah)\b(?! ?(?:hari|malam|mlm))")
# A stop between hour and minutes becomes a colon wherever something says that it is a time.
_STOP_BEFORE_PART: Final = re.compile(rf"(?<![\w:/])(?<!\d[.,])(\d{{1,2}})\.([0-5]\d)(?= ?{_PART})")
_STOP_BEHIND_WORD: Final = re.compile(rf"{_CLOCK_WORD}(\d{{1,2}})\.([0-5]\d)(?![\w:]|[.,]\d)")
_STOP_IN_SPAN: Final = re.compile(rf"{_START}(\d{{1,2}})\.([0-5]\d)(?={_TO}\d{{1,2}}(?::[0-5]\d)?(?: ?{_PART}))")
_STOP_BEHIND_SPAN: Final = re.compile(rf"(?<=:)([0-5]\d)({_TO})(\d{{1,2}})\.([0-5]\d)(?![\w:]|[.,]\d)")
_SPAN: Final = re.compile(rf"(?<=:)([0-5]\d)( ?{_PART})?{DASH}(?=\d{{1,2}}:[0-5]\d(?!\d)|\d{{1,2}} ?{_PART})")
_SPAN_OF_PARTS: Final = re.compile(rf"(?<=\d)(?P<gap> ?)(?P<part>{_PART}){DASH}(?=\d{{1,2}})")
_TIME: Final = re.compile(
    rf"{_START}(?P<hour>\d{{1,2}}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?: ?(?P<part>{_PART}))?(?![\w:])"
)
_HOUR: Final = re.compile(rf"{_START}(?P<hour>\d{{1,2}}) ?(?P<part>{_PART})")
_MILITARY: Final = re.compile(
    rf"(?:{_CLOCK_WORD}(?P<hour>[01]\d|2[0-4])(?P<minute>[0-5]\d)"
    r"|(?<![\w:.,])(?P<hour2>0\d)(?P<minute2>[0-5]\d)(?= ?(?:jam|hrs|hours)\b))"
    r"(?!\w|:\d|[.,]\d)(?: ?(?:jam|hrs|hours)\b)?"
)
_CLOCK_WORDS: Final = frozenset(("pukul", "jam"))


def read(text: TrackedText) -> TrackedText:
    """Times with minutes, full hours with a part of the day, and what lies between two of them."""
    text = text.sub(_NOON, r"\g<time> tengah hari")
    for pattern in (_STOP_BEFORE_PART, _STOP_BEHIND_WORD, _STOP_IN_SPAN):
        text = text.sub(pattern, r"\1:\2")
    text = text.sub(_STOP_BEHIND_SPAN, r"\1\2\3:\4")
    text = text.sub(_SPAN, lambda match: f"{match[1]}{match[2] or ''} hingga ").sub(_SPAN_OF_PARTS, _span_of_parts)
    return text.sub(_TIME, _time).sub(_HOUR, _hour).sub(_MILITARY, _military)


def _span_of_parts(match: re.Match[str]) -> str:
    return f"{match['gap']}{match['part']} hingga "


def _time(match: re.Match[str]) -> str | None:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if hour > 24:
        return None
    words = _clock(hour, minute, second, _part(match["part"], hour))
    alone = not minute and not second and not match["part"] and 1 <= hour <= 12
    if alone and word_before(match).lower() not in _CLOCK_WORDS:
        words = f"pukul {words}"
    return words + _stop(match)


def _clock(hour: int, minute: int, second: int, part: str) -> str:
    words = [cardinal(str(hour % 12 or 12))]
    if minute:
        words += (cardinal(str(minute)), "minit")
    if second:
        words += (cardinal(str(second)), "saat")
    return " ".join((*words, part)).rstrip()


def _part(written: str | None, hour: int) -> str:
    """The part of the day: as written, by a.m. and p.m., or by an hour that only a clock of 24 has."""
    if written and written[0] in "aApP" and written[1:].replace(".", "").lower() == "m":
        hour = hour % 12 + (12 if written[0] in "pP" else 0)
        return _part_of_day(hour)
    if written:
        return _PARTS[written.lower().replace(" ", "")]
    return _part_of_day(hour % 24) if hour == 0 or hour > 12 else ""


def _part_of_day(hour: int) -> str:
    if hour == 0:
        return "tengah malam"
    for end, part in ((12, "pagi"), (14, "tengah hari"), (19, "petang")):
        if hour < end:
            return part
    return "malam"


def _stop(match: re.Match[str]) -> str:
    return "." if match.group().endswith(".") and ends_sentence(match) else ""


def _hour(match: re.Match[str]) -> str | None:
    hour = int(match["hour"])
    if hour > 12:
        return None
    return _clock(hour, 0, 0, _part(match["part"], hour)) + _stop(match)


def _military(match: re.Match[str]) -> str:
    """Four figures behind "jam" or "pukul", or before "jam", are hour and minute."""
    hour, minute = int(match["hour"] or match["hour2"]), int(match["minute"] or match["minute2"])
    words = _clock(hour, minute, 0, _part(None, hour) or ("pagi" if hour < 12 else "tengah hari"))
    return words if match["hour"] else f"jam {words}"
