"""Abbreviations, ordinals, roman numerals, phones, addresses, signs and plain figures of the Romance languages."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.normalize.romance.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, number, spelled, whole_number
from polyvox.text.tracked import TrackedText

_ROMAN: Final = re.compile(
    r"(?<=[^\W\d_] )(?=[IVXLCM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
    r"(?P<suffix>er|re|e|ème)?(?![\w'’])"
)
_CENTURY: Final = re.compile(
    r"(?<!\w)(?=[IVX])(?P<numeral>X{0,3}(?:IX|IV|V?I{0,3}))(?:(?P<suffix>er|e|ème)(?!\w)|(?= (?:secolo|siècle)))"
)
_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_BEFORE: Final = re.compile(r"([^\W\d_]+)\.? $")
_AFTER: Final = re.compile(r" ([^\W\d_]+)")
_EMAIL: Final = re.compile(r"(?<![\w.%+-])[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]*[A-Za-z0-9])++")
_URL: Final = re.compile(
    r"(?<!\w)(?:https?://|www\.)[^\s<>()\"“”«»\[\]{}|\ue000-\uf8ff]+(?<![.,;:!?'’…*_~&-])", re.IGNORECASE
)
_DOMAIN: Final = re.compile(
    r"(?<![\w@./\\-])(?:[A-Za-z0-9-]++\.)+(?:com|org|net|edu|gov|info|io|es|fr|it|pt|br|mx|ar|be|ch|ca|eu)(?![\w@-]|\.\w)"
    r"(?:/(?=\w)[\w./-]*\w)?"
)
_PIECE: Final = re.compile(r"[A-Za-zÀ-ÿ]+|\d+|.")
_INTERNATIONAL: Final = re.compile(r"(?<![\w.,/$€£+-])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}(?![\w/-]|[.,]\d)")
_GROUPED: Final = re.compile(
    r"(?<![\w.,/$€£+-])(?:0\d(?:[ .-]\d\d){4}|\d{3}[ .-]\d{3}[ .-]\d{3}|\d{3}[ -]\d\d[ -]\d\d[ -]\d\d)(?![\w/-]|[.,]\d)"
)
_DIGITS: Final = re.compile(r"\d+")
_FRACTION: Final = re.compile(
    r"(?<![\w./])(?:(?P<whole>\d{1,3}) )?(?P<top>\d{1,2})/(?P<bottom>\d{1,3})(?![\w/]|[.,]\d)"
)
_RANGE: Final = re.compile(rf"{NUMBER_START}({NUMBER}){DASH}({NUMBER}){NUMBER_END}(?![\w/-])")
_NEGATIVE: Final = re.compile(r"(?<![\w)\]%-])[-–−](?=\d)")
_NUMBER: Final = re.compile(NUMBER)
_POWER: Final = re.compile(r"(?<=[\w)])[²³]")


@dataclass(frozen=True, slots=True)
class Words:
    """The patterns of one language."""

    language: RomanceLanguage
    abbreviation: re.Pattern[str]
    ordinal: re.Pattern[str]
    sign: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Words":
        keys = "|".join(re.escape(key) for key in sorted(language.abbreviations, key=len, reverse=True))
        signs = "".join(re.escape(sign) for sign in language.signs)
        return cls(
            language,
            re.compile(rf"(?<![\w.'’/-])(?:{keys})(?!\w)"),
            re.compile(rf"(?<![\w.,/])(\d{{1,4}})(?:{language.ordinal_suffixes})(?!\w)"),
            re.compile(f" ?([{signs}]) ?"),
        )

    def read_addresses(self, text: TrackedText) -> TrackedText:
        """E-mail and web addresses, part by part."""
        for pattern in (_EMAIL, _URL, _DOMAIN):
            text = text.sub(pattern, lambda match: self._aloud(match.group()))
        return text

    def read_abbreviations(self, text: TrackedText) -> TrackedText:
        return text.sub(self.abbreviation, self._abbreviation)

    def read_phones(self, text: TrackedText) -> TrackedText:
        return text.sub(_INTERNATIONAL, self._phone).sub(_GROUPED, self._phone)

    def read_figures(self, text: TrackedText) -> TrackedText:
        """Ordinals, roman numerals, fractions, ranges and every figure that is left."""
        text = text.sub(_CENTURY, self._century).sub(_ROMAN, self._roman).sub(self.ordinal, self._ordinal)
        text = text.sub(_FRACTION, self._fraction).sub(_RANGE, self._range)
        return text.sub(_NEGATIVE, f"{self.language.minus} ").sub(_NUMBER, self._number)

    def read_signs(self, text: TrackedText) -> TrackedText:
        text = text.sub(_POWER, lambda match: f" {self.language.powers[match.group()][0]}")
        return text.sub(self.sign, lambda match: f" {self.language.signs[match[1]]} ")

    def _aloud(self, address: str) -> str:
        plain = re.sub(r"^https?://", "", address, flags=re.IGNORECASE).rstrip("/")
        words: list[str] = []
        for piece in _PIECE.findall(plain):
            if piece.isdecimal():
                words.append(whole_number(piece, self.language) if len(piece) < 5 else spelled(piece, self.language))
            elif piece.isalpha():
                words.append("W W W" if piece.lower() == "www" else piece)
            elif piece in self.language.web:
                words.append(self.language.web[piece])
        return " ".join(words)

    def _abbreviation(self, match: re.Match[str]) -> str:
        """The words; a full stop stays where the text or the line ends with it."""
        rest = match.string[match.end() : match.end() + 3].lstrip(" ")
        ends = match.group().endswith(".") and (not rest or rest[0] == "\n")
        return self.language.abbreviations[match.group()] + ("." if ends else "")

    def _phone(self, match: re.Match[str]) -> str:
        plus = f"{self.language.signs.get('+', '')} " if match.group()[0] == "+" else ""
        return plus + ", ".join(self._phone_group(group) for group in _DIGITS.findall(match.group()))

    def _phone_group(self, digits: str) -> str:
        if self.language.digits_in_phones == 2 and len(digits) == 2 and digits[0] != "0":
            return self.language.cardinal(int(digits), Gender.ALONE)
        return spelled(digits, self.language)

    def _century(self, match: re.Match[str]) -> str | None:
        value = _value(match["numeral"])
        if self.language.century is None or not value:
            return None
        return self.language.century(value)

    def _roman(self, match: re.Match[str]) -> str | None:
        found = _BEFORE.search(match.string[max(0, match.start() - 24) : match.start()])
        before = found[1] if found else ""
        numeral = match.group().removesuffix(match["suffix"] or "")
        value = _value(numeral)
        if before.lower() in self.language.roman_labels:
            return self.language.cardinal(value, Gender.ALONE)
        if before in self.language.rulers and (match["suffix"] or len(numeral) > 1 or numeral in "IVX"):
            return self.language.ruler_number(value, bool(match["suffix"]))
        return None

    def _ordinal(self, match: re.Match[str]) -> str:
        feminine = any(value for name, value in match.groupdict().items() if name.startswith("feminine"))
        short = any(value for name, value in match.groupdict().items() if name.startswith("short"))
        gender = Gender.FEMININE if feminine else Gender.MASCULINE if short else Gender.ALONE
        return self.language.ordinal(int(match[1]), gender)

    def _fraction(self, match: re.Match[str]) -> str:
        top, bottom = int(match["top"]), int(match["bottom"])
        part = self.language.fractions.get(bottom)
        if part is None or not 0 < top < bottom:
            words = f"{whole_number(match['top'], self.language)} {self.language.over} "
            words += whole_number(match["bottom"], self.language)
        else:
            words = f"{self.language.cardinal(top, part.gender)} {part.one if top == 1 else part.many}"
        if not match["whole"]:
            return words
        return f"{whole_number(match['whole'], self.language)} {self.language.signs['&']} {words}"

    def _range(self, match: re.Match[str]) -> str:
        first, last = (number(figure, self.language) for figure in match.groups())
        return f"{first} {self.language.upto} {last}" if match[1] != match[2] else f"{first} {last}"

    def _number(self, match: re.Match[str]) -> str:
        text = match.string
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        following = _AFTER.match(text, match.end(), match.end() + 24)
        gender = Gender.ALONE
        if following is not None and following[1].islower():
            gender = Gender.FEMININE if self.language.is_feminine(following[1]) else Gender.MASCULINE
        words = number(match.group(), self.language, gender)
        return (" " if before.isalnum() else "") + words + (" " if after.isalnum() else "")


def _value(numeral: str) -> int:
    values = [_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
