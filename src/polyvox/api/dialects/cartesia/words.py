"""SentWords: the words of speech as the caller wrote them, with the marks around them."""

from collections.abc import Sequence
from typing import Any

from polyvox.types import WordTiming


class SentWords:
    """Gives the words of one text in order, each with the punctuation that touches it.

    Clients find the words again in what they sent, so nothing but white space may be left out.
    """

    def __init__(self) -> None:
        self._done = 0

    def timestamps(self, words: Sequence[WordTiming], text: str) -> dict[str, Any]:
        """`word_timestamps` of some audio; `text` is all that is known so far."""
        written = []
        for place, word in enumerate(words):
            limit = words[place + 1].span.start if place + 1 < len(words) else len(text)
            written.append(self._with_marks(word, text, limit))
        return {
            "words": written,
            "start": [round(word.start, 4) for word in words],
            "end": [round(word.end, 4) for word in words],
        }

    def _with_marks(self, word: WordTiming, text: str, limit: int) -> str:
        start, end = word.span.start, word.span.end
        while start > self._done and _is_mark(text[start - 1]):
            start -= 1
        while end < limit and _is_mark(text[end]):
            end += 1
        self._done = end
        return text[start:end] or word.word


def _is_mark(char: str) -> bool:
    return not char.isspace() and not char.isalnum()
