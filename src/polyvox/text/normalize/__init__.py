"""Text normalisation: from written to spoken words, by language."""

from collections.abc import Callable

from polyvox.text.normalize import en, hi, ja, ms, other, zh
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

Normalizer = Callable[[TrackedText, NormalizationOptions], TrackedText]


def normalizer_for(language: str) -> Normalizer:
    """The normaliser of a language tag; languages without their own share one that leaves numbers alone."""
    family = language.lower().replace("_", "-").partition("-")[0]
    if family == "en":
        return en.normalize
    if family in ("zh", "cmn"):
        return zh.normalize
    if family == "ms":
        return ms.normalize
    if family == "ja":
        return ja.normalize
    if family == "hi":
        return hi.normalize
    return other.normalize
