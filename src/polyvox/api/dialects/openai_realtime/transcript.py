"""Transcript: how far a text has been spoken, and when."""

from bisect import bisect_right

from polyvox.types import AudioChunk


class Transcript:
    """The part of a text that has been spoken so far.

    `add` takes a chunk of audio; `advance` moves on to a time in it and returns the text that is said until then. The
    concatenation of all that `advance` and `finish` return is the text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._times: list[float] = []
        self._places: list[int] = []
        self._next = 0

    @property
    def spoken(self) -> str:
        """The text that has been said."""
        return self._text[: self._position]

    def add(self, chunk: AudioChunk) -> None:
        """Note the words of a chunk; of one without word timings, its text at its start."""
        begin = chunk.start / chunk.sample_rate
        words = [(word.start, word.span.end) for word in chunk.words]
        if not words and chunk.span is not None:
            words = [(begin, chunk.span.end)]
        for time, place in words:
            self._times.append(max(time, self._times[-1] if self._times else 0.0))
            self._places.append(max(place, self._places[-1] if self._places else 0))

    def advance(self, seconds: float) -> str:
        """The text of the words that begin before this time and have not been returned yet."""
        return self._move_to(bisect_right(self._times, seconds))

    def finish(self) -> str:
        """The rest of the text."""
        rest = self._text[self._position :]
        self._position = len(self._text)
        return rest

    def truncate(self, seconds: float) -> None:
        """Forget what is said after this time."""
        heard = bisect_right(self._times, seconds)
        self._position = min(self._position, self._places[heard - 1] if heard else 0)

    def _move_to(self, count: int) -> str:
        before = self._position
        if count > self._next:
            self._next = count
            self._position = max(before, self._places[count - 1])
        return self._text[before : self._position]
