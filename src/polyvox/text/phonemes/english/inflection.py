"""Inflected forms of words whose base form is in the dictionary."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from polyvox.text.phonemes.english.lexicon import Variant
from polyvox.text.phonemes.english.stress import audible

_VOICELESS: Final = frozenset("ptkfθ")
_SIBILANTS: Final = frozenset("szʃʒʧʤ")
_BEFORE_FLAP: Final = frozenset("AIOWYiuæɑəɛɪɹʊʌ")
_DOUBLED: Final = re.compile(r"([bdgklmnprstvz])\1$")
_ONE_VOWEL_ONE_CONSONANT: Final = re.compile(r"(?:^|[^aeiou])[aeiouy][bcdfgklmnprstvz]$")
_VERBAL: Final = frozenset({"ed", "ing"})
# What follows an apostrophe, longest first, with its sound after a vowel and after a consonant.
_CLITICS: Final = {
    "n't": ("nt", "ᵊnt"),
    "'ll": ("l", "ᵊl"),
    "'ve": ("v", "əv"),
    "'re": ("ɹ", "əɹ"),
    "'d": ("d", "əd"),
    "'m": ("m", "əm"),
}

StemPhonemes = Callable[[str, bool], str | None]
"""The sound of a plain form that the dictionary has, or None; the flag asks for the verb of a heteronym."""


def inflected(word: str, plain: StemPhonemes, variant: Variant) -> str | None:
    """The sound of a word that is a known word and an ending: plural, possessive, past, -ing, or a contraction."""
    return _contraction(word, plain, variant) or _ending(word, plain, variant)


def with_s(stem: str, variant: Variant) -> str:
    """The stem with the plural's or possessive's ending, voiced as its last sound asks."""
    if stem[-1] in _VOICELESS:
        return stem + "s"
    if stem[-1] in _SIBILANTS:
        return stem + ("ɪz" if variant == "gb" else "ᵻz")
    return stem + "z"


def with_ed(stem: str, variant: Variant) -> str:
    """The stem with the ending of the past tense."""
    vowel = "ɪ" if variant == "gb" else "ᵻ"
    if stem[-1] in "td":
        return _flapped(stem, variant) + vowel + "d"
    return stem + ("t" if stem[-1] in "pkfθʃsʧ" else "d")


def with_ing(stem: str, variant: Variant, spelling: str) -> str:
    """The stem with -ing; a British r that was silent at the end is heard before it."""
    stem = audible(stem)
    linking = "ɹ" if variant == "gb" and stem[-1] in "əː" and spelling.rstrip("e").endswith("r") else ""
    return f"{_flapped(stem, variant)}{linking}ɪŋ"


def _flapped(stem: str, variant: Variant) -> str:
    """An American t between vowels, before an ending."""
    if variant == "us" and len(stem) > 1 and stem[-1] == "t" and stem[-2] in _BEFORE_FLAP:
        return stem[:-1] + "ɾ"
    return stem


def _contraction(word: str, plain: StemPhonemes, variant: Variant) -> str | None:
    for clitic, (after_vowel, after_consonant) in _CLITICS.items():
        if word.endswith(clitic) and len(word) > len(clitic):
            stem = plain(word[: -len(clitic)], True)
            if stem is None:
                return None
            syllabic = stem[-1] in "bdfkpstvzðɡʃʒʤʧθlmnŋ" and not (clitic == "'d" and stem[-1] not in "td")
            sound = after_consonant if syllabic else after_vowel
            if variant == "gb" and clitic == "'re":
                sound = "ə"
            return _flapped(stem, variant) + sound if sound[0] in "ᵊə" else stem + sound
    return None


def _ending(word: str, plain: StemPhonemes, variant: Variant) -> str | None:
    for spelling, ending in _stems(word):
        stem = plain(spelling, ending in _VERBAL)
        if stem:
            if ending == "s":
                return with_s(stem, variant)
            if ending == "ed":
                return with_ed(stem, variant)
            return stem[:-1] + "n" if ending == "in'" else with_ing(stem, variant, spelling)
    return None


def _stems(word: str) -> Iterator[tuple[str, str]]:
    """Plain forms that a word may come from, most likely first, each with the ending that was taken off."""
    if word.endswith("in'"):
        yield word[:-1] + "g", "in'"
    if word.endswith("'s"):
        yield word[:-2], "s"
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 2:
        yield word[:-1], "s"
        if word.endswith("ies") and len(word) > 4:
            yield word[:-3] + "y", "s"
        elif word.endswith("es") and len(word) > 4:
            yield word[:-2], "s"
    elif word.endswith("ed") and len(word) > 3:
        yield from ((stem, "ed") for stem in _verb_stems(word[:-2]))
    elif word.endswith("ing") and len(word) > 4:
        yield from ((stem, "ing") for stem in _verb_stems(word[:-3]))


def _verb_stems(root: str) -> Iterator[str]:
    """Spellings of the verb behind `root` + ending: with its silent e, plain, with y for i, or not doubled."""
    silent_e_first = bool(_ONE_VOWEL_ONE_CONSONANT.search(root))
    if silent_e_first:
        yield root + "e"
    if len(root) > 2:
        yield root
    if not silent_e_first:
        yield root + "e"
    if root.endswith("i"):
        yield root[:-1] + "y"
    if root.endswith("ck"):
        yield root[:-1]
    if _DOUBLED.search(root):
        yield root[:-1]
