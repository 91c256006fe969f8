"""Phonemizers: from normalised text to the phoneme symbols that the models were trained on."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final

from polyvox.errors import UnavailableError
from polyvox.text.phonemes.base import Phonemizer
from polyvox.text.phonemes.chinese import ChinesePhonemizer
from polyvox.text.phonemes.english import EnglishPhonemizer
from polyvox.text.phonemes.espeak import VOICES, EspeakPhonemizer
from polyvox.text.phonemes.japanese import JapanesePhonemizer, missing_dictionary

__all__ = ["LANGUAGES", "Phonemizer", "missing_for", "phonemizer_for"]

_MAKERS: Final[Mapping[str, Callable[[str], Phonemizer]]] = {
    "en-us": lambda espeak: EnglishPhonemizer("us"),
    "en-gb": lambda espeak: EnglishPhonemizer("gb"),
    "zh": lambda espeak: ChinesePhonemizer(EnglishPhonemizer("us")),
    "ja": lambda espeak: JapanesePhonemizer(EnglishPhonemizer("us")),
    **{language: partial(EspeakPhonemizer, language) for language in VOICES},
}
LANGUAGES: Final = tuple(_MAKERS)


@cache
def phonemizer_for(language: str, *, espeak: str) -> Phonemizer:
    """The phonemizer of a language, made once; `UnavailableError` names what is missing and how to get it."""
    maker = _MAKERS.get(language.lower())
    if maker is None:
        raise UnavailableError(
            f"No phonemizer speaks {language!r}; choose one of {', '.join(LANGUAGES)}.", field="language"
        )
    return maker(espeak)


def missing_for(language: str, *, espeak: str) -> str:
    """What a language lacks on this machine and how to get it; empty where it can be read. Loads nothing large."""
    if language == "ja":
        return missing_dictionary()
    try:
        if language in VOICES:
            phonemizer_for(language, espeak=espeak)
    except UnavailableError as error:
        return str(error)
    return ""
