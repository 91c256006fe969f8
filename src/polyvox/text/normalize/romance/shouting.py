"""Lines in capitals, headlines and shouts, whose short words are no initials: "LO VI CON MIS OJOS"."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.tracked import TrackedText

_LINE: Final = re.compile(r"^[^a-zß-öø-ÿ\n]*$", re.MULTILINE)
_FOUR_CAPITALS: Final = re.compile("[A-ZÀ-ÖØ-Þ]{4}")
_WORD: Final = re.compile(r"(?<![\w.&-])[A-ZÀ-ÖØ-Þ]{2,5}(?![\w.&-])")
_VOWEL: Final = re.compile("[AEIOUYÀ-ÆÈ-ÏÒ-ÖÙ-Ý]")
_NUMERAL: Final = re.compile("[IVXLC]+")
_FEWEST: Final = 4
"""Words of a line that is shouted and no list of initials."""
_SPOKEN_NUMERALS: Final = frozenset(("VI", "DI", "MI", "CI", "LI"))
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)[ :.]+\Z")
_REACH: Final = 16


@dataclass(frozen=True, slots=True)
class Shouting:
    """The rule of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        """Write short words of such lines in small letters."""
        if _FOUR_CAPITALS.search(text.text) is None or not any(map(self._is_shouted, _LINE.finditer(text.text))):
            return text
        shouted = [line.span() for line in _LINE.finditer(text.text) if self._is_shouted(line)]
        return text.sub(_WORD, lambda word: self._word(word, shouted))

    def _is_shouted(self, line: re.Match[str]) -> bool:
        """Return whether one of the line's words is a short one of the language."""
        words = re.findall(r"[^\W\d_]+", line.group())
        return len(words) >= _FEWEST and not self.language.acronyms.short_words.isdisjoint(words)

    def _word(self, word: re.Match[str], shouted: list[tuple[int, int]]) -> str | None:
        capitals = word.group()
        if not any(start <= word.start() < end for start, end in shouted):
            return None
        if capitals in self.language.acronyms.spelled or _VOWEL.search(capitals) is None:
            return None
        if _NUMERAL.fullmatch(capitals) and not self._is_spoken(word):
            return None
        return capitals.lower()

    def _is_spoken(self, numeral: re.Match[str]) -> bool:
        """Return whether letters of a numeral are a word here: "QUE VI", and no "CAPÍTULO VI"."""
        before = _WORD_BEFORE.search(numeral.string[max(0, numeral.start() - _REACH) : numeral.start()])
        numbered = before is not None and (
            before[1].lower() in self.language.roman_labels or before[1].title() in self.language.rulers
        )
        return numeral.group() in _SPOKEN_NUMERALS and not numbered
