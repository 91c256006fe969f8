"""Questions that all readers of manuscripts ask about a text."""

import re
from collections.abc import Iterator
from typing import Final

VOICE_TAG: Final = re.compile(r"\[\s*voice\s*:\s*(?P<name>[^\[\]\n]{0,200})\]", re.IGNORECASE)
_PIECE_CHARS: Final = 20_000


def speakable(text: str) -> bool:
    """Return whether anything in a text can be spoken."""
    return any(char.isalnum() for char in text)


def pieces(text: str) -> Iterator[str]:
    """A text of any length in pieces of a length that can be tracked, cut behind a sentence or a word."""
    start = 0
    while len(text) - start > _PIECE_CHARS:
        near = text[start : start + _PIECE_CHARS]
        end = max(near.rfind(". "), near.rfind("。")) + 1 or near.rfind(" ") + 1 or len(near)
        yield near[:end]
        start += end
    yield text[start:]
