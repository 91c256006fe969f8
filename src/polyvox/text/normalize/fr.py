"""The French normaliser."""

from polyvox.text.normalize.romance.french.language import FRENCH
from polyvox.text.normalize.romance.normalizer import RomanceNormalizer

normalize = RomanceNormalizer.of(FRENCH)
