"""Figures as English words, in the American way: no "and" inside a whole number."""

from typing import Final

ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES: Final = ("", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion")
LONGEST_CARDINAL: Final = 3 * len(SCALES)

IRREGULAR_ORDINALS: Final = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}

# Regular-expression pieces. A number never begins inside another, so a search that fails goes on behind it.
NUMBER_START: Final = r"(?<![\w.])(?<!\d,)(?<![A-Za-z]-)"
NUMBER: Final = r"(?:(?:\d{1,3}(?:,\d{3})++(?!\d)|\d{1,2}(?:,\d{2}(?=,))++,\d{3}(?!\d)|\d++)(?:\.\d++)?+|\.\d++)"
NUMBER_END: Final = r"(?![.,]?\d)"
FRACTION: Final = r"(?:\d{1,3}+[ -])?\d{1,3}+/\d{1,4}+(?![/\d])"
AMOUNT: Final = rf"(?:{FRACTION}|{NUMBER})"
DASH: Final = r" ?[-–—] ?"
ITEM_END: Final = r"(?![\w%]|[.,:/-]\w)"
"""No more of the same item: a letter, or a mark that is glued to one. A mark before a space closes something else."""


def cardinal(digits: str) -> str:
    """A cardinal: "one hundred five". A figure too long for that, or with leading zeros, is read digit by digit."""
    if len(digits) > LONGEST_CARDINAL:
        return spelled_in_groups(digits)
    if len(digits) > 1 and digits[0] == "0":
        return spelled(digits)
    number = int(digits)
    if number == 0:
        return ONES[0]
    words: list[str] = []
    for power in range(len(SCALES) - 1, -1, -1):
        group = number // 1000**power % 1000
        if group:
            words += (_below_thousand(group), SCALES[power])
    return " ".join(word for word in words if word)


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [ONES[hundreds], "hundred"] if hundreds else []
    if rest:
        words.append(_below_hundred(rest))
    return " ".join(words)


def _below_hundred(number: int) -> str:
    if number < len(ONES):
        return ONES[number]
    tens, ones = divmod(number, 10)
    return f"{TENS[tens]} {ONES[ones]}" if ones else TENS[tens]


def ordinal(digits: str) -> str:
    """An ordinal: "twenty first"."""
    head, space, last = cardinal(digits.lstrip("0") or "0").rpartition(" ")
    return head + space + _ordinal_word(last)


def _ordinal_word(word: str) -> str:
    if word in IRREGULAR_ORDINALS:
        return IRREGULAR_ORDINALS[word]
    return word[:-1] + "ieth" if word.endswith("y") else word + "th"


def spelled(digits: str) -> str:
    """Digit by digit: "one zero five"."""
    return " ".join(ONES[int(digit)] for digit in digits)


def spelled_in_groups(digits: str, size: int = 3) -> str:
    """Digit by digit, with a comma after every few, as one reads out an account number."""
    return ", ".join(spelled(digits[start : start + size]) for start in range(0, len(digits), size))


def year(number: int) -> str:
    """A year, or any figure read like one: "nineteen oh five", "two thousand seven", "twenty twenty six"."""
    century, rest = divmod(number, 100)
    if number < 1000:
        return cardinal(str(number))
    if century % 10 == 0 and rest < 10:
        return cardinal(str(number))
    if rest == 0:
        return f"{_below_hundred(century)} hundred"
    return f"{_below_hundred(century)} {two_digits(rest)}"


def two_digits(number: int) -> str:
    """The last two digits of a year: "oh five", "ninety five"."""
    return f"oh {ONES[number]}" if 0 < number < 10 else _below_hundred(number)


def code(digits: str) -> str:
    """The figure of a name or a label: "seven forty seven", "one oh one", "thirty ninety"; long ones digit by digit."""
    if digits[0] == "0" or len(digits) > 4:
        return spelled(digits) if len(digits) <= LONGEST_CARDINAL else spelled_in_groups(digits)
    if len(digits) < 3:
        return cardinal(digits)
    if len(digits) == 4:
        return year(int(digits))
    hundreds, rest = divmod(int(digits), 100)
    return f"{ONES[hundreds]} {two_digits(rest)}" if rest else f"{ONES[hundreds]} hundred"


def number(text: str) -> str:
    """A match of `NUMBER`: whole, grouped by commas, or with decimals."""
    whole, point, decimals = text.replace(",", "").partition(".")
    words = [cardinal(whole)] if whole else []
    if point:
        words += ("point", spelled(decimals) if len(decimals) <= LONGEST_CARDINAL else spelled_in_groups(decimals))
    return " ".join(words)


def fraction(numerator: str, denominator: str, *, singular: bool = False) -> str:
    """ "three quarters", "one half"; an odd one becomes "twenty two over seven"."""
    top, bottom = int(numerator), int(denominator)
    if not (0 < top < bottom and (bottom <= 100 or bottom == 1000)):
        return f"{cardinal(numerator)} over {cardinal(denominator)}"
    name = {2: "half", 4: "quarter"}.get(bottom) or ordinal(denominator).removeprefix("one ")
    plural = "halves" if bottom == 2 else name + "s"
    return f"{cardinal(numerator)} {name if top == 1 or singular else plural}"


def version(parts: str) -> str:
    """The parts of a version as numbers, with "point" between."""
    return " point ".join(_version_part(part) for part in parts.split("."))


def _version_part(digits: str) -> str:
    if len(digits) == 3 and digits[0] != "0":
        return code(digits)
    return two_digits(int(digits)) if len(digits) == 2 and digits[0] == "0" else cardinal(digits)


def amount(text: str) -> str:
    """A match of `AMOUNT`: a number, a fraction, or a whole number and a fraction."""
    if "/" not in text:
        return number(text)
    whole, _, part = text.replace("-", " ").rpartition(" ")
    numerator, _, denominator = part.partition("/")
    if not whole:
        return fraction(numerator, denominator)
    if numerator == "1" and denominator in ("2", "4"):
        return f"{cardinal(whole)} and a {'half' if denominator == '2' else 'quarter'}"
    return f"{cardinal(whole)} and {fraction(numerator, denominator)}"


def is_one(text: str) -> bool:
    """Return whether what is counted by this amount stands in the singular."""
    return text.replace(",", "") == "1"
