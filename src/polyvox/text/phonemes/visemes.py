"""Visemes: the shapes of the mouth that go with phonemes, by the 22 ids of Azure's speech service."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

SILENCE: Final = 0
"""The viseme of a closed mouth at rest."""

# The ids that Azure documents for its locales. Where those disagree, as on the diphthongs of British English, the
# American ones stand; sounds that no locale lists have the id of the nearest one that looks like them.
_PHONEMES: Final[Mapping[int, str]] = MappingProxyType(
    {
        1: "æəʌɚøɤ",
        2: "aɑɒ",
        3: "ɔ",
        4: "eɛœʊyɐ",
        5: "ɜɝ",
        6: "iɪjɨᵻɯʝ",
        7: "uwɥɰ",
        8: "o",
        12: "hxçχɸ",
        13: "rɹɻʁ",
        14: "lʎ",
        15: "sz",
        16: "ʃʒɕʑʂ",
        17: "ð",
        18: "fvʋ",
        19: "tdnθɾɽɲɳɴɖʈʔ",
        20: "kɡqcɟɣŋ",
        21: "pbmβ",
    }
)
_DIPHTHONGS: Final[Mapping[str, int]] = MappingProxyType({"aʊ": 9, "ɔɪ": 10, "aɪ": 11})
_IDS: Final = MappingProxyType({phoneme: viseme for viseme, run in _PHONEMES.items() for phoneme in run})


@lru_cache(maxsize=1_024)
def visemes(phoneme: str) -> tuple[int, ...]:
    """The visemes of a phoneme in IPA, in order: two for most diphthongs and affricates; none for an unknown one.

    Marks of stress, length, tone and the like have no shape of their own.
    """
    letters = "".join(letter for letter in phoneme if letter in _IDS)
    return (_DIPHTHONGS[letters],) if letters in _DIPHTHONGS else tuple(_IDS[letter] for letter in letters)
