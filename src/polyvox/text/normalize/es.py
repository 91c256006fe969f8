"""The Spanish normaliser."""

from polyvox.text.normalize.romance.languages.spanish import SPANISH
from polyvox.text.normalize.romance.normalizer import RomanceNormalizer

normalize = RomanceNormalizer.of(SPANISH)
