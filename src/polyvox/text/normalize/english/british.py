"""British and Commonwealth English where it differs from American: the "and" inside a whole number."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import ONES, TENS
from polyvox.text.tracked import TrackedText

_SMALL: Final = "|".join(sorted({*ONES[1:], *filter(None, TENS)}, key=len, reverse=True))
_HUNDRED: Final = re.compile(rf"\bhundred(?= (?:{_SMALL})\b(?![-']))")
_THOUSAND: Final = re.compile(
    rf"\b(?:thousand|million|billion)(?= (?:{_SMALL})\b(?: (?:{_SMALL})\b)?(?![-']| (?:hundred|thousand|million)\b))"
)


def read_and(text: TrackedText) -> TrackedText:
    """ "one hundred and five", "two thousand and one"."""
    return text.sub(_HUNDRED, "hundred and").sub(_THOUSAND, lambda match: f"{match.group()} and")
