"""Two figures that go up with a line between: from one to the other, one or the other, or two guesses side by side."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.normalize.romance.numbers import parts

_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)\.? \Z")
_REACH: Final = 24
_LARGEST_GUESS: Final = 99
_YEARS: Final = range(1000, 2100)
# Words behind which a range is two guesses, not from one to the other: "fino a 50-60".
_UPTO_ALREADY: Final = ("fino a ", " per ", " ogni ", " circa ", "até ", "hasta ", "jusqu'à ")
_AMONG: Final = frozenset(("tra", "fra", "entre"))
# Of these something is ahead, and not between two ends: "tra 20-25 minuti".
_AHEAD: Final = frozenset("secondi minuti ore giorni settimane mesi anni".split())
_PARTS_OF_BOOKS: Final = frozenset(
    (
        "paragrafi esercizi figure tabelle commi paragraphes exercices figures lignes pagine capitoli articoli "
        "versetti camere stanze righe posti páginas capítulos artículos artigos versículos pages chapitres articles"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The ranges of one language."""

    language: RomanceLanguage

    def said(
        self,
        match: re.Match[str],
        ends: tuple[str, str],
        counted: str,
        number: Callable[[str, Gender], str],
        gender: Gender = Gender.ALONE,
    ) -> str | None:
        """The words of a range; None where its ends do not go up, as those of a score.

        `counted` is the noun, unit or sign behind it, or nothing.
        """
        first, last = map(_value, ends)
        if first >= last:
            return None
        low = number(ends[0], self._first(gender, counted) if first == 1 else gender)
        high = number(ends[1], gender)
        text, start = match.string, match.start()
        found = _WORD_BEFORE.search(text, max(0, start - _REACH), start)
        before = found[1].lower() if found else ""
        if before in _AMONG and counted not in _AHEAD:
            return f"{low} {self.language.signs['&']} {high}"
        if last == first + 1 and (words := self._neighbours(low, high, before, counted, last)):
            return words
        if text.endswith(_UPTO_ALREADY, 0, start) or before in self.language.before_guesses:
            return f"{low}, {high}"
        return self._apart(low, high, before, counted, years=first in _YEARS and last in _YEARS)

    def _first(self, gender: Gender, counted: str) -> Gender:
        """The form of one that its noun does not follow."""
        if gender is not Gender.MASCULINE:
            return gender
        return Gender.FEMININE if counted.endswith(self.language.feminine_plurals) else Gender.ALONE

    def _neighbours(self, low: str, high: str, before: str, counted: str, last: float) -> str | None:
        """Two numbers that follow one another: so many or one more, both pages, or both years of a season."""
        if before in _PARTS_OF_BOOKS or self._is_month(counted):
            return f"{low} {self.language.signs['&']} {high}"
        if counted and last <= _LARGEST_GUESS:
            return f"{low} {self.language.either(high)} {high}"
        return f"{low}, {high}" if last in _YEARS and self.language.from_upto else None

    def _apart(self, low: str, high: str, before: str, counted: str, *, years: bool) -> str:
        definite = years or counted == "%" or self._is_month(counted)
        if (
            self.language.from_upto
            and before not in ("da", "dal")
            and (counted or definite or before in _PARTS_OF_BOOKS)
        ):
            return self.language.from_upto(low, high, definite)
        return f"{low} {self.language.upto} {high}"

    def _is_month(self, counted: str) -> bool:
        return counted != "" and counted in self.language.months


def _value(written: str) -> float:
    whole, decimals = parts(written)
    return float(f"{whole}.{decimals or 0}")
