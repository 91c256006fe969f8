"""The Italian normaliser."""

from polyvox.text.normalize.romance.italian.language import ITALIAN
from polyvox.text.normalize.romance.normalizer import RomanceNormalizer

normalize = RomanceNormalizer.of(ITALIAN)
