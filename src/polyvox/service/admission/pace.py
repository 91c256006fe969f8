"""The measured pace of a model: how fast it speaks, how many streams it keeps playing, how long a text becomes."""

from collections import deque
from dataclasses import dataclass

PLAYING = 1.2
"""Seconds of audio that a stream needs in each second to play without gaps, with some to spare."""

_WINDOW = 32
_ENOUGH = 8
"""Chunks without which nothing is concluded: the first requests are never refused."""
_ENOUGH_TO_JUDGE = 4
"""Chunks after which streams are seen to slow each other down."""
_FEWEST = 4
"""Streams that may always run at once: so few slow each other down less than a refusal would."""
_CONTENDED = 1.5
"""Streams at once, on average, below which a low pace is the engine's own."""
_SLOWED = 0.8
"""Share of a stream's pace alone that one of many keeps where the engine is slower than playback even alone."""
_SHORTEST = 1e-6
_DEFAULT_SECONDS_PER_CHAR = 0.07
_DEFAULT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Audio that one stream got in so many seconds, while so many streams ran."""

    audio: float
    seconds: float
    running: float


class Pace:
    """What one model was seen to do lately.

    The limit of streams is `most` until streams have been seen to fall behind playback because of each other; from then
    on it is as many as the engine was seen to keep playing together, and one more, which finds out when it can do more.
    An engine that batches well is therefore never limited. One whose streams take the audio from each other may give
    its `capacity` before anybody was heard. Audio is in seconds; capacity is audio per second.
    """

    def __init__(self, most: int, *, adaptive: bool = True, capacity: float | None = None) -> None:
        self._most = most
        self._adaptive = adaptive
        self._chunks: deque[_Chunk] = deque(maxlen=_WINDOW)
        self._alone: float | None = None
        """Audio per second of a stream that has the engine for itself; None while none was seen."""
        self._alone_chunks: deque[_Chunk] = deque(maxlen=_ENOUGH)
        self._capacity = self._claimed = capacity
        self._texts: deque[tuple[int, float]] = deque(maxlen=_WINDOW)
        self._first_chunks: deque[float] = deque(maxlen=_WINDOW)

    def chunk(self, audio: float, seconds: float, running: float) -> None:
        """Count a chunk: its audio, the time a stream waited for it, and how many streams ran meanwhile."""
        if audio <= 0:
            return
        chunk = _Chunk(audio, max(seconds, _SHORTEST), max(1.0, running))
        self._chunks.append(chunk)
        if chunk.running < _CONTENDED:
            self._alone_chunks.append(chunk)
            seconds = sum(each.seconds for each in self._alone_chunks)
            self._alone = sum(each.audio for each in self._alone_chunks) / seconds
        self._judge()

    def delivered(self, audio_per_second: float) -> None:
        """Take what all streams together were given for the capacity, where the engine only said what it can do."""
        if self._claimed is not None:
            self._capacity = audio_per_second

    def first_chunk(self, seconds: float) -> None:
        """Count the time from the start of a stream to its first audio."""
        self._first_chunks.append(seconds)

    def finished(self, chars: int, audio: float) -> None:
        """Count a request that was spoken to its end."""
        self._texts.append((chars, audio))

    @property
    def capacity(self) -> float | None:
        """Seconds of audio per second for all streams; None while streams were not seen to slow each other down."""
        return self._capacity if self._adaptive else None

    @property
    def limit(self) -> int:
        """Streams that may run at once."""
        if self._capacity is None or not self._adaptive:
            return self._most
        return min(self._most, max(_FEWEST, int(self._capacity / self._needed) + 1))

    @property
    def of_stream(self) -> float | None:
        """Seconds of audio per second that each stream gets when all slots are taken; None while it is not known."""
        if len(self._chunks) < _ENOUGH:
            return None
        return self._mean() if self._capacity is None else min(self._mean_alone(), self._capacity / self.limit)

    @property
    def streams_at_once(self) -> int:
        """Streams that the engine works for at the same time: so many times a lone stream's pace is its capacity.

        By the engine's own word where it gives it: what was measured beside few streams may be too much.
        """
        capacity = self._claimed or self._capacity
        return 1 if capacity is None or self._alone is None else max(1, round(capacity / self._alone))

    @property
    def first_chunk_seconds(self) -> float:
        """Mean time from the start of a stream to its first audio."""
        return sum(self._first_chunks) / max(1, len(self._first_chunks))

    @property
    def quickest_first_chunk(self) -> float:
        """The same where the engine had little else to do."""
        return min(self._first_chunks, default=0.0)

    @property
    def chunk_seconds(self) -> float:
        """Mean time a stream waits for its next chunk."""
        return sum(chunk.seconds for chunk in self._chunks) / max(1, len(self._chunks))

    def expected_seconds(self, chars: int) -> float:
        """Seconds of audio to expect from a text; from one of unknown length, as much as from the recent ones."""
        known = [text for text in self._texts if text[0]]
        if chars and known:
            return chars * sum(audio for _, audio in known) / sum(length for length, _ in known)
        if chars:
            return chars * _DEFAULT_SECONDS_PER_CHAR
        return sum(audio for _, audio in self._texts) / len(self._texts) if self._texts else _DEFAULT_SECONDS

    @property
    def _needed(self) -> float:
        """Pace that each of many streams is to have."""
        return PLAYING if self._alone is None else min(PLAYING, _SLOWED * self._alone)

    def _judge(self) -> None:
        """Learn the capacity where streams slow each other down, or do better together than was thought."""
        if len(self._chunks) < _ENOUGH_TO_JUDGE or self._claimed is not None:
            return
        # Weighted by the streams that ran: a lone stream says little about what the engine can do for many.
        weight = sum(chunk.seconds * chunk.running for chunk in self._chunks)
        together = sum(chunk.audio * chunk.running**2 for chunk in self._chunks) / weight
        running = sum(chunk.running for chunk in self._chunks) / len(self._chunks)
        behind = running >= _CONTENDED and self._mean() < self._needed
        if behind or (self._capacity is not None and together > self._capacity):
            self._capacity = together

    def _mean(self) -> float:
        weight = sum(chunk.seconds * chunk.running for chunk in self._chunks)
        return sum(chunk.audio * chunk.running for chunk in self._chunks) / weight

    def _mean_alone(self) -> float:
        return float("inf") if self._alone is None else self._alone
