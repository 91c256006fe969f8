"""Compares a text with what a recogniser heard of its speech: by phonemes, so that homophones are no errors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from polyvox.errors import NotServedError
from polyvox.text.markup import markup
from polyvox.text.normalize import normalizer_for
from polyvox.text.phoneme_frontend import PhonemeFrontend
from polyvox.text.phonemes import LANGUAGES
from polyvox.text.spoken import SpokenWord
from polyvox.types import NormalizationOptions

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SILENT: Final = re.compile(r"[ˈˌːʰʲ\u0300-\u036f\W\d_→↗↘↓↑]")
"""Stress, length, tones and joins, which recognisers do not write."""
_ALIKE: Final = str.maketrans(
    {"T": "t", "ɾ": "t", "ʔ": "t", "ᵊ": "ə", "ᵻ": "ɪ", "ɐ": "ə", "ɜ": "ə", "ɚ": "ə", "r": "ɹ"}
)
_VOWELS: Final = frozenset("aeiouyɑɒæʌɔəɛɪʊøœɨɯɤɶAIOQWYɞʉ")
_PAIRS: Final = frozenset(
    frozenset(pair) for pair in ("pb", "td", "kɡ", "sz", "fv", "θð", "ʃʒ", "ʧʤ", "mn", "nŋ", "θf")
)
_NO_MARKUP: Final = str.maketrans("[]", "  ")
"""A recogniser may write `[Music]`, and nothing that it writes is obeyed."""
_NEAR: Final = 0.5
"""The cost of one vowel for another, of a consonant for its voiced twin, and of a vowel more or less."""
_WRONG: Final = 0.5
"""The share of a word's phonemes from which on it is another word."""
_EXTRA_PHONEMES: Final = 3
"""Phonemes in a row that make a word which is not in the text."""


@dataclass(frozen=True, slots=True)
class HeardWords:
    """The words of a text, and how many of them were not heard; `extra` were heard and are not in the text.

    `distance` is the share of the text's phonemes that were heard otherwise.
    """

    words: int
    missed: int
    extra: int
    distance: float

    @property
    def wrong(self) -> int:
        return self.missed + self.extra


def compare_heard(text: str, heard: str, language: str, *, espeak: str) -> HeardWords:
    """Compare a text, which may hold markup, with a transcript; both are normalised alike. Blocks."""
    expected = [word for word in _sounds(text, language, espeak) if word]
    found = "".join(_sounds(heard.translate(_NO_MARKUP), language, espeak))
    costs, runs = _aligned(expected, found)
    missed = sum(cost >= _WRONG * len(word) for word, cost in zip(expected, costs, strict=True))
    extra = sum(int(run // _EXTRA_PHONEMES) for run in runs)
    return HeardWords(len(expected), missed, extra, (sum(costs) + sum(runs)) / max(1, sum(map(len, expected))))


def _sounds(text: str, language: str, espeak: str) -> list[str]:
    """The phonemes of each word; in a language without a phonemizer its letters."""
    tag = _phonemized(language)
    if tag:
        try:
            sentences = _frontend(tag, espeak).read(text, NormalizationOptions())
            words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
            return [_SILENT.sub("", word.phonemes).translate(_ALIKE) for word in words if not word.is_punctuation]
        except NotServedError:  # its phonemizer is not installed
            pass
    said = normalizer_for(language)(markup.parse(text).text, NormalizationOptions()).text
    return [word.casefold() for word in _WORD.findall(said)]


def _phonemized(language: str) -> str:
    """The tag by which a language is phonemized; empty where it is not."""
    tag = language.lower().replace("_", "-")
    base = tag.partition("-")[0]
    return next((known for known in (tag, base, *LANGUAGES) if known in LANGUAGES and known.startswith(base)), "")


@cache
def _frontend(tag: str, espeak: str) -> PhonemeFrontend:
    return PhonemeFrontend(tag, espeak=espeak)


def _aligned(expected: Sequence[str], found: str) -> tuple[list[float], list[float]]:
    """The cost of each word in the cheapest alignment of all phonemes, and of each run of phonemes beyond them.

    A short run inside a word is a fault of that word.
    """
    sounds = "".join(expected)
    owners = [number for number, word in enumerate(expected) for _ in word]
    table = _table(sounds, found)
    costs, runs, run = [0.0] * len(expected), [0.0], 0.0
    row, column = len(sounds), len(found)
    while row or column:
        here = table[row, column]
        if row and column and here == table[row - 1, column - 1] + _swap(sounds[row - 1], found[column - 1]):
            row, column = row - 1, column - 1
            costs[owners[row]] += _swap(sounds[row], found[column])
        elif row and here == table[row - 1, column] + _skip(sounds[row - 1]):
            row -= 1
            costs[owners[row]] += _skip(sounds[row])
        else:
            column -= 1
            run += _skip(found[column])
            continue
        inside = row + 1 < len(sounds) and owners[row] == owners[row + 1] and run < _EXTRA_PHONEMES
        if inside:
            costs[owners[row]] += run
        else:
            runs.append(run)
        run = 0.0
    return costs, [*runs, run]


def _table(sounds: str, found: str) -> npt.NDArray[np.float64]:
    """The cost of the cheapest alignment of each beginning of one with each beginning of the other."""
    table = np.zeros((len(sounds) + 1, len(found) + 1))
    table[0, 1:] = np.cumsum([_skip(sound) for sound in found])
    for row, sound in enumerate(sounds, 1):
        above, best = table[row - 1].tolist(), 0.0
        line = [best := above[0] + _skip(sound)]
        for column, other in enumerate(found):
            best = min(above[column] + _swap(sound, other), above[column + 1] + _skip(sound), best + _skip(other))
            line.append(best)
        table[row] = line
    return table


@cache
def _swap(one: str, other: str) -> float:
    if one == other:
        return 0.0
    near = (one in _VOWELS and other in _VOWELS) or frozenset((one, other)) in _PAIRS
    return _NEAR if near else 1.0


@cache
def _skip(sound: str) -> float:
    return _NEAR if sound in _VOWELS else 1.0
