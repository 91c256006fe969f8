"""Seconds that a text takes to speak, estimated from its characters before anything is normalised."""

import unicodedata
from collections import Counter
from typing import Final

# Seconds at speed 1, measured over what the normalisers make of such characters: a figure becomes a word, and so does
# a sign; a Chinese character is a syllable; white space and marks are counted with the letters around them.
_LETTER: Final = 0.075
_FIGURE: Final = 0.33
_SIGN: Final = 0.35
_SYLLABLE: Final = 0.2
_MORA: Final = 0.13
_SIGNS: Final = frozenset("$€£¥₹%@#&+=/\\°§©®™<>^*_|~")


def spoken_seconds(text: str, speed: float = 1.0) -> float:
    """Seconds that a text takes, within a third for running text; pauses that the caller marks are left out."""
    return sum(_seconds(char) * count for char, count in Counter(text).items()) / speed


def _seconds(char: str) -> float:
    if char.isascii() and char.isalpha():
        return _LETTER
    if char in _SIGNS:
        return _SIGN
    kind = unicodedata.category(char)
    if kind in ("Nd", "No", "Nl"):
        return _FIGURE
    if kind == "Lo":
        return _other_letter(char)
    if kind in ("Sc", "Sm"):
        return _SIGN
    return _LETTER if kind[0] == "L" else 0.0


def _other_letter(char: str) -> float:
    """A letter without case: a syllable of Chinese or Korean, half of one in Japanese, or a plain letter."""
    name = unicodedata.name(char, "")
    if name.startswith(("CJK", "HANGUL SYLLABLE")):
        return _SYLLABLE
    return _MORA if name.startswith(("HIRAGANA", "KATAKANA")) else _LETTER
