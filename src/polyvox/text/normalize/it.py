"""The Italian normaliser."""

from polyvox.text.normalize.romance.italian import ITALIAN
from polyvox.text.normalize.romance.normalizer import RomanceNormalizer

normalize = RomanceNormalizer.of(ITALIAN)
