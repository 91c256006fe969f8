"""Phonemizers: from normalised text to the phoneme symbols that the models were trained on."""

from functools import cache
from typing import Final, Literal

from polyvox.errors import NotServedError
from polyvox.text.phonemes.base import Phonemizer
from polyvox.text.phonemes.espeak.choice import VOICES

__all__ = ["LANGUAGES", "Phonemizer", "phonemizer_for"]

LANGUAGES: Final = ("en-us", "en-gb", "zh", "ja", *VOICES)


@cache
def phonemizer_for(language: str, *, espeak: str) -> Phonemizer:
    """The phonemizer of a language, made once; `NotServedError` names what is missing and how to get it.

    A language's module is imported here: each brings dictionaries of its own.
    """
    match language.lower():
        case "en-us":
            return _english("us")
        case "en-gb":
            return _english("gb")
        case "zh":
            from polyvox.text.phonemes.chinese import ChinesePhonemizer

            return ChinesePhonemizer(_english("us"))
        case "ja":
            from polyvox.text.phonemes.japanese.phonemizer import JapanesePhonemizer

            return JapanesePhonemizer(_english("us"))
        case other if other in VOICES:
            from polyvox.text.phonemes.espeak.phonemizer import EspeakPhonemizer

            return EspeakPhonemizer(other, espeak)
    raise NotServedError(f"No phonemizer speaks {language!r}; choose one of {', '.join(LANGUAGES)}.", field="language")


def _english(variant: Literal["us", "gb"]) -> Phonemizer:
    from polyvox.text.phonemes.english.phonemizer import EnglishPhonemizer

    return EnglishPhonemizer(variant)
