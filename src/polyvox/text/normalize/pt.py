"""The Portuguese normaliser."""

from polyvox.text.normalize.romance.normalizer import RomanceNormalizer
from polyvox.text.normalize.romance.portuguese.language import PORTUGUESE

normalize = RomanceNormalizer.of(PORTUGUESE)
