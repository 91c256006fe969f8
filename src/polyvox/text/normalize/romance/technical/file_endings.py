"""Endings of file names that are said letter by letter."""

from typing import Final

_SPELLED: Final = frozenset(
    (
        "js ts tsx jsx css scss html htm txt pdf xls xlsx ppt pptx csv tsv jpg png svg md yml xml sh cpp hpp cs "
        "rs rb kt tf "
        "kts php sql cfg apk dll mkv odt ods rtf psd db h c py gz rpm msi dmg mov ipynb"
    ).split()
)
_AS_WORDS: Final = {"docx": "doc X"}


def spelled_ending(ending: str) -> str | None:
    """The letters of an ending; None for one that is said as a word or has figures."""
    plain = ending.lower()
    return " ".join(plain.upper()) if plain in _SPELLED else _AS_WORDS.get(plain)
