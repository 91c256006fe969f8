"""The dictionaries of misaki as this package holds them: entry for entry what misaki's own files say."""

import hashlib
import json
from collections.abc import Mapping

import pytest

from polyvox.text.phonemes import misaki
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.english.lexicon import Entry, Variant, dictionaries

VARIANTS: tuple[Variant, ...] = ("us", "gb")


@pytest.mark.long
def test_the_english_dictionaries_give_misakis_files_again_byte_for_byte() -> None:
    for variant in VARIANTS:
        gold, silver = dictionaries(variant)
        assert misaki.sources(variant) == {
            f"{variant}_gold.json": sha256(as_misaki_writes(gold)),
            f"{variant}_silver.json": sha256(as_misaki_writes(silver)),
        }


def test_the_japanese_words_give_misakis_file_again_byte_for_byte() -> None:
    (words,) = misaki.blocks("ja")
    assert misaki.sources("ja") == {"ja_words.txt": sha256(words)}


@pytest.mark.long
def test_every_sound_is_of_symbols_that_kokoro_knows() -> None:
    for variant in VARIANTS:
        for entries in dictionaries(variant):
            assert symbols(entries) <= ALPHABET


def symbols(entries: Mapping[str, Entry]) -> set[str]:
    sounds = ([entry] if isinstance(entry, str) else entry.values() for entry in entries.values())
    return {symbol for of_word in sounds for sound in of_word for symbol in sound or ""}


def as_misaki_writes(entries: Mapping[str, Entry]) -> str:
    return json.dumps(dict(sorted(entries.items())), ensure_ascii=False, indent=2)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
