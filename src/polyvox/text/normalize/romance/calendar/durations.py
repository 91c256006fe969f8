"""Minutes and seconds with primes, times of races and minutes of matches, brought to figures with units."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.tracked import TrackedText

_PRIME: Final = "['’′]"
_DOUBLE: Final = f'(?:["”″]|{_PRIME}{{2}})'
_AFTER_DIGIT: Final = re.compile("['’′\"”″](?<=\\d.)|:\\d\\d[.,]\\d|\\dmin\\d|\\ds\\d|\\d:\\d\\d|\\dm ?\\d")
_PRIMES: Final = re.compile(
    rf"(?P<minutes>\d(?<![\w.,:/].)\d{{0,2}}){_PRIME} ?(?P<seconds>\d\d?){_DOUBLE}(?P<rest>\d{{1,3}})?(?!\d)"
    r"(?P<per>/km(?!\w))?"
)
_HOURS: Final = re.compile(
    rf"(\d(?<![\w.,:/].)\d?) ?h ?(\d\d?)(?:{_PRIME}|min) ?(\d\d?)(?:{_DOUBLE}(?P<rest>\d{{1,3}})?|s)(?!\w)"
)
_GLUED: Final = re.compile(r"(?P<minutes>\d(?<![\w.,:/].)\d?)min(?P<seconds>\d\d?)s(?P<rest>\d{2,3})?(?!\w)")
_LETTERED: Final = re.compile(r"(?P<minutes>\d(?<![\w.,:/].)\d?)m ?(?P<seconds>\d\d?)s(?P<rest>)(?!\w)")
_GLUED_SECONDS: Final = re.compile(r"(?P<seconds>\d(?<![\w.,:/].)\d?)s(?P<rest>\d{1,3})(?!\w)")
_SECONDS: Final = re.compile(rf"(?P<seconds>\d(?<![\w.,:/].)\d?){_DOUBLE}(?P<rest>\d{{1,3}})(?!\d)")
_PRIMED_PACE: Final = re.compile(
    rf"(?P<minutes>\d(?<![\w.,:/].)\d?){_PRIME}(?P<seconds>[0-5]\d)(?P<rest>)(?P<per>/km)(?!\w)"
)
_LAP: Final = re.compile(r"(?P<minutes>\d(?<![\w.,:/].)\d?):(?P<seconds>[0-5]\d)[.,](?P<rest>\d{1,3})(?![\w:]|[.,]\d)")
_LONG: Final = re.compile(
    r"(?P<minutes>(?:2[5-9]|[3-9]\d)(?<![\w.,:/]..)):(?P<seconds>[0-5]\d)(?P<rest>)(?![\w:]|[.,]\d)"
)
# A time that is called minutes, or what one kilometre takes.
_PACE: Final = re.compile(
    r"(?P<minutes>\d(?<![\w.,:/].)\d{0,2})(?::|min(?=\d\d ?/))(?P<seconds>[0-5]\d)"
    r"(?: ?(?:min(?:utos|uti|utes)?|mn)(?P<dot>\.(?=[,;:)]| [(a-zà-ÿ]))?)?(?P<rest>)"
    r"(?:(?P<per> ?/ ?km)|(?<=[ns.]))(?!\w)"
)
_COUNTED: Final = re.compile(r"(\d(?<=\b(?:en|em|in) .)\d?):([0-5]\d):([0-5]\d)(?![\w:]|[.,]\d)")
_HOURS_PRIME: Final = re.compile(rf"(\d(?<![\w.,:/].)\d?) ?h ?(\d\d?){_PRIME}(?!\w)")
_MINUTE: Final = re.compile(
    rf"(?P<minute>\d(?<![\w.,:/].)\d{{0,2}})(?P<added>\+\d{{1,2}})?{_PRIME}(?:(?P<more>\+\d{{1,2}}){_PRIME}?)?(?![\w'’′\"”″])"
)
_ARTICLE: Final = re.compile(r"([^\W\d_]+)[ '’]$")
_QUOTED: Final = re.compile(r"(?:\A|[\s(¿¡«])['‘’](?=\S)[^'’]*\Z")
_SCORED: Final = re.compile(
    rf"(?:(?:,| e| y| et) \d{{1,3}}{_PRIME}(?:\+\d)?){{0,4}}"
    r"(?: (?:ammonit[oi]|espuls[oi]|rigore|autogol|autorete|gol(?: de)?|but(?: de)?|expuls[oaã]\w?|amarelo|tarjeta))?"
    r"(?: [A-ZÀ-Ý][a-zà-ÿ]{2}| (?:primo|secondo) tempo)"
)
# A name in brackets behind a score: "2-1 (Kane 12'".
_SCORER: Final = re.compile(
    r"\d[-–]\d{1,2}(?!\d)[^.;()\d]{0,24}\((?:[^()]{0,120}[,;:] )?[A-ZÀ-Ý][\w'’-]+(?: [A-ZÀ-Ý][\w'’-]+)?,? \Z"
)
_REACH: Final = 12
_QUOTE_REACH: Final = 160
_SCORE_REACH: Final = 200
# Between minutes of a match nothing stands, or who scored, and how.
_LISTED: Final = re.compile(r"(?: [^\W\d_'’.]{2,16}\.?){0,3}(?: \(?[^\W\d_]{1,8}\.?\)?)?,? (?:(?:e|y|et|ed|o|ou) )?")


@dataclass(frozen=True, slots=True)
class Durations:
    """The rules of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        if _AFTER_DIGIT.search(text.text) is None:
            return text
        text = text.sub(_HOURS, self._of_hours).sub(_COUNTED, self._of_hours)
        for pattern in (_PRIMED_PACE, _PACE, _GLUED, _LETTERED, _GLUED_SECONDS, _PRIMES, _SECONDS, _LAP, _LONG):
            text = text.sub(pattern, self._clocked)
        return text.sub(_HOURS_PRIME, self._hours).sub(_MINUTE, _Minutes(self.language))

    def _hours(self, match: re.Match[str]) -> str | None:
        """None for a mark that closes a quotation."""
        return None if _closes_quotation(match) else f"{match[1]} h {self.language.and_minutes}{match[2]} min"

    def _of_hours(self, match: re.Match[str]) -> str:
        hour = self.language.units["h"]
        hours = f"{self.language.cardinal(int(match[1]), hour.gender)} {hour.one if int(match[1]) == 1 else hour.many}"
        minutes = f" {int(match[2])} min" if int(match[2]) else ""
        rest = f" {self.language.and_minutes}{match['rest']}" if match.groupdict().get("rest") else ""
        return f"{hours}{minutes} {self.language.and_minutes}{int(match[3])} s{rest}"

    def _clocked(self, match: re.Match[str]) -> str:
        """Minutes and seconds as measures, with the parts of a second behind them."""
        parts = match.groupdict()
        words = [f"{parts['minutes']} min"] if parts.get("minutes") else []
        words.append(f"{parts['seconds'].lstrip('0') or '0'} s")
        if parts["rest"]:
            words.append(f"{self.language.and_minutes}{parts['rest']}")
        if parts.get("per"):
            words.append(self.language.per(self.language.units["km"].one))
        return " ".join(words)


class _Minutes:
    """Minutes of a match behind an article, with those of its list; minutes of time elsewhere."""

    def __init__(self, language: RomanceLanguage) -> None:
        self._language = language
        self._last = -1

    def __call__(self, match: re.Match[str]) -> str | None:
        """None for a mark that closes a quotation."""
        if _closes_quotation(match):
            return None
        added = match["added"] or match["more"] or ""
        article = _ARTICLE.search(match.string[max(0, match.start() - _REACH) : match.start()])
        listed = self._last >= 0 and _LISTED.fullmatch(match.string, self._last, match.start()) is not None
        of_match = article is not None and article[1].lower() in self._language.before_minute
        of_match = (
            of_match or _SCORER.search(match.string, max(0, match.start() - _SCORE_REACH), match.start()) is not None
        )
        if not (of_match or listed or _SCORED.match(match.string, match.end())):
            return f"{match['minute']}{added or ' min'}"
        self._last = match.end()
        return self._language.minute_of(int(match["minute"])) + added


def _closes_quotation(match: re.Match[str]) -> bool:
    return _QUOTED.search(match.string[max(0, match.start() - _QUOTE_REACH) : match.end() - 1]) is not None
