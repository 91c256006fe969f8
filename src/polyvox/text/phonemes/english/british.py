"""American phonemes converted to British ones, for names that only an American source has."""

import re
from typing import Final

from polyvox.text.phonemes.alphabet import ENGLISH_VOWELS

_VOWEL: Final = f"[ˈˌ]?[{''.join(sorted(ENGLISH_VOWELS))}]"
_SHIFTS: Final = (
    (re.compile("[ɾʔ]"), "t"),
    (re.compile("O"), "Q"),
    (re.compile("æ"), "a"),
    (re.compile("ᵻ"), "ɪ"),
    (re.compile("ɑ(?=ɹ)"), "ɑː"),
    (re.compile("ɔ"), "ɔː"),
    (re.compile("ɜ"), "ɜː"),
    (re.compile("ɛɹ"), "ɛːɹ"),
    (re.compile("ɪɹ"), "ɪəɹ"),
    (re.compile("ʊɹ"), "ʊəɹ"),
    (re.compile("(?<=[ˈˌ])i"), "iː"),
    (re.compile("i(?!ː|$)"), "ɪ"),
    (re.compile("u"), "uː"),
    (re.compile(f"ɛː(?=ɹ{_VOWEL})"), "ɛ"),
    (re.compile(f"ɹ(?!{_VOWEL})"), ""),
)


def british(phonemes: str, spelling: str) -> str:
    """The sounds without the r that is silent there; a spelling with o says which open vowel is meant."""
    phonemes = re.sub("ɑ(?!ɹ)", "ɒ" if "o" in spelling else "ɑː", phonemes)
    for pattern, sound in _SHIFTS:
        phonemes = pattern.sub(sound, phonemes)
    return phonemes
