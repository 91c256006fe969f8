"""The Studio's built files, as they lie in the package, and the headers that they are sent with."""

import gzip
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_STATIC = "static"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
ASSET_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}
"""Of files whose address changes with their content."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page, plain and compressed."""

    media_type: str
    data: bytes
    compressed: bytes


@cache
def page_html() -> str:
    """The page, with `__NONCE__` where the nonce of a response belongs."""
    return _static().joinpath("index.html").read_text(encoding="utf-8")


@cache
def assets() -> dict[str, Asset]:
    """The files that the page loads, by their names; a name has the hash of its content."""
    return {file.name: _asset(file) for file in _static().joinpath("web", "assets").iterdir()}


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether a request's `Accept-Encoding` names gzip, and not with the weight 0."""
    for row in accept_encoding.lower().split(","):
        name, _, weight = row.replace(" ", "").partition(";q=")
        if name == "gzip":
            return not weight or weight.strip("0.") != ""
    return False


def _static() -> Traversable:
    return files(__package__).joinpath(_STATIC)


def _asset(file: Traversable) -> Asset:
    data = file.read_bytes()
    suffix = "." + file.name.rpartition(".")[2]
    return Asset(_MEDIA_TYPES[suffix], data, gzip.compress(data, mtime=0))
