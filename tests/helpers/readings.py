"""The lists of readings with braces, and the judge of English, for tests."""

from polyvox.evaluate.readings.english import is_read, phonemes, words
from polyvox.evaluate.readings.reading_list import Reading, built_in

__all__ = ["Reading", "is_read", "phonemes", "readings", "words"]


def readings(name: str) -> list[Reading]:
    """The cases of a list."""
    return built_in(name)
