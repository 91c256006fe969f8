"""Text normalisation: from written to spoken words, by language."""

from collections.abc import Callable, Mapping
from typing import Final

from polyvox.text.normalize import en, es, fr, hi, it, ja, ms, other, pt, zh
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

Normalizer = Callable[[TrackedText, NormalizationOptions], TrackedText]

_NORMALIZERS: Final[Mapping[str, Normalizer]] = {
    "cmn": zh.normalize,
    "en": en.normalize,
    "es": es.normalize,
    "fr": fr.normalize,
    "hi": hi.normalize,
    "it": it.normalize,
    "ja": ja.normalize,
    "ms": ms.normalize,
    "pt": pt.normalize,
    "zh": zh.normalize,
}


def normalizer_for(language: str) -> Normalizer:
    """The normaliser of a language tag; languages without their own share one that leaves numbers alone."""
    return _NORMALIZERS.get(language.lower().replace("_", "-").partition("-")[0], other.normalize)
