"""Our column of the README's comparison. `tests/docs/test_comparison.py` exercises each of its rows."""

import re

from helpers.documents import ROOT

README = ROOT / "README.md"

COLUMN = {
    "mp3, opus, aac, flac, wav, pcm": "yes",
    "OpenAI's server-sent events": "yes",
    "text streamed in": "yes: WebSocket, gRPC",
    "word timings": "yes",
    "weighted voice mixes": "Kokoro",
    "registered voices": "yes",
    "several speakers in one answer": "yes",
    "SSML": "yes",
    "long texts as jobs": "yes",
    "many texts in one request": "yes",
    "continuous batching over requests": "yes",
    "runs on a CPU": "yes",
    "API keys": "yes",
    "bounded queue, 429 or 503": "yes",
    "public gRPC": "yes",
    "Wyoming (Home Assistant)": "yes",
    "MCP": "yes",
    "web page": "yes",
    "Docker image": "yes, you build it",
}

_TABLE = re.compile(r"(?<=<!-- comparison -->\n\n).*?(?=\n\n<!-- /comparison -->)", re.DOTALL)
_HEAD = 2
"""Lines of the table above its first row."""


def features(text: str) -> list[str]:
    """The first cell of each row of the comparison in a README's text."""
    return [row[0] for row in _rows(text)]


def with_column(text: str) -> str:
    """A README's text with our column in its comparison; a row that the column lacks is an error."""
    head = _table(text).splitlines()[:_HEAD]
    rows = [f"| {' | '.join([feature, COLUMN[feature], *peers])} |" for feature, _, *peers in _rows(text)]
    table = "\n".join([*head, *rows])
    return _TABLE.sub(lambda _: table, text)


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in _table(text).splitlines()[_HEAD:]]


def _table(text: str) -> str:
    found = _TABLE.search(text)
    if found is None:
        raise ValueError("The README has no table between <!-- comparison --> and <!-- /comparison -->.")
    return found[0]
