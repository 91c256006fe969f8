"""URLs and e-mail addresses."""

import re
from typing import Final

from polyvox.text.normalize.english.letters import initials_as_capitals
from polyvox.text.normalize.hindi.numbers import spelled
from polyvox.text.tracked import TrackedText

_EMAIL: Final = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]*[A-Za-z0-9])++")
# Of a bank: ramesh.k@okaxis.
_PAYEE: Final = re.compile(r"(?<![A-Za-z0-9._%+@-])[A-Za-z0-9][A-Za-z0-9._-]*+@[a-z]{2,16}(?![A-Za-z0-9@.-])")
_PATH: Final = r"[A-Za-z0-9._~:/?#@!$&'*+,;=%-]*"
_END: Final = r"(?<![.,;:!?'*&-])"
_URL: Final = re.compile(rf"(?<![A-Za-z0-9])(?:https?://|www\.)(?=[A-Za-z0-9]){_PATH}{_END}", re.IGNORECASE)
_DOMAIN: Final = re.compile(
    r"(?<![A-Za-z0-9@./-])(?:[A-Za-z0-9-]++\.)+(?:com|in|org|net|edu|gov|io|ai|co|info)(?![A-Za-z0-9@-]|\.[A-Za-z])"
    rf"(?:[:/?#](?=[A-Za-z0-9]){_PATH}{_END})?"
)
_FILE: Final = re.compile(
    r"(?<![A-Za-z0-9_@./\\-])(?:\.{0,2}/)?(?:[A-Za-z0-9_.-]++/)*+[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\."
    r"(?:json|py|js|tsx?|jsx|html?|css|txt|pdf|docx?|xlsx?|pptx?|csv|jpe?g|png|gif|svg|mp[34]|wav|zip|tar|gz|exe|md|"
    r"ya?ml|xml|sh|java|cpp|rs|rb|go|kt|php|sql|log|ini|cfg|conf|toml|lock|env|iso|apk|dll|jar|gradle|vue|swift|ipynb)"
    r"(?![A-Za-z0-9_@-]|\.[A-Za-z0-9])"
)
_NAMED_END: Final = re.compile(r"\.[A-Za-z]")
_SCHEME: Final = re.compile(r"https?://", re.IGNORECASE)
_PIECE: Final = re.compile(r"[A-Za-z]+|\d+|.", re.DOTALL)
_MARKS: Final = {
    ".": "डॉट",
    "/": "स्लैश",
    "-": "डैश",
    "_": "अंडरस्कोर",
    "@": "एट",
    ":": "कोलन",
    "?": "प्रश्न चिह्न",
    "=": "बराबर",
    "&": "और",
    "#": "हैश",
    "%": "प्रतिशत",
    "+": "प्लस",
    "~": "टिल्ड",
}


def read_emails(text: TrackedText) -> TrackedText:
    return text.sub(_EMAIL, _aloud).sub(_PAYEE, _aloud) if "@" in text.text else text


def read_urls(text: TrackedText) -> TrackedText:
    """Web addresses, with their scheme left out, bare domain names, and names of files with their folders."""
    if _NAMED_END.search(text.text) is None:
        return text
    return text.sub(_URL, _aloud).sub(_DOMAIN, _aloud).sub(_FILE, _aloud)


def _aloud(match: re.Match[str]) -> str:
    pieces = _PIECE.findall(_SCHEME.sub("", match.group(), count=1).rstrip("/"))
    return " ".join(spelled(piece) if piece.isdigit() else _MARKS.get(piece) or _word(piece) for piece in pieces)


def _word(piece: str) -> str:
    return "W W W" if piece.lower() == "www" else initials_as_capitals(piece)
