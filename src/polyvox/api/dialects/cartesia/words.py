"""SentWords: the words of speech as the caller wrote them, with the marks around them, and their phonemes."""

from collections.abc import Iterator, Sequence
from typing import Any

from polyvox.api.dialects.cartesia.bodies import EventsBody
from polyvox.api.dialects.cartesia.events import Event, phonemes_event, words_event
from polyvox.types import WordTiming


class SentWords:
    """Gives the words of one text in order, each with the punctuation that touches it, and the phonemes of each.

    Clients find the words again in what they sent, so nothing but white space may be left out.
    """

    def __init__(self, asked: EventsBody) -> None:
        self._asked = asked
        self._done = 0

    def events(self, words: Sequence[WordTiming], text: str) -> Iterator[Event]:
        """The events that are asked for, of some audio; `text` is all that is known so far."""
        if self._asked.add_timestamps and words:
            yield words_event(self.timestamps(words, text))
        phonemes = [phoneme for word in words for phoneme in word.phonemes]
        if self._asked.add_phoneme_timestamps and phonemes:
            yield phonemes_event(phonemes)

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
