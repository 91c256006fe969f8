"""The normaliser of all other languages: punctuation only; numbers are left to the phonemizer."""

from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Quotes, dashes, ellipses and brackets in the voices' forms; pictures and controls dropped."""
    return tidy(fold(text), keep_symbols=True) if options.normalize else speakable(text)
