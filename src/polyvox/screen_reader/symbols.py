"""Names of marks, letters and keys, in English."""

import re
from typing import Final

from polyvox.screen_reader.message_settings import Capitals, Punctuation

_SOME: Final = {
    "#": "number", "$": "dollar", "%": "percent", "&": "and", "*": "star", "+": "plus", "/": "slash", "<": "less",
    "=": "equals", ">": "greater", "@": "at", "\\": "backslash", "^": "caret", "_": "underscore", "|": "bar",
    "~": "tilde", "`": "backquote", "§": "section", "°": "degrees", "€": "euro", "£": "pound", "©": "copyright",
}  # fmt: skip
_MOST: Final = {
    "(": "left paren", ")": "right paren", "[": "left bracket", "]": "right bracket", "{": "left brace",
    "}": "right brace", '"': "quote", ":": "colon", ";": "semicolon", "-": "dash", "–": "en dash", "—": "em dash",
    "…": "ellipsis", "«": "left guillemet", "»": "right guillemet", "“": "left quote", "”": "right quote",
    "•": "bullet",
}  # fmt: skip
_ALL: Final = {
    ".": "dot", ",": "comma", "!": "exclamation", "?": "question", "'": "apostrophe", "’": "apostrophe",
}  # fmt: skip
_LEVELS: Final = {
    Punctuation.SOME: _SOME,
    Punctuation.MOST: _SOME | _MOST,
    Punctuation.ALL: _SOME | _MOST | _ALL,
}
_SPACES: Final = {" ": "space", "\t": "tab", "\n": "new line", "\r": "return", "\u00a0": "non-breaking space"}
NAMES: Final = _SOME | _MOST | _ALL | _SPACES
"""Every character that has a name of its own."""

_PATTERNS: Final = {level: re.compile(f"[{re.escape(''.join(names))}]") for level, names in _LEVELS.items()}
_PAUSING: Final = frozenset(".,;:!?")
_CAPITALISED: Final = re.compile(r"\b(?=[A-Z])")

KEYS: Final = (
    "shift", "control", "alt", "super", "enter", "escape", "backspace", "delete", "tab", "space", "up", "down", "left",
    "right", "home", "end", "insert", "page up", "page down", "menu", *(f"F {number}" for number in range(1, 13)),
)  # fmt: skip
"""Keys whose names are made before they are asked for."""


def with_punctuation(text: str, level: Punctuation) -> str:
    """The text with the marks of a level named. A mark before a space stays behind its name, for the pause in it."""
    if level is Punctuation.NONE:
        return text
    names = _LEVELS[level]

    def named(found: re.Match[str]) -> str:
        mark, after = found[0], found.end()
        pauses = mark in _PAUSING and (after == len(text) or text[after].isspace())
        return f" {names[mark]}{mark if pauses else ' '}"

    return re.sub(r"  +", " ", _PATTERNS[level].sub(named, text)).strip()


def with_capitals(text: str, capitals: Capitals) -> str:
    """The text with a word before each capitalised one. Tones are heard before single letters only."""
    return _CAPITALISED.sub("capital ", text) if capitals is Capitals.SPELL else text


def character_name(character: str, capitals: Capitals = Capitals.NONE) -> str:
    """The words for one character. A letter is written large, because a small `a` is read as the article."""
    if character in NAMES:
        return NAMES[character]
    if len(character) == 1 and character.isalpha():
        is_told = capitals is Capitals.SPELL and character.isupper()
        large = character.upper()
        return f"capital {large}" if is_told else (large if len(large) == 1 else character)
    return character


def spelled(text: str, capitals: Capitals) -> str:
    """The characters of a text one by one; spaces only separate."""
    return ", ".join(character_name(character, capitals) for character in text if not character.isspace())


def key_name(key: str) -> str:
    """The words for a key as SSIP writes it, such as `control_a`, `shift_kp-5` or `underscore`."""
    parts = key.split("_") if len(key) > 1 else [key]
    return " ".join(_key_part(part) for part in parts if part)


def _key_part(part: str) -> str:
    if len(part) == 1:
        return character_name(part)
    if re.fullmatch(r"[fF]\d{1,2}", part):
        return f"F {part[1:]}"
    return part.replace("-", " ").replace("kp ", "keypad ")
