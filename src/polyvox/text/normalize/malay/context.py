"""The context of a match in Malay text, within a bounded distance."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_after, word_before

__all__ = ["capitalised_like", "ends_sentence", "last_words", "word_after", "word_before"]

_REACH: Final = 24
_NEW_SENTENCE: Final = re.compile(r"[\"”’']*(?:$|\s*\n|\s+[\"“‘'(]*[A-Z]|\s+$)")
_WORDS: Final = re.compile(r"[A-Za-z]+")


def ends_sentence(match: re.Match[str]) -> bool:
    """Return whether a full stop at the end of the match, which belongs to an abbreviation, also ends the sentence."""
    return _NEW_SENTENCE.match(match.string, match.end(), match.end() + _REACH) is not None


def last_words(match: re.Match[str], reach: int = _REACH) -> frozenset[str]:
    """The words shortly in front of the match, on its line, in small letters; the first may be cut short."""
    before = match.string[max(0, match.start() - reach) : match.start()].rpartition("\n")[2]
    return frozenset(word.lower() for word in _WORDS.findall(before))


def capitalised_like(model: str, words: str) -> str:
    """The words with a capital where the model has one."""
    return words[:1].upper() + words[1:] if model[:1].isupper() else words
