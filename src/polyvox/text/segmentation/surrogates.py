"""Characters that arrive as the two halves of a UTF-16 surrogate pair."""

import re
from typing import Final

REPLACEMENT: Final = "\ufffd"

_SURROGATES: Final = re.compile("(?P<high>[\ud800-\udbff])(?P<low>[\udc00-\udfff])|[\ud800-\udfff]")


class SurrogateJoiner:
    """Joins pairs that were cut apart; a half without its other one becomes U+FFFD, which can be sent on as UTF-8."""

    def __init__(self) -> None:
        self._high = ""

    def push(self, text: str) -> str:
        """The whole characters so far; a high surrogate at the end is held back."""
        text, self._high = self._high + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        return text if text.isascii() else _SURROGATES.sub(_joined, text)

    def finish(self) -> str:
        """The character that stands for a half that is still held back."""
        held, self._high = self._high, ""
        return REPLACEMENT if held else ""


def _joined(match: re.Match[str]) -> str:
    if match["high"] is None:
        return REPLACEMENT
    return chr(0x10000 + ((ord(match["high"]) - 0xD800) << 10) + ord(match["low"]) - 0xDC00)
