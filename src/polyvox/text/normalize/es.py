"""The Spanish normaliser."""

from polyvox.text.normalize.romance.normalizer import RomanceNormalizer
from polyvox.text.normalize.romance.spanish.language import SPANISH

normalize = RomanceNormalizer.of(SPANISH)
