"""Estimators of what a model can do: throughput, streams kept playing, the lead they need, the error of forecasts."""

from collections import deque
from dataclasses import dataclass

PLAYBACK_RATE = 1.2
"""Seconds of audio that a stream needs in each second to play without gaps, with some to spare."""

_WINDOW = 32
_ENOUGH = 8
"""Chunks without which nothing is concluded: the first requests are never refused."""
_ENOUGH_TO_JUDGE = 4
"""Chunks after which streams are seen to slow each other down."""
_FEWEST = 4
"""Streams that may always run at once: so few slow each other down less than a refusal would."""
_CONTENDED = 1.5
"""Streams at once, on average, below which a low throughput is the engine's own."""
_SLOWED = 0.8
"""Share of a lone stream's throughput that one of many keeps where the engine is slower than playback even alone."""
_SHORTEST = 1e-6
_DEFAULT_SECONDS_PER_CHAR = 0.07
_DEFAULT_SECONDS = 10.0
_RECENT_REQUESTS = 16
_SHORTEST_AUDIO = 3.0
"""Seconds of audio below which a request tells little about the best throughput."""

_CONTENDED_WINDOW = 64
_CONTENDED_CHUNKS = 16
_CONTENDED_SECONDS = 1.0
"""Chunks and seconds beside other streams without which nothing is concluded about the contended throughput."""

_CHUNKS_WAITED_FOR = 3

_DRY_SHARE = 0.01
"""Share of the streams that may run dry."""
_SPARE_STEP = 0.4
_MOST_SPARE = 4.0

_ERROR_SECONDS = 10.0
"""Age at which the error of a forecast is forgotten."""
_SHORTEST_WAIT = 1.0
"""A shorter wait says little about the forecast of a long one."""
_MOST_ERROR = 1.5
_ERROR_QUANTILE = 0.9
"""Share of the streams that the forecast is to be long enough for."""
_AS_FORECAST = 4
"""Streams that count as heard when they should be, so that a few others do not change the forecast by much."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Audio that one stream got in so many seconds, while so many streams ran."""

    audio: float
    seconds: float
    running: float


