"""Edges of words, for entries of a dictionary: also without spaces, and before endings of a language."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

# Han, kana, Hangul, Thai, Lao, Khmer, Burmese: a word there may stand right beside the next one.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005\u3007\u3041-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_APOSTROPHES: Final = frozenset("'’")
_ELISION: Final = re.compile(r"(?:^|[^\w'’])(?:[cdjlmnst]|qu|all|dell|nell|un)['’]$", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"['’][sS](?!\w)|(?<=[sS])['’](?!\w)")
_PLURAL: Final = re.compile(r"(?:s|es)(?:['’])?(?!\w)")
_MALAY_ENDING: Final = re.compile(r"(?:nya|lah|kah|tah|pun|ku|mu)(?:lah|kah|pun)?(?!\w)")
_MALAY_PREFIX: Final = re.compile(r"(?<!\w)(?:di|ke|ber|ter|se|me|mem|men|meng|per|pe)$")
MALAY: Final = frozenset(("ms", "id"))


def begins_word(text: str, start: int, *, malay: bool) -> bool:
    """Return whether what begins here is not in the middle of a word."""
    if start == 0:
        return True
    before, first = text[start - 1], text[start]
    if before in _APOSTROPHES and start > 1 and _is_letter(text[start - 2]):
        return _ELISION.search(text, max(0, start - 8), start) is not None
    if not _in_one_word(before, first):
        return True
    return malay and first.isupper() and _MALAY_PREFIX.search(text, max(0, start - 6), start) is not None


def word_end(text: str, end: int, *, malay: bool, named: bool) -> int | None:
    """The end of the ending behind a match: `end` itself where the word ends there, None in the middle of a word.

    A possessive or, behind a name (`named`), a plural is such an ending; in Malay and Indonesian -nya, -lah and others.
    """
    if end == len(text):
        return end
    for ending in _endings(malay=malay, named=named):
        if (found := ending.match(text, end)) is not None:
            return found.end()
    if text[end] in _APOSTROPHES and end + 1 < len(text) and _is_letter(text[end + 1]):
        return None
    return None if _in_one_word(text[end - 1], text[end]) else end


def _endings(*, malay: bool, named: bool) -> Iterator[re.Pattern[str]]:
    yield _POSSESSIVE
    if malay:
        yield _MALAY_ENDING
    elif named:
        yield _PLURAL


def _in_one_word(before: str, behind: str) -> bool:
    return _is_letter(before) and _is_letter(behind) and not (_UNSPACED.match(before) or _UNSPACED.match(behind))


def _is_letter(char: str) -> bool:
    return char == "_" or unicodedata.category(char)[0] in "LNM"
