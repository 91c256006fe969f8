"""Speech tokens written as text, `<|s_123|>`, put together again however their text was cut."""

import re

from polyvox.errors import EngineError

END = "<|im_end|>"

_TOKEN = re.compile(r"<\|s_(\d{1,7})\|>|<\|im_end\|>")
_LONGEST = len("<|s_1234567|>")
_MOST_STRAY = 1_000


class TokenText:
    """Finds the tokens in a text that comes in pieces. A little text between them is passed over."""

    def __init__(self, codes: int) -> None:
        self._codes = codes
        self._rest = ""
        self._stray = 0
        self.ended = False

    def push(self, text: str) -> list[int]:
        """The tokens that are whole now, up to the end of the speech."""
        if self.ended:
            return []
        tokens, done = [], 0
        joined = self._rest + text
        for match in _TOKEN.finditer(joined):
            self._pass_over(match.start() - done)
            done = match.end()
            if match.group(1) is None:
                self.ended = True
                break
            tokens.append(self._code(int(match.group(1))))
        rest = joined[done:]
        # What may be the beginning of a token waits for more; it starts at the last bracket, and a token is short.
        start = rest.rfind("<", max(0, len(rest) - _LONGEST + 1))
        kept = rest[start:] if start >= 0 else ""
        self._pass_over(len(rest) - len(kept))
        self._rest = kept
        return tokens

    def _code(self, code: int) -> int:
        if code >= self._codes:
            raise EngineError(
                f"The language model answered with the speech token {code}, but its codec has {self._codes}; "
                "serve a model that was made for this codec."
            )
        return code

    def _pass_over(self, characters: int) -> None:
        self._stray += characters
        if self._stray > _MOST_STRAY:
            raise EngineError(
                "The language model answers with text instead of speech tokens; serve a model that was made for speech."
            )
