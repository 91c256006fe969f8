"""Word stress, and how it changes in compounds and emphasis. A mark stands before its vowel."""

from polyvox.text.phonemes.alphabet import ENGLISH_VOWELS, PRIMARY, SECONDARY, STRESSES


def unstressed(phonemes: str) -> str:
    return phonemes.replace(PRIMARY, "").replace(SECONDARY, "")


def weakened(phonemes: str) -> str:
    """Primary stress becomes secondary, and older secondary stress goes."""
    if PRIMARY not in phonemes:
        return phonemes
    return phonemes.replace(SECONDARY, "").replace(PRIMARY, SECONDARY)


def audible(phonemes: str) -> str:
    """A word without any stress gets a secondary one on its first vowel."""
    return phonemes if STRESSES & set(phonemes) else _marked(phonemes, SECONDARY)


def emphasised(phonemes: str) -> str:
    """The word with a primary stress, wherever it had its strongest."""
    if PRIMARY in phonemes:
        return phonemes
    if SECONDARY in phonemes:
        return phonemes.replace(SECONDARY, PRIMARY)
    return _marked(phonemes, PRIMARY)


def last_strongest(parts: list[str]) -> str:
    """Letters spelled in a row: the last has the primary stress."""
    joined = weakened("".join(parts))
    before, mark, after = joined.rpartition(SECONDARY)
    return f"{before}{PRIMARY}{after}" if mark else emphasised(joined)


def compounded(parts: list[str]) -> list[str]:
    """The parts of a compound with about half of the primary stresses left, the heaviest parts keeping theirs."""
    stressed = [index for index, part in enumerate(parts) if PRIMARY in part]
    surplus = len(stressed) - (len(parts) + 1) // 2
    if surplus <= 0:
        return parts
    lightest = set(sorted(stressed, key=lambda index: (_weight(parts[index]), index))[: len(parts) // 2])
    return [weakened(part) if index in lightest else part for index, part in enumerate(parts)]


def _marked(phonemes: str, mark: str) -> str:
    for index, symbol in enumerate(phonemes):
        if symbol in ENGLISH_VOWELS:
            return phonemes[:index] + mark + phonemes[index:]
    return phonemes


def _weight(phonemes: str) -> int:
    return sum(2 if symbol in "AIOQWYʤʧ" else 1 for symbol in phonemes)
