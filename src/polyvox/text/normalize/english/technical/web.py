"""URLs, e-mail addresses, handles, hashtags and file names."""

import re
from typing import Final

from polyvox.text.normalize.english.letters import initials_as_capitals
from polyvox.text.normalize.english.numbers import code, spelled
from polyvox.text.normalize.english.technical.codes import dotted_quad
from polyvox.text.normalize.english.technical.identifiers import EXTENSIONS
from polyvox.text.tracked import TrackedText

_EMAIL: Final = re.compile(
    r"(?<![\w.%+-])(?:mailto:)?[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]*[A-Za-z0-9])++", re.ASCII
)
_PATH: Final = r"(?:[^\s<>()\"“”\[\]{}|—\ue000-\uf8ff]|\([^\s<>()\"“”\[\]{}|—\ue000-\uf8ff]*\))*"
_URL: Final = re.compile(
    rf"(?<!\w)(?:(?:https?|ftp|wss?)://|www\.)(?=[^\W_]){_PATH}(?<![.,;:!?'’…*_~&—-])", re.IGNORECASE
)
_DOMAIN: Final = re.compile(
    r"(?<![\w@./\\-])(?:[A-Za-z0-9-]++\.)+"
    r"(?:com|org|net|edu|gov|mil|info|biz|io|ai|co|uk|eu|de|fr|es|nl|ch|ca|au|jp|cn|br|ru|tv|dev|app|xyz|tech|cloud)"
    rf"(?![\w@-]|\.\w)(?:[:/?#](?=\w){_PATH}(?<![.,;:!?'’…*_~&-]))?"
)
_LOCALHOST: Final = re.compile(
    rf"(?<![\w@./\\-])localhost(?=[:/](?=\w))(?::\d{{1,5}}(?!\d))?(?:[/?#]{_PATH}(?<![.,;:!?'’…*_~&-]))?", re.IGNORECASE
)
_HANDLE: Final = re.compile(r"(?<![\w@.])@(?=[A-Za-z_])([A-Za-z0-9_]{1,50})(?![\w@])")
_CODE_SIGN: Final = re.compile(r"(?<=[a-z.:] )#(?=[A-Z]{1,4}-?\d)")
# A number of figures and capitals, as plates have it.
_PLATE: Final = re.compile(r"(?<![\w#&/])#(?=\d+[A-Z]+\d[A-Z\d]*(?!\w))")
_WORD_TAG: Final = re.compile(r"(?<!\w)#[A-Za-z]{4}")
_COLOR: Final = re.compile(
    r"(?<![\w#&/])#(?=[A-Fa-f]*\d)(?=\d*[A-Fa-f])(?P<digits>[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})(?!\w)"
)
_DIRECTIVE: Final = re.compile(r"(?<![\w#&/])#(?=(?:define|include|ifn?def|endif|pragma)\b)")
_HASHTAG: Final = re.compile(r"(?<![\w#&/])#(?=[A-Za-z_]|\d{1,4}(?!st\b|nd\b|rd\b|th\b)[A-Za-z]{3})([A-Za-z0-9_]++)")
_SHORT_LINK: Final = re.compile(rf"(?<![\w@./\\-])[A-Za-z0-9-]{{1,20}}\.[a-z]{{2}}/(?=\w){_PATH}(?<![.,;:!?'’…*_~&-])")
_FORUM: Final = re.compile(r"(?<![\w/.])(?P<kind>[ru])/(?=[A-Za-z]\w{2})(?!\w+/)")
_RANDOM: Final = re.compile(r"[a-z][A-Z]")
_DOT_NET: Final = re.compile(r"(?<!\w)\.NET(?!\w)")
_FILE: Final = re.compile(
    rf"\.(?<=\w\.)({EXTENSIONS}|CSV|DOCX?|GIF|JPE?G|MP[34]|PDF|PNG|TXT|XLSX?|ZIP)(?!\w)(?P<line>:\d{{1,5}})?(?P<column>:\d{{1,4}})?"
)
_SCHEME: Final = re.compile(r"(?:https?|ftp|wss?)://|mailto:", re.IGNORECASE)
_STORE: Final = re.compile(
    rf"(?<!\w)(?P<scheme>s3|gs|git|ssh|file|redis|postgres(?:ql)?|mongodb|mysql|amqp|jdbc|tcp|udp)://?/?(?=[\w~]){_PATH}(?<![.,;:!?'’…*_~&—-])"
)
_IP: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_HOST_END: Final = re.compile(r"(?=[/?#:])")
_HEADQUARTERS: Final = re.compile(r"(?<=[a-z]{3})hq\Z")
_PIECE: Final = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|.", re.DOTALL)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")

