"""The phonemizer protocol, and what all phonemizers share."""

import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from polyvox.text.markup.markup import InlinePhonemes, Insert
from polyvox.text.phonemes.alphabet import only_alphabet
from polyvox.text.spoken import Spoken, SpokenWord
from polyvox.text.tracked import TrackedText

MAX_WORD_PHONEMES: Final = 120

_log = logging.getLogger(__name__)
# Ways to write a sound in plain IPA that the model has its own symbol for.
_FROM_IPA: Final = {
    "eɪ": "A", "aɪ": "I", "oʊ": "O", "əʊ": "Q", "aʊ": "W", "ɔɪ": "Y", "dʒ": "ʤ", "tʃ": "ʧ",
    "ɝ": "ɜɹ", "ɫ": "l", "g": "ɡ", "'": "ˈ", "͡": "",
}  # fmt: skip


class Phonemizer(Protocol):
    """Reads normalised text of one language; immutable, so that all sessions may share it.

    The words come in the order of the text, each with the span of the caller's text behind it, and their phonemes hold
    symbols of the model's alphabet only. An insert's placeholder becomes the insert itself.
    """

    def __call__(self, text: TrackedText, inserts: Sequence[Insert]) -> list[Spoken]: ...


def split_phonemes(phonemes: str) -> list[str]:
    """Phonemes split at spaces, and further where a word is too long for the model."""
    return [
        word[start : start + MAX_WORD_PHONEMES]
        for word in only_alphabet(phonemes).split()
        for start in range(0, len(word), MAX_WORD_PHONEMES)
    ]


def spoken_insert(insert: Insert, read: Callable[[str], str]) -> Spoken:
    """An insert as it is spoken; a word whose given phonemes the model has no symbol for is read as usual."""
    if not isinstance(insert, InlinePhonemes):
        return insert
    phonemes = insert.phonemes
    for ipa, symbol in _FROM_IPA.items():
        phonemes = phonemes.replace(ipa, symbol)
    known = only_alphabet(phonemes).strip()
    if not known:
        _log.warning("none of the phonemes given for %r is a symbol of the model; it is read as usual", insert.text)
        known = only_alphabet(read(insert.text))
    return SpokenWord(insert.text, known, insert.span, False)
