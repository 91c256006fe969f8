"""The Portuguese normaliser."""

from polyvox.text.normalize.romance.normalizer import RomanceNormalizer
from polyvox.text.normalize.romance.portuguese import PORTUGUESE

normalize = RomanceNormalizer.of(PORTUGUESE)
