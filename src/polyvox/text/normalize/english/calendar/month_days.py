"""Days without a year, "6/11" and "6/11-7/10", told from fractions and ratings."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.english.context import NOT_NOUNS, is_plural, word_after
from polyvox.text.normalize.english.numbers import ordinal, year
from polyvox.text.tracked import TrackedText

MONTHS: Final = {
    name[:3].lower(): name
    for name in ("January February March April May June July August September October November December".split())
}
BEFORE_DATE: Final = frozenset(
    (
        "on due dated date date's deadline until til thru monday tuesday wednesday thursday friday saturday sunday "
        "effective eff rsvp eod cob eob avail available dividend div notes agenda recap standup eta shipped ships "
        "exp expires expiring "
        "letters editorial editorials op-ed post posts airs premieres drops rec'd recd rcvd mailed postmarked "
        "filed billed gmt bst utc et pt ct "
        "commencing ending beginning ex-div payable am pm a.m p.m noon "
        "midnight lmp edd edc arraigned effect"
    ).split()
)
_LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_START: Final = r"(?<![\w/.,:$€£¥#*^+-])(?<!\d )"
_END: Final = r"(?![\w/%]|[.,:]\d| of\b)"
_DAY: Final = re.compile(rf"{_START}(?P<first>\d{{1,2}})/(?P<last>\d{{1,2}})(?:[-–](?P<upto>\d{{1,2}}))?{_END}")
_SPAN: Final = re.compile(
    rf"{_START}(\d{{1,2}})/(\d{{1,2}})(?: ?[-–—] ?| (?P<joint>to|through|thru|until|and) )(\d{{1,2}})/(\d{{1,2}}){_END}"
)
_TO_YEAR: Final = re.compile(
    rf"{_START}(?P<first>\d{{1,2}})/(?P<last>\d{{1,2}}) ?[-–—] ?(?=\d{{1,2}}/\d{{1,2}}/(?:\d{{4}}|\d\d)(?!\d))"
)
_MONTH: Final = re.compile(r"(?<![\w/.,$-])(?P<month>0?[1-9]|1[0-2])/(?P<year>20\d\d)(?![\w/%]|[.,]\d)")
_MONTH_IN: Final = re.compile(
    r"(?P<lead>\b(?:in|since) )(?P<month>0?[1-9]|1[0-2])/(?P<year>1[7-9]|2\d|3[01])"
    r"(?![\w/%\"″-]|[.,]\d| (?:in|inch|cup|of|[a-z]+s)\b)"
)
_LEAD: Final = re.compile(
    r"(?P<word>[A-Za-z'.]*[A-Za-z'])[.,:]?,? \(?(?:(?:about|around|approximately|roughly|approx\.|COB|EOD|EOB) )?\Z"
)
_LISTED: Final = re.compile(r"(?:, |; |[(&/] ?|[-–—] )\Z")
_WEEK_OF: Final = re.compile(
    r"\b(?:[Ww]k\.?|[Ww]eek|[Nn]ight|[Mm]orning|[Ee]vening|[Aa]s|[Nn]ote|[Ll]etter|[Ll]tr\.?|[Ee]-?mail|[Cc]all|[Cc]onversation|[Mm]emo|[Mm]essage|[Mm]sg"
    r"|[Ii]nvoice|[Mm]eeting|[Mm]tg|[Ss]tatement|[Ii]ssue) of \Z"
)
_DAY_BEFORE: Final = re.compile(r"day[.,]{0,2} \(?\Z")
_PERIOD: Final = re.compile(
    r"\b(?:away|billing|break|closed|closure|cycle|dates?|from|off|office|period|runs?|sale|service|stay|stmt"
    r"|statement|travel|"
    r"trip|usage|vacation|visit|window)\b[^\n]{0,16}\Z",
    re.IGNORECASE,
)
_DEADLINE: Final = re.compile(
    r"\b(?:apply|arrives?|back|book|complete|confirm|deliver(?:ed)?|done|due|enroll|finish(?:ed)?|here|mailed|need"
    r"(?:ed)?|"
    r"order|paid|pay|postmarked|ready|receive[ds]?|register|renew|reply|respond|return(?:ed)?|rsvp|send|sent|ships?"
    r"|sign|"
    r"submit(?:ted)?|vote)\b[^.;\n]{0,32} by \Z",
    re.IGNORECASE,
)
_HOUR_BEHIND: Final = re.compile(
    r",? (?:(?:@|at|from) ?\d|\d{1,2}(?::\d\d)?(?:[-–]\d{1,2}(?::\d\d)?)? ?[apAP]\.?[mM]?\b|noon\b)"
    r"|,? \(?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:[a-z]{0,3}day)?\b"
)
_MEASURED: Final = re.compile(
    r"[-\"”″]| ?(?:cups?|c\.|in\b|inch|lbs?|mi\b|miles?|oz|qts?\b|pts?\b|gal|yards?|yds?\b|tb?sp|share|split|scale|"
    r"right\b|correct|passed|done\b|[+=*×-] )"
)
_OWNERS: Final = frozenset("a her his my our the their your".split())
_EVENT: Final = re.compile(
    r" (?:agenda|appointment|call|class|concert|deadline|deploy|deposit|exam|e-?mail|event|flight|game|hearing"
    r"|invoice|lab|launch|lecture|letter|match|meeting|memo|"
    r"message|minutes|note|order|outage|party|payment|post|practice|quiz|release|report|reservation|sale|seminar"
    r"|schedule|parade|holiday|weekend|fireworks|closure|session|show|standup|statement|test|tweet|wedding|visit|webinar)s?\b"
)
# Days that no common fraction is counted by.
_DAYS_ONLY: Final = frozenset((13, 14, 15, 17, 18, 19, 21, 22, 23, 26, 27, 28, 29, 30, 31))
_SELDOM_PARTS: Final = frozenset((7, 9, 11, *_DAYS_ONLY))
_SCALES: Final = frozenset((5, 10))
_PLAIN: Final = frozenset(((1, 2), (1, 3), (2, 3), (1, 4), (3, 4)))
_AROUND_DATE: Final = frozenset(
    "is was applied charged credited delivered ordered paid refunded signed submitted "
    "by before after from since through thru till start starts started starting begin begins "
    "beginning end ends "
    "ending expires renews closes closed opens opened moved posted updated launches launched ships arrives".split()
)
# What a day is told of, where "is 10/10" may praise: "the deadline is 10/10".
_DATED: Final = re.compile(
    r"\b(?:anniversary|appointment|appt|b-?day|birthday|closing|date|day|deadline|due|election|exam|flight|hearing"
    r"|interview|launch|meeting|mtg|party|release|test|today|trip|wedding)\b",
    re.IGNORECASE,
)
# What figures with a stroke count or rate: "slides 3/14 and 4/14", "Apgars 8/9 and 9/9".
COUNTED_PARTS: Final = re.compile(
    r"\b(?P<of>[Aa]pgars?|APGARs?|[Gg]rade|[Ss]lides?|[Pp]ages?|[Pp]arts?|[Ee]pisodes?|[Ll]essons?|[Qq]uestions?"
    r"|[Ss]heets?|[Ss]teps?|"
    r"[Tt]racks?|[Ll]evels?|[Pp]hotos?|[Ll]aps?|[Cc]hapters?|[Dd]ays?|[Rr]ounds?|[Ss]tages?|[Ww]eeks?|[Ss]core[ds]?"
    r"|[Pp]ain|GCS|[Pp]ower|[Ss]trength)"
    r"(?: of)?:? (?:\d{1,2}/\d{1,2}(?:,|,? and|,? &|,? or| ?[-–]|,? then|,? to) ?)*\Z"
)
_JOINING: Final = frozenset("and or not but then again back to through thru until till by on for plus between".split())
_NEAR: Final = 48


@dataclass(frozen=True, slots=True)
class _Days:
    """The reader of one text: which figure comes first, and whether the text surely has such a day."""

    day_first: bool
    known: bool = False

    def order(self, first: str, last: str) -> tuple[int, int]:
        return (int(last), int(first)) if self.day_first else (int(first), int(last))

    def is_certain(self, match: re.Match[str]) -> bool:
        """Return whether the figures must be a day: by themselves, or by what stands beside them."""
        if COUNTED_PARTS.search(match.string, max(0, match.start() - _NEAR), match.start()):
            return False
        month, day = self.order(match["first"], match["last"])
        if not is_day(month, day):
            return False
        before = match.string[max(0, match.start() - _NEAR) : match.start()]
        counted = is_plural(word_after(match)) or _MEASURED.match(match.string, match.end()) is not None
        if day in _DAYS_ONLY and not counted:
            return before[-1:].strip() in ("", "(", "“", '"') and not before.rstrip().endswith(("|", "="))
        lead = _LEAD.search(before)
        word = lead["word"].lower() if lead else ""
        padded = match["last"][0] == "0" and match["last"] != "0"
        if word in _OWNERS and _EVENT.match(match.string, match.end()):
            return True
        if padded or word in BEFORE_DATE or _HOUR_BEHIND.match(match.string, match.end()) is not None:
            return True
        if _DAY_BEFORE.search(before) or (word == "of" and _WEEK_OF.search(before)):
            return True
        first, last = int(match["first"]), int(match["last"])
        if word in ("is", "was") and first == last in _SCALES and _DATED.search(before) is None:
            return False
        unlike_fraction = match["first"][0] == "0" or first >= last or last > 10 or last in _SELDOM_PARTS
        if unlike_fraction and (word in _AROUND_DATE or match["first"][0] == "0"):
            return True
        return word == "by" and _DEADLINE.search(before) is not None

    def are_in(self, text: str) -> bool:
        """Return whether one figure must be a day, or two would be odd as fractions."""
        found = list(_DAY.finditer(text))
        odd = [match for match in found if self._is_odd(match)]
        return len(odd) > 1 or any(self.is_certain(match) for match in found)

    def _is_odd(self, match: re.Match[str]) -> bool:
        first, last = match["first"], match["last"]
        odd = int(first) > int(last) or int(last) in _SELDOM_PARTS
        return odd and is_day(*self.order(first, last)) and not is_plural(word_after(match))

    def day(self, match: re.Match[str]) -> str | None:
        if self._is_turned(match):
            return day_words(int(match["last"]), int(match["first"]))
        if not self.is_certain(match) and not (self.known and self._goes_along(match)):
            return None
        month, day = self.order(match["first"], match["last"])
        upto = match["upto"]
        if upto is None:
            return day_words(month, day)
        if not day < int(upto) <= _LONGEST_MONTHS[month - 1]:
            return None
        return f"{day_words(month, day)} to {ordinal(upto)}"

    def _goes_along(self, match: re.Match[str]) -> bool:
        """Return whether the figures are a day as others in the text are, and count nothing."""
        first, last = int(match["first"]), int(match["last"])
        if not is_day(*self.order(match["first"], match["last"])) or _MEASURED.match(match.string, match.end()):
            return False
        if COUNTED_PARTS.search(match.string, max(0, match.start() - _NEAR), match.start()):
            return False
        following = word_after(match)
        if following and following not in NOT_NOUNS and (first, last) in _PLAIN:
            return False
        before = match.string[max(0, match.start() - _NEAR) : match.start()]
        lead = _LEAD.search(before)
        joined = lead is not None and lead["word"].lower() in _JOINING | _AROUND_DATE | BEFORE_DATE
        if joined or _LISTED.search(before):
            return True
        return first >= last or last in _SELDOM_PARTS or last > 10

    def _is_turned(self, match: re.Match[str]) -> bool:
        """Return whether a day that no month can be stands in front, where a word asks for a date: "due 17/10"."""
        if self.day_first or match["upto"] or is_day(*self.order(match["first"], match["last"])):
            return False
        lead = _LEAD.search(match.string[max(0, match.start() - _NEAR) : match.start()])
        asked = lead is not None and lead["word"].lower() in BEFORE_DATE
        return asked and is_day(int(match["last"]), int(match["first"]))

    def span(self, match: re.Match[str]) -> str | None:
        """Two days and what lies between; one of them must be no common fraction, or the text must ask for days."""
        pairs = [(int(match[1]), int(match[2])), (int(match[4]), int(match[5]))]
        months = [self.order(match[1], match[2]), self.order(match[4], match[5])]
        if not all(is_day(month, day) for month, day in months) or _MEASURED.match(match.string, match.end()):
            return None
        if COUNTED_PARTS.search(match.string, max(0, match.start() - _NEAR), match.start()):
            return None
        padded = any(match[group][0] == "0" for group in (1, 2, 4, 5))
        unlike = any(first >= last or last in _SELDOM_PARTS or last > 16 for first, last in pairs)
        if not (padded or unlike or self.known):
            same = pairs[0][1] == pairs[1][1] and pairs[0][1] in _SCALES
            following = word_after(match)
            counted = bool(following) and following not in NOT_NOUNS
            small = all(last < 9 for _, last in pairs)
            led = _PERIOD.search(match.string, max(0, match.start() - _NEAR), match.start())
            if led is None or counted or (same and "from" in led.group().lower()) or (small and "from" in led.group()):
                return None
        return f" {match['joint'] or 'to'} ".join(day_words(month, day) for month, day in months)


def read(text: TrackedText, *, day_first: bool = False) -> TrackedText:
    """Days as month and day, `day_first` as all but Americans write, and months with a year."""
    if "/" not in text.text:
        return text
    text = text.sub(_MONTH_IN, lambda match: match["lead"] + _month(match))
    days = _Days(day_first)
    known = _Days(day_first, known=True) if days.are_in(text.text) else days
    spans = text.sub(_SPAN, known.span)
    known = known if spans is text else _Days(day_first, known=True)
    return spans.sub(_DAY, known.day).sub(_MONTH, _month)


def read_openings(text: TrackedText, *, day_first: bool = False) -> TrackedText:
    """The first day of a span whose last one has a year: "1/1-3/31/25"."""
    days = _Days(day_first)

    def opening(match: re.Match[str]) -> str | None:
        month, day = days.order(match["first"], match["last"])
        return f"{day_words(month, day)} to " if is_day(month, day) else None

    return text.sub(_TO_YEAR, opening)


def is_day(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _LONGEST_MONTHS[month - 1]


def day_words(month: int, day: int, full_year: int | None = None) -> str:
    """ "June eleventh", with a year behind a comma."""
    words = f"{list(MONTHS.values())[month - 1]} {ordinal(str(day))}"
    return words if full_year is None else f"{words}, {year(full_year)}"


def _month(match: re.Match[str]) -> str:
    return f"{list(MONTHS.values())[int(match['month']) - 1]} {year(int(match['year']) % 2000 + 2000)}"
