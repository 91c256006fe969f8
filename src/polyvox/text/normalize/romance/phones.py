"""Phone numbers of the Romance languages."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.normalize.romance.numbers import any_label, spelled
from polyvox.text.tracked import TrackedText

_START: Final = r"(?<![\w.,/$€£+-])"
_END: Final = r"(?![\w/-]|[.,]\d)"
_INTERNATIONAL: Final = re.compile(rf"{_START}(?:\+|00(?=[1-9]\d ))\d{{1,3}}(?:[ .-]?\(?\d{{1,9}}\)?){{1,6}}{_END}")
_BRACKETED: Final = re.compile(rf"{_START}\(\d{{2,4}}\) ?\d{{2,5}}(?:[ .-]?\d{{2,4}}){{1,3}}{_END}")
# Groups that no thousands are: zeros in front, or of two or four digits.
_GROUPED: Final = re.compile(
    rf"{_START}(?:0\d(?:[ .-]\d\d){{4}}|0\d{{1,3}}[ /-]\d{{5,8}}|0\d{{1,3}}(?:[ .-]\d{{2,4}}){{2,3}}"
    r"|\d{2,3}(?:[ -]\d{2,3})?(?:[ -]\d\d){2,3}|\d{3}[ .-]\d{3}[ .-]\d{4}|\d{2,3}[ -]\d{4,5}[ -]\d{4}"
    rf"|9\d{{4}}-\d{{4}}|\d{{3}}-0\d{{3}}|0800[ -]\d{{3}}[ -]\d{{4}}){_END}"
)
_THREES: Final = re.compile(rf"{_START}\d{{3}}[ .-]\d{{3}}[ .-]\d{{3}}{_END}(?! ?[€$£%])(?P<behind> [a-zà-ÿ]+)?")
_PAIR: Final = re.compile(rf"{_START}(?P<first>\d{{4}})-(?P<last>\d{{4}}){_END}")
_THOUSANDS: Final = re.compile(r"\d{3}(?: \d{3})+")
_GROUP_BEFORE: Final = re.compile(r"(?<![\w.,])\d{1,3} \Z")
_DIGITS: Final = re.compile(r"\d+")
_DIGIT: Final = re.compile(r"\d")
_FEWEST: Final = 7
_FEWEST_LABELLED: Final = 6
_MOST: Final = 15


@dataclass(frozen=True, slots=True)
class Phones:
    """The patterns of one language."""

    language: RomanceLanguage
    labelled: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Phones":
        labels = any_label(language.labels.phones)
        return cls(
            language,
            re.compile(
                rf"(?:{labels})(?!\w)\.?(?: [^\W\d_]{{1,4}})?:? "
                rf"(?P<phone>\(?\d[\d() .-]{{3,18}}\d){_END}(?! ?[€$£%])"
            ),
        )

    def read(self, text: TrackedText) -> TrackedText:
        if len(_DIGIT.findall(text.text)) < _FEWEST_LABELLED:
            return text
        text = text.sub(self.labelled, self._labelled)
        for pattern in (_INTERNATIONAL, _BRACKETED, _GROUPED):
            text = text.sub(pattern, self._phone)
        if self.language.digits_in_phones == 1:
            text = text.sub(_THREES, self._threes).sub(_PAIR, self._pair)
        return text

    def _labelled(self, match: re.Match[str]) -> str | None:
        phone = match["phone"]
        if len(_DIGIT.findall(phone)) < _FEWEST_LABELLED:
            return None
        return match.group().removesuffix(phone) + self._groups(phone)

    def _phone(self, match: re.Match[str]) -> str | None:
        """None for figures that are too few or too many, such as those of a list, and for the rest of a number."""
        if _continues_thousands(match) or not _FEWEST <= len(_DIGIT.findall(match.group())) <= _MOST:
            return None
        return self._groups(match.group())

    def _threes(self, match: re.Match[str]) -> str | None:
        """None for a number in thousands, which counts something."""
        behind = match["behind"] or ""
        if _continues_thousands(match) or behind.strip() not in self.language.function_words | {""}:
            return None
        return self._groups(match.group().removesuffix(behind)) + behind

    def _pair(self, match: re.Match[str]) -> str | None:
        """None for two years."""
        years = 1000 <= int(match["first"]) < int(match["last"]) < 2200
        return None if years else self._groups(match.group())

    def _groups(self, phone: str) -> str:
        plus = f"{self.language.signs.get('+', '')} " if phone[0] == "+" else ""
        return plus + ", ".join(self._group(group) for group in _DIGITS.findall(phone))

    def _group(self, digits: str) -> str:
        if digits in self.language.phone_groups:
            return self.language.phone_groups[digits]
        if self.language.digits_in_phones == 2 and len(digits) == 2 and digits[0] != "0":
            return self.language.cardinal(int(digits), Gender.ALONE)
        return spelled(digits, self.language)


def _continues_thousands(match: re.Match[str]) -> bool:
    """Return whether a number in groups of three began before a match: "1 080 000 000"."""
    before = _GROUP_BEFORE.search(match.string, max(0, match.start() - 5), match.start())
    return before is not None and _THOUSANDS.match(match.group()) is not None
