"""Roman numerals, where the words around them leave no doubt."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_after, word_before
from polyvox.text.normalize.english.numbers import cardinal, ordinal
from polyvox.text.tracked import TrackedText

_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL: Final = re.compile(
    r"(?<=[A-Za-z.] )(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
    r"(?![\w&])(?!'[a-rt-z])(?!\.\w)"
)

_LABELS: Final = frozenset(
    "Act Annex Apollo Appendix Article Book Bowl Chapter Class Division Episode Fantasy Figure Grade Level Mark Part "
    "Phase Scene Schedule Season Section Series Stage Table Title Type Vol Volume War act article book chapter class "
    "grade level part phase scene section stage type volume".split()
)
_RULERS: Final = frozenset(
    "Albert Alexander Alfonso Benedict Boniface Carlos Catherine Charles Christian Clement Constantine Darius Edward "
    "Elizabeth Felipe Ferdinand Francis Frederick George Gregory Gustav Harald Harold Henry Innocent Ivan James John "
    "Juan Julius Leo Leopold Louis Mary Mehmed Murad Napoleon Nicholas Olaf Otto Paul Peter Philip Pius Ptolemy "
    "Ramesses Ramses Richard Robert Rudolf Selim Sixtus Umberto Urban Victor Wilhelm William Xerxes".split()
)
_TITLES: Final = frozenset("King Queen Pope Emperor Empress Tsar Czar Kaiser Prince Sultan Saint St".split())
_NAME_BEFORE: Final = re.compile(r"([A-Z][a-z]+) [A-Z][a-z]+ $")
_CLEAR: Final = re.compile(r"[IVX]{2,}")


def read(text: TrackedText) -> TrackedText:
    """Rulers ("Henry the eighth"), numbered parts ("Chapter four") and sequels ("Rocky four")."""
    return text.sub(_NUMERAL, _numeral)


def _numeral(match: re.Match[str]) -> str | None:
    numeral, before = match.group(), word_before(match).rstrip(".")
    if word_after(match) in ("century", "centuries") and numeral != "I":
        return ordinal(_digits(numeral))
    if before in _LABELS:
        return cardinal(_digits(numeral))
    if _is_ruler(match, before):
        return f"the {ordinal(_digits(numeral))}"
    if before[:1].isupper() and _CLEAR.fullmatch(numeral):
        return cardinal(_digits(numeral))
    return None


def _is_ruler(match: re.Match[str], name: str) -> bool:
    """A known name with a numeral; after a title any name, and only there can a lone "I" be a number."""
    titled = _NAME_BEFORE.search(match.string[max(0, match.start() - 40) : match.start()])
    if titled is not None and titled.group(1) in _TITLES:
        return True
    if name not in _RULERS:
        return False
    return match.group() != "I" or word_after(match) == "of"


def _digits(numeral: str) -> str:
    values = [_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return str(sum(-value if value < after else value for value, after in zip(values, following, strict=True)))
