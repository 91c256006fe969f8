"""Times of day."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import ends_sentence, last_words, word_after, word_before
from polyvox.text.normalize.malay.numbers import DASH, cardinal, number
from polyvox.text.tracked import TrackedText

_PARTS: Final = {
    written: part
    for part, forms in {
        "pagi": "pg pgi pagi",
        "tengah hari": "tghari tghhari tengahari tengahhari t/hari t/hri",
        "tengah malam": "tghmlm tghmalam tengahmlm tengahmalam t/malam t/mlm",
        "petang": "ptg petang",
        "malam": "mlm malam",
        "subuh": "subuh",
    }.items()
    for written in forms.split()
}
_PART: Final = (
    r"(?i:pgi?|pagi|(?:tgh|tengah) ?(?:hari|malam|mlm)|t/(?:hari|hri|malam|mlm)|tghari|tengahari|ptg|petang"
    r"|mlm|malam|subuh|[ap](?:\.m\.?|m))(?![A-Za-z0-9])"
)
_ENGLISH_PART: Final = re.compile(r"[ap]\.?m\.?", re.IGNORECASE)
_START: Final = r"(?<![\w:/-])(?<!\d[.,])"
_TO: Final = rf"(?:{DASH}| (?:hingga|sampai|to) )"
_CLOCK_WORD: Final = (
    r"(?:(?<=pukul )|(?<=Pukul )|(?<=PUKUL )|(?<=jam )|(?<=Jam )|"
    r"(?<=\bkol )|(?<=\bKol )|(?<=\bkul )|(?<=\bpkl )|(?<=\bpkl\. ))"
)
_NOON: Final = re.compile(
    r"(?<![\w.:/-])(?<!\d,)(?P<time>(?:12|1)(?:[.:][0-5]\d)?) ?(?:tgh|tengah)\b(?! ?(?:hari|malam|mlm))"
)
# The hours of prayer, which are told to the minute.
_PRAYER: Final = re.compile(
    r"(?i:\b(?P<prayer>imsak|subuh|syuruk|isyraq|dhuha|zohor|asar|maghrib|isyak|berbuka|sahur)(?: (?:pada|jam))?)[: ] ?"
    r"(?P<hour>1[0-2]|[1-9])\.(?P<minute>[0-5]\d)(?![\w:%]|[.,]\d| ?(?:%|RM|-|–))"
)
# A stop between hour and minutes becomes a colon wherever something says that it is a time.
_STOP_BEFORE_PART: Final = re.compile(rf"(?<![\w:/])(?<!\d[.,])(\d{{1,2}})\.([0-5]\d)(?= ?{_PART})")
_STOP_BEHIND_WORD: Final = re.compile(rf"{_CLOCK_WORD}(\d{{1,2}})\.([0-5]\d)(?![\w:]|[.,]\d)")
_STOP_IN_SPAN: Final = re.compile(rf"{_START}(\d{{1,2}})\.([0-5]\d)(?={_TO}\d{{1,2}}(?::[0-5]\d)?(?: ?{_PART}))")
_STOP_BEHIND_SPAN: Final = re.compile(rf"(?<=:)([0-5]\d)({_TO})(\d{{1,2}})\.([0-5]\d)(?![\w:]|[.,]\d)")
# Behind a day or its part, and behind what happens at a time, round minutes are a time and no decimals.
_CHAT_TIME: Final = re.compile(
    r"(?i:\b(?P<word>pagi|petang|malam|esok|lusa|tadi|nanti|semalam|isnin|selasa|rabu|khamis|jumaat|sabtu|ahad"
    r"|hari ini|hari ni"
    r"|mula|bermula|start|jumpa|gerak|bertolak|berlepas|tiba|sampai|buka|tutup|habis|mesyuarat|meeting|kelas|sebelum|selepas|lepas"
    r"|check-in|check-out|dalam|around|rehat|boarding|masuk|pulang|balik|berbuka|sahur|imsak|subuh|zohor|asar|maghrib|isyak"
    r"|azan|kickoff|tayangan|wayang|majlis|kenduri)(?: (?:ni|tu|ini|itu|nanti|pada|kul))?) "
    r"(?P<hour>1[0-2]|[1-9])\.(?P<minute>[0-5][05])(?![\w:%]|[.,]\d| ?(?:%|RM|-|–))"
)
_STOPPED: Final = re.compile(r"\d\.[0-5][05](?!\d)")
_MEASURED: Final = frozenset(
    "mata juta bilion ribu peratus ringgit kg km meter kilometer kilogram liter saat darjah gram cm mm tan kali "
    "gb sen jam minit hari minggu bulan tahun unit ml hektar ekar inci kaki lot bait".split()
)
_LAP: Final = re.compile(r"(?<![\w.:])(?P<minute>\d{1,2}):(?P<second>[0-5]\d)(?P<part>\.\d{1,2})?(?![\w:]|[.,]\d)")
_RACE: Final = re.compile(r"(?i:\b(?:larian|maraton|marathon|pelari|lumba|renang|kayuhan|\d+ ?km:))")
_RUNNING: Final = frozenset("dalam masa catat catatan mencatat pace rekod".split())
_SPAN: Final = re.compile(rf"(?<=:)([0-5]\d)( ?{_PART})?{DASH}(?=\d{{1,2}}:[0-5]\d(?!\d)|\d{{1,2}} ?{_PART})")
_SPAN_OF_PARTS: Final = re.compile(rf"(?<=\d)(?P<gap> ?)(?P<part>{_PART}){DASH}(?=\d{{1,2}})")
_TIME: Final = re.compile(
    rf"{_START}(?P<hour>\d{{1,2}}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?: ?(?P<part>{_PART}))?(?![\w:])"
)
_HOUR: Final = re.compile(rf"{_START}(?P<hour>\d{{1,2}}) ?(?P<part>{_PART})")
_MILITARY: Final = re.compile(
    rf"(?:{_CLOCK_WORD}(?P<hour>[01]\d|2[0-4])(?P<minute>[0-5]\d)"
    r"|(?<![\w:.])(?<!\d,)(?P<hour2>0\d)(?P<minute2>[0-5]\d)(?= ?(?:jam|hrs|hours)\b))"
    r"(?!\w|:\d|[.,]\d)(?: ?(?:jam|hrs|hours)\b)?"
)
_CLOCK_WORDS: Final = frozenset("jam kol kul pkl pukul".split())
# Behind these a time goes on from one that was said to be one.
_GOES_ON: Final = frozenset(("hingga", "sampai", "to"))
_OR: Final = re.compile(rf"(?<=\d)(?P<part> ?{_PART}) ?/ ?(?=\d{{1,2}}(?:[.:][0-5]\d)? ?{_PART})")
_CLOCK_SPAN: Final = re.compile(
    rf"(?<![\w.:/-])(?<!\d,)(?P<hour>[01]\d|2[0-4])(?P<minute>[0-5]\d){_TO}(?P<hour2>[01]\d|2[0-4])(?P<minute2>[0-5]\d)"
    r"(?: ?(?:hrs|hours|jam)\b)?(?![\w/]|[.,:-]\d)"
)
_CLOCK_ALONE: Final = re.compile(r"(?<=[a-z] )(?P<hour>[01]\d|2[0-4])(?P<minute>[0-5]\d)(?!\w|[.,:/-]\d)")
# What runs by the clock; elsewhere four digits are a year or a count.
_TIMED: Final = frozenset(
    "boarding jam kuliah masa operasi pejabat pukul rehat shift sift syif waktu kaunter lawatan latihan".split()
)
_NUMBERED: Final = frozenset(
    "akaun booking code invois invoice kod no nombor pesanan polisi ref resit ruj rujukan siri tempahan".split()
)
_HAPPENS: Final = frozenset("berlepas bertolak bermula keluar kick-off masuk tamat tiba".split())
_SCHEDULED: Final = frozenset("bas daftar feri flight keretapi penerbangan perlawanan tren".split())
# Words that a length of time stands behind.
_LASTING: Final = frozenset("masa catatan tempoh selama durasi rekod".split())
_UNITS: Final = ("jam", "minit", "saat")


def read(text: TrackedText) -> TrackedText:
    """Times with minutes, full hours with a part of the day, and what lies between two of them."""
    text = text.sub(_NOON, r"\g<time> tengah hari").sub(_OR, r"\g<part> atau ")
    for pattern in (_STOP_BEFORE_PART, _STOP_BEHIND_WORD, _STOP_IN_SPAN):
        text = text.sub(pattern, r"\1:\2")
    text = text.sub(_STOP_BEHIND_SPAN, r"\1\2\3:\4")
    text = text.sub(_PRAYER, r"\g<prayer> \g<hour>:\g<minute>") if "." in text.text else text
    if _STOPPED.search(text.text):
        text = text.sub(_CHAT_TIME, _chat_time)
    if ":" in text.text:
        text = text.sub(_LAP, _lap)
    text = text.sub(_SPAN, lambda match: f"{match[1]}{match[2] or ''} hingga ").sub(_SPAN_OF_PARTS, _span_of_parts)
    text = text.sub(_CLOCK_SPAN, _clock_span)
    return text.sub(_TIME, _time).sub(_HOUR, _hour).sub(_MILITARY, _military).sub(_CLOCK_ALONE, _clock_alone)


def _chat_time(match: re.Match[str]) -> str | None:
    if word_after(match).lower() in _MEASURED:
        return None
    minute = int(match["minute"])
    words = [match.group()[: match.start("hour") - match.start() - 1], "pukul", cardinal(match["hour"])]
    return " ".join((*words, cardinal(str(minute))) if minute else words)


def _lap(match: re.Match[str]) -> str | None:
    """Minutes and seconds of a race."""
    raced = word_before(match).lower() in _RUNNING or _RACE.search(match.string)
    if not raced or match.group().startswith("0"):
        return None
    return f"{cardinal(match['minute'])} minit {number(str(int(match['second'])) + (match['part'] or ''))} saat"


def _span_of_parts(match: re.Match[str]) -> str:
    return f"{match['gap']}{match['part']} hingga "


def _time(match: re.Match[str]) -> str | None:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if hour > 24:
        return None
    if match["second"] and not match["part"] and word_before(match).lower() in _LASTING:
        return " ".join(
            f"{cardinal(str(part))} {name}" for part, name in zip((hour, minute, second), _UNITS, strict=True)
        )
    words = _clock(hour, minute, second, _part(match["part"], hour))
    alone = not minute and not second and not match["part"] and 1 <= hour <= 12
    return _at_clock(match, alone=alone) + words + _stop(match)


def _at_clock(match: re.Match[str], *, alone: bool = False) -> str:
    """ "pukul ", where a time stands alone or is written with the English a.m. or p.m., and no word says it yet."""
    before = word_before(match).lower().rstrip(".")
    english = match["part"] and _ENGLISH_PART.fullmatch(match["part"]) and before not in _GOES_ON
    return "pukul " if (alone or english) and before not in _CLOCK_WORDS else ""


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
    return _at_clock(match) + _clock(hour, 0, 0, _part(match["part"], hour)) + _stop(match)


def _clock_span(match: re.Match[str]) -> str | None:
    """Two times of four digits; without a nought in front, only where the words before speak of the clock."""
    before = last_words(match)
    if before & _NUMBERED or not (match["hour"][0] == "0" or match["hour2"][0] == "0" or before & _TIMED):
        return None
    first = _full(int(match["hour"]), int(match["minute"]))
    at = "" if word_before(match).lower() in _CLOCK_WORDS else "pukul "
    return f"{at}{first} hingga {_full(int(match['hour2']), int(match['minute2']))}"


def _clock_alone(match: re.Match[str]) -> str | None:
    """Four digits behind what happens at a time, in a sentence of timetables."""
    if word_before(match).lower() not in _HAPPENS or not last_words(match, reach=32) & _SCHEDULED:
        return None
    return f"pukul {_full(int(match['hour']), int(match['minute']))}"


def _full(hour: int, minute: int) -> str:
    """A time of the clock of 24 hours, with its part of the day."""
    return _clock(hour, minute, 0, _part(None, hour) or ("pagi" if hour < 12 else "tengah hari"))


def _military(match: re.Match[str]) -> str:
    """Four figures behind "jam" or "pukul", or before "jam", are hour and minute."""
    hour, minute = int(match["hour"] or match["hour2"]), int(match["minute"] or match["minute2"])
    words = _full(hour, minute)
    return words if match["hour"] else f"jam {words}"
