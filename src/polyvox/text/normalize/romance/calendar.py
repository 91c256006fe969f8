"""Dates and times of the Romance languages."""

import re
from dataclasses import dataclass

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.tracked import TrackedText

_ISO = re.compile(r"(?<![\w/.-])(\d{4})-(\d{2})-(\d{2})(?![\w/-]|\.\d)")
_SLASHED = re.compile(r"(?<![\w/.,-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|[.,]\d)")
_DAY_MONTH = re.compile(r"(?<=[^\W\d_] )(\d{1,2})/(\d{1,2})(?![\w/]|[.,]\d)")
_WORD_BEFORE = re.compile(r"([^\W\d_]+) $")


@dataclass(frozen=True, slots=True)
class Calendar:
    """The patterns of one language."""

    language: RomanceLanguage
    named: re.Pattern[str]
    time: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Calendar":
        months = "|".join(sorted(language.month_forms, key=len, reverse=True))
        half = r"(?: ?(?P<half>[aApP])\.? ?[mM]\b\.?(?!\w))?"
        return cls(
            language,
            re.compile(
                rf"(?<![\w.,:/-])(\d{{1,2}})(?:º|°|er)? (?:de )?({months})\b\.?"
                r"(?:(?: de| del|,)? (\d{4})(?![\w%]|[.,]\d))?",
                re.IGNORECASE,
            ),
            re.compile(
                rf"(?<![\w:.,/-])(?P<hour>[01]?\d|2[0-4])(?:(?::|(?P<mark>{language.time_marks}))(?P<minute>[0-5]\d)"
                rf"(?::(?P<second>[0-5]\d))?(?: ?(?:{language.time_marks})(?!\w))?"
                rf"|(?P<whole>{language.time_marks})(?!\w)){half}(?![\w:])"
            ),
        )

    def read(self, text: TrackedText) -> TrackedText:
        """Dates in figures or with a month's name, and times of day."""
        text = text.sub(_ISO, lambda match: self._date(match[3], match[2], match[1]))
        text = text.sub(_SLASHED, lambda match: self._date(match[1], match[3], match[4]))
        text = text.sub(_DAY_MONTH, self._day_month).sub(self.named, self._named)
        return text.sub(self.time, self._time)

    def _date(self, day: str, month: str, year: str) -> str | None:
        if not (1 <= int(day) <= 31 and 1 <= int(month) <= 12):
            return None
        full = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 70 else 1900)
        return self.language.date(int(day), int(month), full)

    def _day_month(self, match: re.Match[str]) -> str | None:
        before = _WORD_BEFORE.search(match.string[max(0, match.start() - 20) : match.start()])
        asked = before is not None and before[1].lower() in self.language.before_date
        if not asked or not (1 <= int(match[1]) <= 31 and 1 <= int(match[2]) <= 12):
            return None
        return self.language.date(int(match[1]), int(match[2]), None)

    def _named(self, match: re.Match[str]) -> str | None:
        if not 1 <= int(match[1]) <= 31:
            return None
        month = self.language.month_forms[match[2].lower()]
        return self.language.date(int(match[1]), month, int(match[3]) if match[3] else None)

    def _time(self, match: re.Match[str]) -> str:
        half = {"a": "am", "p": "pm"}.get((match["half"] or "").lower(), "")
        return self.language.time(int(match["hour"]), int(match["minute"] or 0), int(match["second"] or 0), half)
