"""Figures as Malay words."""

from typing import Final

DIGITS: Final = "kosong satu dua tiga empat lima enam tujuh lapan sembilan".split()
SCALES: Final = ("", "ribu", "juta", "bilion", "trilion", "kuadrilion", "kuintilion")
LONGEST_CARDINAL: Final = 3 * len(SCALES)
POINT: Final = "perpuluhan"

DASH: Final = r" ?[-–—~] ?"

_HALF_AND_QUARTER: Final = {("1", "2"): "setengah", ("1", "4"): "suku"}
_LONGEST_CODE_AS_NUMBER: Final = 2


def cardinal(digits: str) -> str:
    """A cardinal: "seratus lima". A figure too long for that, or with leading zeros, is read digit by digit."""
    if len(digits) > LONGEST_CARDINAL:
        return spelled_in_groups(digits)
    if len(digits) > 1 and digits[0] == "0":
        return spelled(digits)
    number = int(digits)
    if number == 0:
        return DIGITS[0]
    words: list[str] = []
    for power in range(len(SCALES) - 1, -1, -1):
        group = number // 1000**power % 1000
        if group == 1 and power == 1:
            words.append("seribu")
        elif group:
            words += (_below_thousand(group), SCALES[power])
    return " ".join(word for word in words if word)


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [_times(hundreds, "ratus")] if hundreds else []
    if rest:
        words.append(_below_hundred(rest))
    return " ".join(words)


def _below_hundred(number: int) -> str:
    tens, ones = divmod(number, 10)
    if tens == 0:
        return DIGITS[ones]
    if tens == 1 and ones:
        return _times(ones, "belas")
    return f"{_times(tens, 'puluh')} {DIGITS[ones]}" if ones else _times(tens, "puluh")


def _times(count: int, unit: str) -> str:
    return f"se{unit}" if count == 1 else f"{DIGITS[count]} {unit}"


def ordinal(digits: str) -> str:
    """An ordinal: "pertama", "kedua puluh satu"."""
    figure = digits.replace(",", "").lstrip("0") or "0"
    return "pertama" if figure == "1" else "ke" + cardinal(figure)


def spelled(digits: str) -> str:
    """Digit by digit: "satu kosong lima"."""
    return " ".join(DIGITS[int(digit)] for digit in digits)


def spelled_in_groups(digits: str, size: int = 4) -> str:
    """Digit by digit, with a comma after every few, as one reads out an account number."""
    return ", ".join(spelled(digits[start : start + size]) for start in range(0, len(digits), size))


def code(digits: str) -> str:
    """The figure of a name or a label: "sembilan belas", "tiga tujuh kosong"."""
    if len(digits) <= _LONGEST_CODE_AS_NUMBER:
        return cardinal(digits)
    return spelled(digits) if len(digits) <= LONGEST_CARDINAL else spelled_in_groups(digits)


def number(text: str) -> str:
    """A whole number, one grouped by commas, or one with decimals."""
    whole, point, decimals = text.replace(",", "").partition(".")
    words = cardinal(whole or "0")
    if not point:
        return words
    return f"{words} {POINT} {spelled(decimals) if len(decimals) <= LONGEST_CARDINAL else spelled_in_groups(decimals)}"


def fraction(numerator: str, denominator: str) -> str:
    """ "setengah", "suku", "tiga per empat"."""
    return _HALF_AND_QUARTER.get((numerator, denominator)) or f"{cardinal(numerator)} per {cardinal(denominator)}"


def amount(text: str) -> str:
    """A number, a fraction, or a whole number and a fraction."""
    if "/" not in text:
        return number(text)
    whole, _, part = text.replace("-", " ").rpartition(" ")
    numerator, _, denominator = part.partition("/")
    words = fraction(numerator, denominator)
    return f"{cardinal(whole)} {words}" if whole else words
