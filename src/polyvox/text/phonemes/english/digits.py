"""Digits that no normaliser has expanded, read as in a name or a code."""

from typing import Final

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def digit_words(digits: str) -> list[str]:
    """ASCII digits as words: a number up to three digits, two pairs for four, else digit by digit."""
    if len(digits) > 4 or (digits.startswith("0") and len(digits) > 1):
        return [_ONES[int(digit)] for digit in digits]
    number = int(digits)
    if number < 100:
        return _below_hundred(number)
    if len(digits) == 4:
        return _year(number)
    rest = _below_hundred(number % 100) if number % 100 else []
    return [_ONES[number // 100], "hundred", *rest]


def _year(number: int) -> list[str]:
    pair, rest = divmod(number, 100)
    if pair % 10 == 0 and rest < 10:
        return [_ONES[pair // 10], "thousand", *(_below_hundred(rest) if rest else [])]
    if rest == 0:
        return [*_below_hundred(pair), "hundred"]
    return [*_below_hundred(pair), *(["oh", _ONES[rest]] if rest < 10 else _below_hundred(rest))]


def _below_hundred(number: int) -> list[str]:
    if number < 20:
        return [_ONES[number]]
    return [_TENS[number // 10 - 2], *([_ONES[number % 10]] if number % 10 else [])]
