"""The clause around a word, and whether it has a verb besides that word."""

from collections.abc import Sequence
from typing import Final

from polyvox.text.phonemes.english.verbs import BASES, PASTS, SAYING, THIRD_PERSONS
from polyvox.text.phonemes.english.word_classes import (
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    SUBJECTS,
)

OPENERS: Final = frozenset(
    "that which who whom whose where when while because although though if unless whether but so since until as than "
    "before after how why what and or".split()
)
"""Words that open a clause of their own."""
_ORDERS: Final = frozenset("close lead present read record separate tear update use wind".split())
"""Heteronyms that open an order too."""
_REACH: Final = 16


def has_other_verb(words: Sequence[str], index: int) -> bool:
    """Return whether the clause has a finite verb beside the word, so that the word can hardly be one."""
    return _verb_to_left(words, index) or _verb_to_right(words, index)


def has_article(words: Sequence[str], index: int) -> bool:
    """Return whether a noun phrase with its determiner ends in front of the word."""
    for back in range(index - 1, max(-1, index - 5), -1):
        word = words[back]
        if word in DETERMINERS:
            return True
        if not is_word(word) or word in PREPOSITIONS:
            return False
    return False


def is_word(word: str) -> bool:
    return any(char.isalnum() for char in word)


def opens_with_order(words: Sequence[str], index: int) -> bool:
    """Return whether the clause opens with the plain form of a verb, as an order does."""
    first = index
    while first > max(0, index - _REACH) and is_word(words[first - 1]):
        first -= 1
    return first < index and (words[first] in BASES or words[first] in _ORDERS)


def _verb_to_left(words: Sequence[str], index: int) -> bool:
    for back in range(index - 1, max(-1, index - _REACH), -1):
        word = words[back]
        opens = back == 0 or not is_word(words[back - 1])
        if not is_word(word) or word in OPENERS or (word in SAYING and not opens):
            return False
        if word in AUXILIARIES or word in PASTS or (opens and word in BASES):
            return True
        if word in THIRD_PERSONS and back < index - 1:
            return True
        subject = words[back - 1] if back else ""
        if word in BASES and (subject in SUBJECTS or subject in SINGULAR_SUBJECTS):
            return True
    return False


def _verb_to_right(words: Sequence[str], index: int) -> bool:
    for ahead in range(index + 1, min(len(words), index + _REACH)):
        word = words[ahead]
        if not is_word(word) or word in OPENERS or word == "to":
            return False
        if word in AUXILIARIES or word in PASTS:
            return True
        if ahead == index + 1 and (word.endswith("ed") or word in _agreeing(words, index)):
            return True
    return False


def _agreeing(words: Sequence[str], index: int) -> frozenset[str]:
    """The verbs that the word could be the subject of."""
    if words[index].endswith("s"):
        return BASES
    return frozenset() if index and words[index - 1].endswith("s") else THIRD_PERSONS
