"""Figures that stand beside each other and are no one number: "F1 141 kWh", "iPhone 13 128 GB"."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.normalize.romance.numbers import whole_number
from polyvox.text.tracked import TrackedText

_BESIDE: Final = re.compile(r"(?P<figure>\d(?<![\d.,/].)(?<!\d .)\d{0,2}) (?=\d{3}(?!\d))")
_LETTERS: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ]{1,24}\Z")
_MEMORY: Final = re.compile(r"(?:128|256|512|825) ?(?:[GT][BbOo]|gb|go|gi?ga)(?!\w)")
_MODEL: Final = re.compile(
    r"(?<!\w)(?i:iphone|ipad|pixel|galaxy|redmi|realme|oneplus|xiaomi|oppo|honor|huawei|poco|playstation|xbox|gopro"
    r"|windows|peugeot|fiat|golf|polo|clio|mazda|bmw|renault|tesla)(?: [A-Z][a-z]{1,8}){0,2} \Z"
)
_POWER: Final = re.compile(r"(?!000)\d{3} ?(?:ch|cv|CV|hp)(?!\w)")
_NAME: Final = re.compile(r"(?<!\w)[A-ZÀ-Ý][A-Za-zà-ÿ-]{1,20} \Z")
_ROUND: Final = re.compile(r"000|\d{3} \d{3}")
_REACH: Final = 32


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The rule of one language: the first of two figures is put in words, so that no group joins it."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(_BESIDE, self._apart)

    def _apart(self, match: re.Match[str]) -> str | None:
        """None for the groups of one number."""
        before = match.string[max(0, match.start() - _REACH) : match.start()]
        # With a beat: "Clio cinq, cent chevaux" is no "cinq cent chevaux".
        words = f"{whole_number(match['figure'], self.language)}, "
        if letters := _LETTERS.search(before):
            return None if letters.group() in self.language.currencies else f" {words}"
        text, end = match.string, match.end()
        if _MEMORY.match(text, end):
            return words
        if _MODEL.search(before):
            return None if _ROUND.match(text, end) else words
        # Of one thousand horses and some a text may speak, of more with a model before them.
        strong = match["figure"] != "1" and _NAME.search(before) and _POWER.match(text, end)
        return words if strong else None
