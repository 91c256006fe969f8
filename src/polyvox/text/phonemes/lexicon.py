"""The pronouncing dictionaries: what each English word sounds like, by variant and part of speech."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal

Variant = Literal["us", "gb"]

Entry = str | Mapping[str, str | None]
"""Phonemes, or phonemes by part of speech: DEFAULT, NOUN, VERB, VBD, ADJ, ADV, DT, and `None` before a break.

A part of speech whose phonemes are None is an acronym, to be spelled out.
"""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of one variant of English. `gold` was checked by hand and knows cases; `silver` is lower case."""

    variant: Variant
    gold: Mapping[str, Entry]
    silver: Mapping[str, Entry]

    def exact(self, word: str) -> Entry | None:
        """The entry written just so."""
        return self.gold.get(word) or self.silver.get(word)

    def find(self, word: str) -> Entry | None:
        """The entry in whatever case comes nearest: as written, lower, then capitalised."""
        lower = word.lower()
        for form in (word, lower, lower.capitalize()):
            entry = self.gold.get(form)
            if entry is not None and (len(form) > 1 or form == word):
                return entry
        return self.silver.get(lower)

    def letter(self, letter: str) -> str:
        """The name of a letter from a to z."""
        name = self.gold[letter.upper()]
        assert isinstance(name, str)
        return name


@cache
def lexicon(variant: Variant) -> Lexicon:
    """The dictionaries of a variant, read from disk once."""
    extra = _supplement(variant)
    gold = _dictionary(f"{variant}_gold.json")
    return Lexicon(variant, MappingProxyType(gold | extra), MappingProxyType(_dictionary(f"{variant}_silver.json")))


def _dictionary(name: str) -> dict[str, Entry]:
    text = resources.files("misaki").joinpath("data", name).read_text(encoding="utf-8")
    entries: dict[str, Entry] = json.loads(text)
    return entries


def _supplement(variant: Variant) -> dict[str, Entry]:
    """Names and new words that the dictionaries lack, or read otherwise than most people do today."""
    text = resources.files(__package__).joinpath("supplement.json").read_text(encoding="utf-8")
    entries: dict[str, dict[str, str] | str] = json.loads(text)
    return {word: sound if isinstance(sound, str) else sound[variant] for word, sound in entries.items()}
