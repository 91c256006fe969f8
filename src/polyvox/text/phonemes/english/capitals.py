"""Initials inside a text in capitals: which short words are meant as words there, and which as letters."""

from collections.abc import Sequence
from typing import Final

from polyvox.text.phonemes.english.clauses import is_word
from polyvox.text.phonemes.english.verbs import GIVING
from polyvox.text.phonemes.english.word_classes import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    OBJECTS,
    PREPOSITIONS,
)

_SHORT_WORDS: Final = frozenset(
    "ad ah am an as at be by do eh go ha he hi if in is it ma me mr my no of oh ok on or ow ox pa so st to uh um "
    "up us vs we ya ye yo dr ms jr sr de la le el".split()
)
_FUNCTION: Final = ADVERBS | AUXILIARIES | CONJUNCTIONS | DETERMINERS | OBJECTS | PREPOSITIONS | {"to", "all", "if"}


def is_shouted_initialism(word: str, words: Sequence[str], index: int) -> bool:
    """Return whether capitals among capitals are to be spelled: `UN`, and `US` where the country is meant."""
    if word == "US":
        return _is_country(words, index)
    return len(word) == 2 and word.isupper() and word.lower() not in _SHORT_WORDS


def _is_country(words: Sequence[str], index: int) -> bool:
    """The pronoun stands behind a verb or preposition and before no noun; the country elsewhere."""
    left = words[index - 1] if index else ""
    right = words[index + 1] if index + 1 < len(words) else ""
    if not is_word(left) or left == "the":
        return True
    if left in GIVING:
        return False
    return is_word(right) and right not in _FUNCTION
