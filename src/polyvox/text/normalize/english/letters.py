"""Letters that are called by their names and not read as a word."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final

_VOWEL: Final = re.compile(r"[aeiouy]", re.IGNORECASE)
_PLURAL_LETTER: Final = re.compile("[A-Z]s")
_LONGEST_INITIALS: Final = 5
# Initials that could be read as a word; in names of programs and in paths they stand in small letters.
_INITIALISMS: Final = frozenset(
    "ai api apis asr cli cpu db dns eof etl gid gpu gui id ids io ip iso llm nn os pid rsa sdk ui uid url urls uri usr "
    "utf ux vm nvme".split()
)


def initials_as_capitals(word: str) -> str:
    """The word, in capitals where it can only be spelled: a single letter, or a few without a vowel."""
    lower = word.lower()
    if lower in _INITIALISMS:
        return lower[:-1].upper() + "s" if lower.endswith("s") and lower[:-1] in _INITIALISMS else lower.upper()
    if _PLURAL_LETTER.fullmatch(word):
        return f"{word[0]}'s"
    unsayable = len(word) <= _LONGEST_INITIALS and not _VOWEL.search(word)
    return word.upper() if len(word) == 1 or unsayable else word


def kept_apart(letters: str) -> str:
    """Letters that stay letters whatever word they make; capitals with stops become one where they can ("N.A.T.O.")."""
    return ".".join(letters.lower() if len(letters) > 2 else letters)


def before_stop(letters: str, match: re.Match[str]) -> str:
    """Letters with stops, apart from the full stop behind the match, which ends a sentence."""
    return f"{letters} " if match.string.startswith(".", match.end()) else letters


def spelled_pair(letters: str) -> str:
    """Capitals that are to be spelled; a pair keeps a stop between, since it is often a word as well (US, AM, IT)."""
    return ".".join(letters) if len(letters) == 2 else letters


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, grouped by first letter, so that a search tries only those that may match."""
    groups = groupby(sorted(set(words)), key=lambda word: word[0])
    tails = {first: sorted((re.escape(word[1:]) for word in group), key=len, reverse=True) for first, group in groups}
    return "(?:" + "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in tails.items()) + ")"
