"""Words that are cut short with a full stop: "élec.", "élect." and "électr." of one entry "élec|trique"."""

from typing import Final

_MOST_FURTHER: Final = 3
_VOWELS: Final = frozenset("aeiouyàâéèêëîïôöùûüìò")


def truncated(words: str) -> dict[str, str]:
    """The forms of words by the shortest that is written, which a line marks; the first word of a form keeps it.

    Longer forms end in a consonant, as people cut a word; behind two lines there are none, where they would be words.
    """
    forms: dict[str, str] = {}
    for word in words.split():
        stem, _, rest = word.partition("|")
        further = 0 if rest[0] == "|" else min(len(rest) - 1, _MOST_FURTHER)
        for length in range(further + 1):
            form = stem + rest[:length]
            if not length or form[-1] not in _VOWELS:
                forms.setdefault(f"{form}.", stem + rest.lstrip("|"))
    return forms


def pairs(words: str) -> dict[str, str]:
    """Short forms and their words, "short: words" between semicolons or lines."""
    entries = (entry.partition(":") for line in words.splitlines() for entry in line.split(";") if entry.strip())
    return {short.strip(): words.strip() for short, _, words in entries}
