"""Abbreviations of the Romance languages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.tracked import TrackedText

_FIGURE = r"(?= ?(?:\d|[IVXLC]+\b|[A-Z](?!\w)))"
# Behind the full stop of a short name that does not end its sentence.
_INSIDE = r"(?=[,;:)/–-]|,? \(?[\da-zà-ÿ])"
_NAME = r"(?= ?(?:d[a-z]{0,4}[ '](?:l[ao]? ?'?)?)?[A-ZÀ-ÖØ-Ý])"


@dataclass(frozen=True, slots=True)
class AbbreviationRules:
    """The patterns of one language."""

    words: Mapping[str, str]
    may_end: frozenset[str]
    pattern: re.Pattern[str]
    calendar: "CalendarNames"
    contexts: tuple[tuple[re.Pattern[str], str], ...]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "AbbreviationRules":
        table = language.abbreviations
        groups = (
            (with_capitals(table.anywhere), r"(?![\w/])"),
            (with_capitals(table.leading), r"(?!\w)"),
            (with_capitals(table.before_figures), _FIGURE),
            (table.before_names, _NAME),
            (with_capitals(table.weekdays), _INSIDE),
        )
        forms = "|".join(f"(?:{_any_of(words)}){behind}" for words, behind in groups if words)
        merged = {key: word for words, _ in groups for key, word in words.items()}
        return cls(
            merged,
            frozenset(groups[0][0]),
            re.compile(rf"(?<![\w./-])(?:{forms})"),
            CalendarNames.of(language),
            table.in_context,
        )

    def read(self, text: TrackedText) -> TrackedText:
        for pattern, words in self.contexts:
            text = text.sub(pattern, words)
        return self.calendar.read(text).sub(self.pattern, self._word)

    def _word(self, match: re.Match[str]) -> str:
        """The words; a full stop stays where the text, the line or a sentence ends with it."""
        ends = match.group().endswith(".") and _closes(match, before_capitals=match.group() in self.may_end)
        glued = match.string[match.end() : match.end() + 1].isalnum()
        return self.words[match.group()] + ("." if ends else " " if glued else "")


@dataclass(frozen=True, slots=True)
class CalendarNames:
    """Short names of weekdays and months: "lun-vie", "feb. 2024", "oct. y nov."."""

    weekdays: Mapping[str, str]
    months: Mapping[str, str]
    upto: str
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "CalendarNames":
        weekdays = {short.rstrip("."): name for short, name in language.abbreviations.weekdays.items()}
        months = {
            short: language.months[index]
            for short, index in language.month_forms.items()
            if short != language.months[index] and len(short) < len(language.months[index])
        }
        any_name, month = _any_of(weekdays | months), _any_of(months)
        only_month = _any_of({short: name for short, name in months.items() if short not in weekdays})
        return cls(
            weekdays,
            months,
            language.upto,
            re.compile(
                rf"(?<![\w./-])(?:(?P<first>{any_name})(?P<stop>\.)?(?P<joint> ?[-–/] ?| (?:a|al|au|à|e|y|et|o|ou) )"
                rf"(?P<last>{any_name})(?:\.|(?!\w))"
                rf"|(?P<of_year>{month})\.?(?= (?:de |del )?(?:19|20)\d\d(?!\d))|(?P<month>{only_month})\.{_INSIDE})",
                re.IGNORECASE,
            ),
        )

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(self.pattern, self._names)

    def _names(self, match: re.Match[str]) -> str | None:
        """None for two words that only look like weekdays or months."""
        if match["first"] is None:
            return self.months[(match["of_year"] or match["month"]).lower()]
        joint, stopped = match["joint"], match["stop"] or match.group().endswith(".")
        if joint in (" e ", " y ", " et ", " o ", " ou ") and not stopped:
            return None
        first, last = match["first"].lower(), match["last"].lower()
        for names in (self.weekdays, self.months):
            if first in names and last in names:
                words = f" {self.upto} " if joint.strip() in ("-", "–") else joint.replace("/", ", ")
                ends = match.group().endswith(".") and _closes(match, before_capitals=True)
                return names[first] + words + names[last] + ("." if ends else "")
        return None


def _closes(match: re.Match[str], *, before_capitals: bool) -> bool:
    """Return whether a text, a line or a sentence ends behind a match."""
    rest = match.string[match.end() : match.end() + 4].lstrip(' »”")*')
    return not rest or rest[0] == "\n" or (rest[0].isupper() and before_capitals)


def with_capitals(words: Mapping[str, str]) -> dict[str, str]:
    """The forms, and the longer ones with a capital in front."""
    return {
        form: word for key, word in words.items() for form in (key, key[:1].upper() + key[1:] if len(key) > 1 else key)
    }


def _any_of(words: Mapping[str, str]) -> str:
    return "|".join(re.escape(key) for key in sorted(words, key=len, reverse=True))
