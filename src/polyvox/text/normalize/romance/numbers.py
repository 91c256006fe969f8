"""Figures of the Romance languages: how they are written, and their parts as words."""

import re
from collections.abc import Iterable
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage

LONGEST_CARDINAL: Final = 15

# Thousands are parted by stops, thin or plain spaces, or commas; decimals follow a comma, or a stop before one or two.
_REST: Final = (
    r"(?:\d{0,2}(?:\.\d{3})++(?:,\d++)?+(?!\d|\.\d)|\d{0,2}(?:,\d{3}){2,}+(?:\.\d++)?+(?!\d|,\d)"
    r"|\d{0,2}(?:,\d{3})++\.\d++(?!\d|,\d)|\d{0,2}(?: \d{3})++(?:,\d++)?+(?!\d)|\d*+(?:[.,]\d++)?+)"
)
NUMBER: Final = rf"\d{_REST}"
# Begins with its digit, so that a search skips to the next of these.
FIRST_NUMBER: Final = rf"\d(?<![\w.,/].){_REST}"
NUMBER_END: Final = r"(?![.,]?\d)"
NEGATIVE: Final = re.compile(r"[-–−](?<![\w)\]%-].)(?=\d)")
DASH: Final = r" ?[-–—] ?"

_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")
_STOPPED: Final = re.compile(r"\d+\.\d+")
_ENGLISH: Final = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}")


def any_label(labels: Iterable[str]) -> str:
    """A pattern of words in any case that begins with their letters, so that a search skips to the next of these."""
    letters: dict[str, list[str]] = {}
    for label in sorted(labels, key=len, reverse=True):
        for letter in label[0], label[0].upper():
            letters.setdefault(letter, []).append(re.escape(label[1:]))
    return "|".join(rf"{letter}(?<!\w.)(?i:{'|'.join(rest)})" for letter, rest in letters.items())


def parts(written: str) -> tuple[str, str]:
    """The whole digits and the decimals of a match of `NUMBER`."""
    plain = written.replace(" ", "")
    if _ENGLISH.fullmatch(plain):
        plain = plain.replace(",", "").replace(".", ",")
    elif _GROUPED.fullmatch(plain):
        plain = plain.replace(".", "")
    whole, _, decimals = plain.replace(".", ",").partition(",")
    return whole, decimals


def number(written: str, language: RomanceLanguage, gender: Gender = Gender.ALONE, *, measured: bool = False) -> str:
    """A match of `NUMBER` in words; what is too long, or has zeros in front, is read digit by digit.

    A full stop before decimals is called one, as in a version or a section, unless something is `measured`.
    """
    whole, decimals = parts(written)
    words = whole_number(whole, language, Gender.ALONE if decimals else gender)
    if not decimals:
        return words
    stopped = not measured and _STOPPED.fullmatch(written) is not None
    return f"{words} {language.stop if stopped else language.point} {decimal_digits(decimals, language)}"


def whole_number(digits: str, language: RomanceLanguage, gender: Gender = Gender.ALONE) -> str:
    if len(digits) > LONGEST_CARDINAL or (len(digits) > 1 and digits[0] == "0"):
        return spelled(digits, language)
    return language.cardinal(int(digits), gender)


def spelled(digits: str, language: RomanceLanguage) -> str:
    """Digit by digit."""
    return " ".join(language.cardinal(int(digit), Gender.ALONE) for digit in digits)


def in_millions(written: str) -> bool:
    """Return whether a match of `NUMBER` is said with millions last, behind which something is counted "of"."""
    whole, decimals = parts(written)
    return not decimals and whole.endswith("000000") and len(whole) <= LONGEST_CARDINAL and whole[0] != "0"


def is_one(written: str) -> bool:
    return parts(written) in (("1", ""), ("01", ""))


def decimal_digits(digits: str, language: RomanceLanguage) -> str:
    """Short decimals as a number behind their zeros, longer ones digit by digit."""
    rest = digits.lstrip("0")
    if len(digits) > 3 or not rest:
        return spelled(digits, language)
    zeros = spelled("0" * (len(digits) - len(rest)), language)
    return f"{zeros} {language.cardinal(int(rest), Gender.ALONE)}".strip()
