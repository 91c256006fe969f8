"""Phonemes in IPA from the model's alphabet, in which stress, length and tone are symbols of their own."""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from polyvox.text.phonemes.alphabet import ALPHABET, PUNCTUATION, STRESSES

MODIFIERS: Final = frozenset("ːʰʲᵝ\u0303→↗↓↘")
"""Symbols that belong to the phoneme before them; a stress mark belongs to the one after it."""
SILENT: Final = PUNCTUATION | {" "}

_IPA: Final[Mapping[str, str]] = MappingProxyType(
    {
        "A": "eɪ", "I": "aɪ", "O": "oʊ", "Q": "əʊ", "W": "aʊ", "Y": "ɔɪ", "T": "ɾ", "S": "sː", "ᵊ": "ə",
        "ʣ": "dz", "ʥ": "dʑ", "ʦ": "ts", "ʨ": "tɕ", "ʤ": "dʒ", "ʧ": "tʃ", "ꭧ": "tʂ",
        "→": "˥", "↗": "˧˥", "↓": "˨˩˦", "↘": "˥˩",
    }
)  # fmt: skip
_BASES: Final = re.escape("".join(sorted(ALPHABET - SILENT - STRESSES - MODIFIERS)))
_UNIT: Final = re.compile(
    f"[{''.join(sorted(STRESSES))}]*[{_BASES}][{''.join(sorted(MODIFIERS))}]*",
)


class PhonemeUnit(NamedTuple):
    """A phoneme in IPA, and the range of its symbols in the word."""

    ipa: str
    start: int
    end: int


@lru_cache(maxsize=8_192)
def phoneme_units(phonemes: str) -> tuple[PhonemeUnit, ...]:
    """The phonemes of a word in the model's alphabet; punctuation and spaces in it have none."""
    return tuple(
        PhonemeUnit("".join(_IPA.get(symbol, symbol) for symbol in found[0]), *found.span())
        for found in _UNIT.finditer(phonemes)
    )
