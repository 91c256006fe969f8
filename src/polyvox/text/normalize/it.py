"""The Italian normaliser."""

from polyvox.text.normalize.romance.languages.italian import ITALIAN
from polyvox.text.normalize.romance.normalizer import RomanceNormalizer

normalize = RomanceNormalizer.of(ITALIAN)