# Firms in the names of hosts and accounts, where no capital parts the words.
_HOSTS: Final = {
    "amazonaws": "amazon AWS",
    "bbcnews": "BBC news",
    "githubusercontent": "github user content",
    "googleapis": "google APIs",
    "nytimes": "NY times",
    "skynews": "sky news",
    "washingtonpost": "washington post",
    "ycombinator": "Y combinator",
    "tinyurl": "tiny URL",
    "youtu": "you tu",
}
_PAIR: Final = 2
_OF_FIRM: Final = re.compile(
    r"(?<=[A-Z]{2})(?=(?:gov|news|uk|us|sport|sports|africa|asia|world|live|official|tv|hq|breaking|politics|business|police)\Z)"
)
_SHORTEST_NAME: Final = 5
"""Letters of mixed case beside figures, from which on they may be words: "gpt4oMini"."""
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
    ",": "comma",
    ";": "semicolon",
    "!": "exclamation mark",
    "*": "star",
    "$": "dollar",
}
# Last parts of a host name that are said as words; other two-letter ones are spelled.
_SAID: Final = frozenset(("co", "me", "to"))


def read_emails(text: TrackedText) -> TrackedText:
    return text.sub(_EMAIL, lambda match: _aloud(match.group())) if "@" in text.text else text


def read_urls(text: TrackedText) -> TrackedText:
    """Web addresses, with their scheme left out, and bare domain names."""
    if "." not in text.text and "/" not in text.text and ":" not in text.text:
        return text
    if "://" in text.text:
        text = text.sub(_STORE, lambda match: " ".join(_pieces(match.group().replace("://", " ", 1))))
    for address in (
        (_URL, _DOMAIN, _SHORT_LINK, _LOCALHOST) if "/" in text.text or ":" in text.text else (_URL, _DOMAIN)
    ):
        text = text.sub(address, lambda match: _aloud(match.group()))
    return text


def read_tags(text: TrackedText) -> TrackedText:
    """Handles, hashtags and the endings of file names; their digits are left for the readers of figures."""
    if "r/" in text.text or "u/" in text.text:
        text = text.sub(_FORUM, lambda match: f"{match['kind'].upper()} slash ")
    if "@" in text.text:
        text = text.sub(_HANDLE, lambda match: "at " + _tag(match[1]))
    if "#" in text.text:
        text = text.sub(_COLOR, _color).sub(_DIRECTIVE, "hash ").sub(_CODE_SIGN, _numbered).sub(_PLATE, "number ")
        text = text.sub(_HASHTAG, lambda match: "hashtag " + _tag(match[1]))
    if ".NET" in text.text:
        text = text.sub(_DOT_NET, "dot NET")
    return text.sub(_FILE, _file)


def _numbered(match: re.Match[str]) -> str | None:
    """The sign before a code; among hashtags it is one of them."""
    return None if _HASHTAG.search(match.string, 0, match.start()) or _WORD_TAG.search(match.string) else "number "


def _file(match: re.Match[str]) -> str:
    """The ending of a file's name, and the line and column of an error behind it."""
    places = "".join(f" colon {code(match[name][1:])}" for name in ("line", "column") if match[name])
    return f" dot {initials_as_capitals(match[1])}{places}"


def _color(match: re.Match[str]) -> str:
    digits = (spelled(digit) if digit.isdigit() else digit.upper() for digit in match["digits"])
    return " ".join(("hash", *digits))


def _tag(name: str) -> str:
    name = _OF_FIRM.sub(" ", name)
    if name.lower() in _HOSTS:
        return _HOSTS[name.lower()]
    return " ".join(_CAMEL.sub(" ", name.replace("_", " ")).split())


def _aloud(address: str) -> str:
    plain = _SCHEME.sub("", address, count=1).replace("%20", " ").rstrip("/")
    host, *path = _HOST_END.split(plain, maxsplit=1)
    if _IP.fullmatch(host):
        return " ".join([dotted_quad(host.split(".")), *_pieces("".join(path))])
    name, _, last = host.rpartition(".")
    letters = (len(last) == 2 and last.isalpha() and last not in _SAID) or last == "edu"
    ending = [last.upper()] if letters else _pieces(last)
    return " ".join([*_pieces(f"{name}." if name else ""), *ending, *_pieces("".join(path))])


def _pieces(part: str) -> list[str]:
    words = []
    random = any(char.isdigit() for char in part)
    pieces = _PIECE.findall(part)
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=False):
        if piece.isascii() and piece.isdigit():
            words.append(code(piece))
        elif random and len(piece) < _SHORTEST_NAME and _RANDOM.search(piece):
            words.append(" ".join(piece.upper()))
        elif piece in _HOSTS:
            words.append(_HOSTS[piece])
        elif piece.isalpha() and len(piece) == _PAIR and following.isdigit():
            words.append(piece.upper())
        elif piece[0].isalnum():
            words.append("W W W" if piece == "www" else initials_as_capitals(_HEADQUARTERS.sub(" HQ", piece)))
        elif piece in _MARKS:
            words.append(_MARKS[piece])
    return words
