"""Incremental parser of speech tokens written as text, `<|s_123|>`."""

import re

from polyvox.errors import EngineError

END = "<|im_end|>"

_TOKEN = re.compile(r"<\|s_(\d{1,7})\|>|<\|im_end\|>")
_MAX_TOKEN_CHARS = len("<|s_1234567|>")
_MAX_STRAY_CHARS = 1_000


class SpeechTokenParser:
    """Finds the tokens in a text that arrives in arbitrary deltas. A little other text between them is skipped."""

    def __init__(self, codes: int) -> None:
        self._codes = codes
        self._rest = ""
        self._stray = 0
        self.ended = False

    def push(self, text: str) -> list[int]:
        """The tokens that are complete now, up to the end of the speech."""
        if self.ended:
            return []
        tokens, done = [], 0
        joined = self._rest + text
        for match in _TOKEN.finditer(joined):
            self._skip(match.start() - done)
            done = match.end()
            if match.group(1) is None:
                self.ended = True
                break
            tokens.append(self._code(int(match.group(1))))
        rest = joined[done:]
        # A possible beginning of a token waits for more text; it starts at the last bracket, and a token is short.
        start = rest.rfind("<", max(0, len(rest) - _MAX_TOKEN_CHARS + 1))
        kept = rest[start:] if start >= 0 else ""
        self._skip(len(rest) - len(kept))
        self._rest = kept
        return tokens

    def _code(self, code: int) -> int:
        if code >= self._codes:
            raise EngineError(
                f"The language model answered with the speech token {code}, but its codec has {self._codes}; "
                "serve a model that was made for this codec."
            )
        return code

    def _skip(self, characters: int) -> None:
        self._stray += characters
        if self._stray > _MAX_STRAY_CHARS:
            raise EngineError(
                "The language model answers with text instead of speech tokens; serve a model that was made for speech."
            )
