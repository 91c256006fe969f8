"""Spoken forms: the words that a person would say for an English text, which its transcript is compared with."""

import re
from collections.abc import Sequence
from typing import Final

from polyvox.evaluate.wer import WerResult, word_error_rate, words_of
from polyvox.text.detect import detect_language
from polyvox.text.markup import markup
from polyvox.text.normalize import normalizer_for
from polyvox.types import NormalizationOptions

_CALLED: Final = re.compile(r"\b[A-Z](?:[ .][A-Z](?![A-Za-z]))+(?:\.(?=[A-Z\s]|$))?(?:'s)?|\b[A-Z]{2,}'s\b")
_BETWEEN_LETTERS: Final = str.maketrans("", "", " .'")


def spoken_form(text: str) -> str:
    """An English text as the normaliser reads it, without markup: figures, signs and abbreviations as words."""
    marked = markup.parse(text)
    said = normalizer_for("en")(marked.text, NormalizationOptions()).text
    return _with_inserts(said, marked.inserts)


def plain_form(text: str) -> str | None:
    """The words of a text that has nothing but words, so that they are its spoken form; None for any other."""
    marked = markup.parse(text)
    words = _with_inserts(marked.text.text, marked.inserts)
    return words if words_of(words) == words_of(spoken_form(text)) else None


def compare_words(forms: Sequence[str], transcript: str) -> WerResult:
    """Word errors of a transcript against the spoken form that it comes nearest to.

    Only the transcript is normalised, since recognisers write figures for what they hear: a reference brought to words
    by the server's own rules would agree with every misreading.
    """
    return _nearest(forms, spoken_form(transcript))


def reading_errors(text: str, forms: Sequence[str]) -> WerResult:
    """Words that the normaliser reads otherwise than a person would; a transcript's figures hide these."""
    return _nearest(forms, spoken_form(text))


def _nearest(forms: Sequence[str], heard: str) -> WerResult:
    results = (word_error_rate(_joined(form), _joined(heard)) for form in forms)
    return min(results, key=lambda result: result.rate)


def _joined(text: str) -> str:
    """The text with letters that are called one by one put together: "A P I's" and "A.P.I.s" are "APIs"."""
    return _CALLED.sub(lambda match: match.group().translate(_BETWEEN_LETTERS), text)


def is_english(text: str, language: str | None) -> bool:
    """Return whether a text is English, by the language it is read in or, without one, by detection."""
    return (language or detect_language(text)).lower().replace("_", "-").partition("-")[0] == "en"


def _with_inserts(text: str, inserts: tuple[markup.Insert, ...]) -> str:
    return "".join(_insert_text(char, inserts) for char in text)


def _insert_text(char: str, inserts: tuple[markup.Insert, ...]) -> str:
    insert = markup.insert_at(char, inserts)
    if insert is None:
        return char
    return insert.text if isinstance(insert, markup.InlinePhonemes) else " "
