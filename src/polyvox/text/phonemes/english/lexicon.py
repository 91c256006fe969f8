"""The English pronouncing dictionaries, by variant and part of speech."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal

from polyvox.text.phonemes import misaki
from polyvox.text.phonemes.english.british import british

Variant = Literal["us", "gb"]

Entry = str | Mapping[str, str | None]
"""Phonemes, or phonemes by part of speech: DEFAULT, NOUN, VERB, VBD, ADJ, ADV, DT, and `None` before a break.

A part of speech whose phonemes are None is an acronym, to be spelled out.
"""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of one variant of English.

    `gold` was checked by hand and knows cases; `silver` and `names` are lower case, and `names` American.
    """

    variant: Variant
    gold: Mapping[str, Entry]
    silver: Mapping[str, Entry]
    names: Mapping[str, str]

    def find(self, word: str) -> Entry | None:
        """The entry in whatever case comes nearest, from the dictionaries and then from the names."""
        return self.dictionary(word) or self._name(word.lower())

    def dictionary(self, word: str) -> Entry | None:
        """The dictionaries' entry: as written, in lower case, or capitalised."""
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

    def _name(self, lower: str) -> str | None:
        sound = self.names.get(lower)
        return british(sound, lower) if sound and self.variant == "gb" else sound


@cache
def lexicon(variant: Variant) -> Lexicon:
    """The dictionaries of a variant, read from disk once."""
    gold, silver = dictionaries(variant)
    return Lexicon(variant, MappingProxyType(gold | _supplement(variant)), MappingProxyType(silver), _names())


def dictionaries(variant: Variant) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """Gold and silver as misaki has them."""
    words, sounds, by_part_of_speech, silver_words, silver_sounds = misaki.blocks(variant)
    return _entries(words, sounds) | json.loads(by_part_of_speech), _entries(silver_words, silver_sounds)


@cache
def _names() -> Mapping[str, str]:
    """Names and other words from the CMU pronouncing dictionary, one to a line with its sound."""
    fields = _own("names.txt").split()
    return MappingProxyType(dict(zip(fields[::2], fields[1::2], strict=True)))


def _entries(words: str, sounds: str) -> dict[str, Entry]:
    return dict(zip(words.split("\n"), sounds.split("\n"), strict=True))


def _supplement(variant: Variant) -> dict[str, Entry]:
    """Own entries: new words, and words that the dictionaries read otherwise than most people do."""
    entries: dict[str, dict[Variant, Entry] | str] = json.loads(_own("supplement.json"))
    return {word: sound if isinstance(sound, str) else sound[variant] for word, sound in entries.items()}


def _own(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
