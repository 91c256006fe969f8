"""Folding to ASCII letters: accents, ligatures, and transliteration of other scripts."""

import unicodedata
from functools import cache
from typing import Final

_LATIN: Final = {
    "ß": "ss",
    "ẞ": "SS",
    "ı": "i",
    "ŋ": "ng",
    "Ŋ": "NG",
    "þ": "th",
    "Þ": "Th",
    "ð": "th",
    "Ð": "D",
    "ə": "a",
    "œ": "oe",
    "Œ": "OE",
}
_CYRILLIC: Final = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґў",
        "a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch  y  e yu ya yo ye i yi g w".split(" "),
        strict=True,
    )
)
_GREEK: Final = dict(
    zip("αβγδεζηθικλμνξοπρσςτυφχψω", "a v g d e z i th i k l m n x o p r s s t i f ch ps o".split(), strict=True)
)
_SYLLABARIES: Final = ("HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")


def folded(word: str) -> str:
    """A word of Latin letters and digits in plain a-z, A-Z and 0-9; hyphens and apostrophes stay, as ASCII."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFKD", word.replace("’", "'").replace("‘", "'"))
    return "".join(_folded_char(char) for char in plain if not unicodedata.combining(char))


def romanised(text: str) -> list[str]:
    """Words that an English speaker can say for letters of another script.

    Cyrillic and Greek words are transliterated, syllables of kana and hangul are joined as their names spell them, and
    letters of all other scripts are called by their names, one word each. Single Greek letters have names, too.
    """
    plain = unicodedata.normalize("NFC", text)
    if len(plain) == 1 and plain.lower() in _GREEK:
        return [_name_end(plain)]
    known = [_transliterated(char) for char in plain]
    if all(sound is not None for sound in known):
        return ["".join(sound for sound in known if sound)] if any(known) else []
    if all(unicodedata.name(char, "").startswith(_SYLLABARIES) for char in plain):
        return ["".join(_name_end(char) for char in plain)]
    return [name for char in plain if (name := _name_end(char))]


@cache
def _folded_char(char: str) -> str:
    if char.isascii():
        return char
    if char in _LATIN:
        return _LATIN[char]
    if char.isdigit():
        return str(unicodedata.digit(char))
    name = unicodedata.name(char, "")
    if char in "‐‑":
        return "-"
    if not name.startswith("LATIN"):
        return ""
    letter = name.partition(" LETTER ")[2].split(" ")[0]
    return letter.lower() if " SMALL " in name else letter


def _transliterated(char: str) -> str | None:
    """The Latin letters for a Cyrillic or Greek one, or for an accent on it; None for all else."""
    base = unicodedata.normalize("NFD", char.lower())[0]
    lower = char.lower()
    for table in (_CYRILLIC, _GREEK):
        if lower in table or base in table:
            sound = table.get(lower, table.get(base, ""))
            return sound.capitalize() if char != lower else sound
    return "" if unicodedata.combining(char) else None


def _name_end(char: str) -> str:
    """The last word of a letter's Unicode name, which is how that letter is called or read."""
    category, name = unicodedata.category(char), unicodedata.name(char, "")
    if not category.startswith(("L", "M")) or not name or "SIGN VIRAMA" in name:
        return ""
    last = name.split(" ")[-1]
    return last.lower() if last.isalpha() else ""