class SpareLead:
    """Seconds that the streams of a model are to be ahead, beyond what the forecast needs, before one more begins.

    The forecast counts on cores that stay, and other programs take them for seconds at a time. Each stream that ran dry
    adds to it, each that did not takes a little away: it settles where one in a hundred runs dry.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def ended(self, *, ran_dry: bool) -> None:
        """Count a stream that was made to its end."""
        step = _SPARE_STEP * ((1.0 - _DRY_SHARE) if ran_dry else -_DRY_SHARE)
        self.seconds = min(max(0.0, self.seconds + step), _MOST_SPARE)


class ContendedThroughput:
    """Seconds of audio made in each second in which several streams ran.

    Unlike what an engine says of itself it counts all that is lost on the way: cores that are busy otherwise, and time
    in which one stream has ended and the next has not begun. A lone stream says nothing: nobody asked for more.
    """

    def __init__(self) -> None:
        self._chunks: deque[tuple[float, float]] = deque()
        self._audio = 0.0
        self._seconds = 0.0
        self._busy = 0.0
        self._contended = 0.0
        self._updated = 0.0

    def passed(self, now: float, running: int) -> None:
        """Count the time since the last call, in which so many streams ran."""
        seconds, self._updated = now - self._updated, now
        self._busy += seconds * (running > 0)
        self._contended += seconds * (running > 1)

    def chunk(self, audio: float) -> None:
        """Count a chunk that is made now: for the part of the time since the last one in which several streams ran."""
        share = self._contended / self._busy if self._busy else 1.0
        self._add(audio * share, self._contended)
        self._busy = self._contended = 0.0

    @property
    def per_second(self) -> float | None:
        """None while too little was seen."""
        if len(self._chunks) < _CONTENDED_CHUNKS or self._seconds < _CONTENDED_SECONDS:
            return None
        return self._audio / self._seconds

    def _add(self, audio: float, seconds: float) -> None:
        if not audio:
            return
        self._chunks.append((audio, seconds))
        self._audio, self._seconds = self._audio + audio, self._seconds + seconds
        if len(self._chunks) > _CONTENDED_WINDOW:
            audio, seconds = self._chunks.popleft()
            self._audio, self._seconds = self._audio - audio, self._seconds - seconds


class ThroughputEstimator:
    """Audio per second that one model was seen to make lately, for a stream and for all of them.

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
        self._contended = ContendedThroughput()
        self._busy_per_audio: deque[float] = deque(maxlen=_RECENT_REQUESTS)
        self._spare = SpareLead()

    def passed(self, now: float, running: int) -> None:
        """Count the time since the last call, in which so many streams ran."""
        self._contended.passed(now, running)

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

    def delivered(self, audio: float) -> None:
        """Count audio that is made now; what all streams get together is the capacity of an engine that claims one."""
        self._contended.chunk(audio)
        if self._claimed is not None and self._contended.per_second is not None:
            self._capacity = self._contended.per_second

    def first_chunk(self, seconds: float) -> None:
        """Count the time from the start of a stream to its first audio."""
        self._first_chunks.append(seconds)

    def finished(self, chars: int, audio: float) -> None:
        """Count a request that was spoken to its end."""
        self._texts.append((chars, audio))

    def played(self, *, ran_dry: bool) -> None:
        """Count a live stream that was made to its end.

        Where the capacity is not known beforehand, streams run dry while it is learnt: that says nothing about leads.
        """
        if self._claimed is not None:
            self._spare.ended(ran_dry=ran_dry)

    @property
    def spare_lead(self) -> float:
        """Seconds that streams are to be ahead beyond what is forecast, before one more begins."""
        return self._spare.seconds

    def completed(self, audio: float, busy_seconds: float) -> None:
        """Count the work that the engine had with a whole request."""
        if audio >= _SHORTEST_AUDIO:
            self._busy_per_audio.append(busy_seconds / audio)

    def least_seconds(self, audio: float) -> float:
        """Seconds in which so much audio could be made at best; 0 while nothing is known."""
        return min(self._busy_per_audio) * audio if self._busy_per_audio else 0.0

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
    def per_stream(self) -> float | None:
        """Seconds of audio per second that each stream gets when all slots are taken; None while it is not known."""
        if len(self._chunks) < _ENOUGH:
            return None
        return self._mean() if self._capacity is None else min(self._mean_alone(), self._capacity / self.limit)

    @property
    def streams_at_once(self) -> int:
        """Streams that the engine works for at the same time: so many times a lone stream's throughput is its capacity.

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

    def start_seconds(self, starts: int) -> float:
        """Time for which so many starts can keep another stream from its next chunk.

        First chunks go before all others, and none is interrupted: another waits for the first chunks, for a long one
        that runs already, for one that is more urgent, and for its own.
        """
        if self._capacity is None or not self._chunks:
            return 0.0
        quickest = max(chunk.audio / chunk.seconds for chunk in self._chunks)
        pace = quickest if self._alone is None else self._capacity / self.streams_at_once
        longest = max(chunk.audio for chunk in self._chunks) / pace
        return starts * self.quickest_first_chunk + _CHUNKS_WAITED_FOR * longest

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
        """Throughput that each of many streams is to have."""
        return PLAYBACK_RATE if self._alone is None else min(PLAYBACK_RATE, _SLOWED * self._alone)

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


class ForecastError:
    """Wait of recent streams until their first audio, as a share of what was forecast when they were admitted."""

    def __init__(self) -> None:
        self._shares: deque[tuple[float, float]] = deque(maxlen=_WINDOW)

    def add(self, forecast: float, waited: float, now: float) -> None:
        if max(forecast, waited) >= _SHORTEST_WAIT:
            self._shares.append((now, waited / max(forecast, _SHORTEST_WAIT)))

    def factor(self, now: float) -> float:
        """By which a forecast is to be multiplied."""
        while self._shares and self._shares[0][0] < now - _ERROR_SECONDS:
            self._shares.popleft()
        shares = sorted([*(share for _, share in self._shares), *[1.0] * _AS_FORECAST])
        return min(_MOST_ERROR, shares[int(_ERROR_QUANTILE * len(shares))])
