"""Words in capitals and words in mixed case."""

import re
from typing import Final

from polyvox.text.phonemes.lexicon import Lexicon
from polyvox.text.phonemes.stress import last_strongest

_CAMEL: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_CLUSTER: Final = re.compile(r"[^AEIOUY]{4}|^[^AEIOUY]{3}|[AEIOUY]{4}|(.)\1\1")
_WORD_FROM: Final = 5
_LETTERS_IN_A_ROW: Final = 8

# Capitals that are an acronym to the dictionary, but far more often a word that is stressed.
EMPHATIC: Final = frozenset("HI OH AH HM HMM MM HE ME OR IS AS BE IN ADD ETC AM".split())


def spelled(letters: str, lexicon: Lexicon) -> str:
    """Letters called one by one; a long row is cut, so that each group has its beat."""
    names = [lexicon.letter(letter) for letter in letters if letter.isalpha()]
    groups = [names[start : start + _LETTERS_IN_A_ROW] for start in range(0, len(names), _LETTERS_IN_A_ROW)]
    return " ".join(last_strongest(group) for group in groups)


def camel_parts(word: str) -> list[str]:
    """A word cut where its case turns: OpenAI is Open and AI."""
    return _CAMEL.findall(word)


def is_pronounceable(capitals: str) -> bool:
    """Return whether unknown capitals look like a name in capitals rather than initials."""
    vowels = sum(letter in "AEIOUY" for letter in capitals)
    return len(capitals) >= _WORD_FROM and vowels >= 2 and not _CLUSTER.search(capitals)
