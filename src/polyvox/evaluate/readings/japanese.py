"""The judge of Japanese readings: by phonemes. A reading is written in kana, with ` | ` between several."""

import re
from functools import cache
from typing import Final

from polyvox.evaluate.readings.reading_list import Reading
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes import phonemizer_for
from polyvox.text.phonemes.base import Phonemizer
from polyvox.text.phonemes.japanese.kana import kana_phonemes
from polyvox.text.spoken import SpokenWord
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_SYLLABIC_N: Final = re.compile("[mŋɲnɴ](?![aeioɯɨjʲ])")
_MARK: Final = re.compile("[ .,:;!?—…“”()]")


@cache
def _phonemizer() -> Phonemizer:
    return phonemizer_for("ja", espeak="")


def said(written: str) -> str:
    """The phonemes of a text."""
    text = normalizer_for("ja")(TrackedText.of(written), NormalizationOptions())
    return _sounds("".join(part.phonemes for part in _phonemizer()(text, ()) if isinstance(part, SpokenWord)))


def is_read(reading: Reading) -> bool:
    """Return whether one of the readings has the phonemes of the text."""
    return said(reading.written) in [_sounds(kana_phonemes(right)) for right in reading.heard.split(" | ")]


def _sounds(phonemes: str) -> str:
    """Without spaces and marks; the syllabic n takes its place from its neighbour, which may be another word."""
    return _SYLLABIC_N.sub("ɴ", _MARK.sub("", phonemes))
