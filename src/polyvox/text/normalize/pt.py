"""The Portuguese normaliser."""

from polyvox.text.normalize.romance.languages.portuguese import PORTUGUESE
from polyvox.text.normalize.romance.normalizer import RomanceNormalizer

normalize = RomanceNormalizer.of(PORTUGUESE)
