"""Weights of a trade or a country: stones and pounds, carats of a stone, karats of gold."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import NUMBER, NUMBER_START, amount, cardinal
from polyvox.text.tracked import TrackedText

_STONES: Final = re.compile(
    r"(?<![\w.,])(?P<stones>[2-9]|[1-9]\d) ?st(?:\.(?= ?[\da-z,;)]))?(?: ?(?P<pounds>1[0-3]|\d)(?: ?lbs?(?:\."
    r"(?= [a-z]|[,;)]))?|(?!\w|[.,]\d)))?"
    r"(?![\w'])"
)
_DIGIT_ST: Final = re.compile(r"\d ?st(?![a-z])")
_DIGIT_CARAT: Final = re.compile(r"\d[ -]?(?:ct|k|K)")
_ALONE: Final = re.compile(r"\b(?:weigh(?:s|ed|t|ing)?|lost|gained|lighter|heavier|dropped|overweight|jockey|boxer)\b")
_CARATS: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>{NUMBER})(?P<gap>[ -]?)(?P<unit>cts?|kt?|K)(?:\.(?= [a-z]))?(?= (?:[a-z-]{{3,12}} )?"
    r"(?:gold|diamonds?|emeralds?|rub(?:y|ies)|sapphires?|solitaire|ring|stones?|bracelet|necklace|earrings|chain"
    r"|pendant|"
    r"tanzanite|gem(?:stone)?s?)\b)"
)
_NEAR: Final = 48


def read(text: TrackedText) -> TrackedText:
    if _DIGIT_ST.search(text.text):
        text = text.sub(_STONES, _stones)
    return text.sub(_CARATS, _carats) if _DIGIT_CARAT.search(text.text) else text


def _stones(match: re.Match[str]) -> str | None:
    """ "12st 4lb"; without pounds only where somebody weighs so much."""
    if match["pounds"] is None:
        near = match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        return f"{cardinal(match['stones'])} stone" if _ALONE.search(near) else None
    if not match.group().rstrip(".").endswith(("lb", "lbs")) and _ALONE.search(match.string) is None:
        return None
    pounds = f"{cardinal(match['pounds'])} pound{'' if match['pounds'] == '1' else 's'}"
    return f"{cardinal(match['stones'])} stone {pounds}"


def _carats(match: re.Match[str]) -> str | None:
    """ "a 1.5ct diamond", "18k gold"."""
    if match["unit"] == "K" and match["gap"]:
        return None
    return f"{amount(match['amount'])} carat"
