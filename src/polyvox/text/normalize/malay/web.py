"""URLs and e-mail addresses; their words and marks are read as in English, their digits as in the sentence."""

import re
from collections.abc import Callable
from typing import Final

from polyvox.text.normalize.english.letters import initials_as_capitals
from polyvox.text.placeholders import PLACEHOLDERS
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

ReadDigits = Callable[[str], str]

_EMAIL: Final = re.compile(
    r"(?<![\w.%+-])(?:mailto:)?[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]*[A-Za-z0-9])++", re.ASCII
)
_INSIDE: Final = rf"[^\s<>()\"“”\[\]{{}}|{PLACEHOLDERS}]"
_LAST: Final = r"(?<![.,;:!?'’…*_~&-])"
_URL: Final = re.compile(rf"(?<!\w)(?:(?:https?|ftp)://|www\.)(?=[^\W_]){_INSIDE}*{_LAST}", re.IGNORECASE)
_DOMAIN: Final = re.compile(
    r"(?<![\w@./\\-])(?:[A-Za-z0-9-]++\.)+(?:com|org|net|edu|gov|mil|info|biz|io|ai|co|me|my|sg|id|bn|uk|asia|tv|app|dev|shop|store|ly|gl)"
    rf"(?![\w@-]|\.\w)(?:[:/?#](?=\w){_INSIDE}*{_LAST})?"
)
_PATH: Final = re.compile(
    r"(?<![\w@./\\-])(?:\.{0,2}/)?(?:[A-Za-z0-9_.-]++/)++[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\."
    r"[a-z][a-z0-9]{0,7}(?![\w@-]|\.\w)"
)
_FOLDER: Final = re.compile(r"(?<![\w/.:])/(?:[A-Za-z_.][A-Za-z0-9_.-]*/)+[A-Za-z0-9_.-]*[A-Za-z0-9_](?![\w/])")
_LOCAL: Final = re.compile(rf"(?<![\w@./\\-])localhost(?![\w@-])(?:[:/](?=\w){_INSIDE}*{_LAST})?", re.IGNORECASE)
_HANDLE: Final = re.compile(r"(?<![\w@.])@(?=[A-Za-z_])(?P<name>[A-Za-z0-9_]{1,50})(?![\w@])")
_HASHTAG: Final = re.compile(r"(?<![\w#&/])#(?=[A-Za-z_])(?P<name>[A-Za-z0-9_]++)")
_ORDER: Final = re.compile(
    r"(?=#)(?i:(?<=pesanan )|(?<=tempahan )|(?<=invois )|(?<=order )"
    r"|(?<=tiket )|(?<=resit )|(?<=rujukan ))#(?=[A-Z]{0,4}-?\d)"
)
_FILE: Final = re.compile(r"(?<=\w)\.(aab|apk|heic|ipa|jfif|webm)(?!\w)", re.IGNORECASE)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_SCHEME: Final = re.compile(r"(?:https?|ftp)://|mailto:", re.IGNORECASE)
_PIECE: Final = re.compile(r"[A-Za-z]+|[0-9]+|[^\W\d_]+|.", re.DOTALL)
_COUNTRIES: Final = frozenset("ai bn id io my sg tv uk".split())
_SAID: Final = frozenset(("by", "ly"))
_VOWEL: Final = re.compile("[aeiou]")
_MARKS: Final = {
    ".": "dot",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "~": "tilde",
    ":": "colon",
    "@": "at",
    "%": "percent",
    "+": "plus",
}


def read(text: TrackedText, options: NormalizationOptions, digits: ReadDigits, mark: str = "") -> TrackedText:
    """Mail addresses, web addresses without their scheme, and bare domain names.

    A `mark` of one character is put round every address, for `set_aside`: what an address says is no chat.
    """

    def aloud(match: re.Match[str]) -> str:
        return f"{mark}{_aloud(match.group(), digits)}{mark}"

    if options.email_normalization:
        text = text.sub(_EMAIL, aloud)
    if options.url_normalization:
        text = text.sub(_URL, aloud).sub(_DOMAIN, aloud).sub(_LOCAL, aloud)
        if "/" in text.text:
            text = text.sub(_PATH, aloud).sub(_FOLDER, aloud)
    return text


def read_tags(text: TrackedText, digits: ReadDigits, mark: str) -> TrackedText:
    """Handles, hashtags, and endings of file names that only telephones know."""

    def tag(match: re.Match[str]) -> str:
        sign = "at" if match.group()[0] == "@" else "hashtag"
        parts = _CAMEL.sub(" ", match["name"].replace("_", " ")).split()
        told = match.string.endswith(f"{sign} ", 0, match.start())
        spoken = [*([] if told else [sign]), *(digits(part) if part.isdigit() else part for part in parts)]
        return f"{mark}{' '.join(spoken)}{mark}"

    text = text.sub(_ORDER, "nombor ") if "#" in text.text else text
    text = text.sub(_HANDLE, tag).sub(_HASHTAG, tag)
    return text.sub(_FILE, lambda match: " dot " + match[1].upper())


def _aloud(address: str, digits: ReadDigits) -> str:
    pieces = _PIECE.findall(_SCHEME.sub("", address, count=1).rstrip("/"))
    words = []
    for before, piece in zip(["", *pieces], pieces, strict=False):
        if piece.isascii() and piece.isdigit():
            words.append(digits(piece))
        elif piece[0].isalnum():
            words.append(_name(piece, after_dot=before == "."))
        elif piece in _MARKS:
            words.append(_MARKS[piece])
    return " ".join(words)


def _name(piece: str, *, after_dot: bool) -> str:
    low = piece.lower()
    if low == "www":
        return "W W W"
    if len(piece) == 2 and "y" in low and not _VOWEL.search(low) and low not in _COUNTRIES | _SAID:
        return piece.upper()
    return " ".join(piece.upper()) if after_dot and piece in _COUNTRIES else initials_as_capitals(piece)
