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
_SCHEME: Final = re.compile(r"(?:https?|ftp)://|mailto:", re.IGNORECASE)
_PIECE: Final = re.compile(r"[A-Za-z]+|[0-9]+|[^\W\d_]+|.", re.DOTALL)
_COUNTRIES: Final = frozenset("ai bn id io my sg tv uk".split())
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


def read(text: TrackedText, options: NormalizationOptions, digits: ReadDigits) -> TrackedText:
    """Mail addresses, web addresses without their scheme, and bare domain names."""

    def aloud(match: re.Match[str]) -> str:
        return _aloud(match.group(), digits)

    if options.email_normalization:
        text = text.sub(_EMAIL, aloud)
    if options.url_normalization:
        text = text.sub(_URL, aloud).sub(_DOMAIN, aloud)
    return text


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
    if piece.lower() == "www":
        return "W W W"
    return " ".join(piece.upper()) if after_dot and piece in _COUNTRIES else initials_as_capitals(piece)
