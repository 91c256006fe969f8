"""Whether streams that share an engine can all be kept playing."""

from collections.abc import Sequence
from dataclasses import dataclass

_HALVINGS = 6


@dataclass(frozen=True, slots=True)
class PlayingStream:
    """A stream that is heard: audio made ahead of its listener, and audio still to be made, both in seconds."""

    ahead: float
    left: float

    def needed_by(self, seconds: float) -> float:
        """Audio that has to be made within so many seconds, so that the listener hears no gap until then."""
        return min(max(seconds - self.ahead, 0.0), self.left)


def all_keep_playing(streams: Sequence[PlayingStream], capacity: float) -> bool:
    """Whether an engine that makes `capacity` seconds of audio a second can serve all streams, the most urgent first.

    What is needed by a moment grows no faster than the clock for each stream, and stops at the stream's end: where it
    can be made by every end, it can be made by every moment.
    """
    ends = [stream.ahead + stream.left for stream in streams]
    return all(sum(stream.needed_by(end) for stream in streams) <= capacity * max(end, 0.0) for end in ends)


@dataclass(frozen=True, slots=True)
class NewStream:
    """A stream that is to begin beside others once each has so much audio ahead; `size` is all of its audio."""

    size: float
    lead_of_others: float


def seconds_until_room(
    streams: Sequence[PlayingStream], new: NewStream, rate: float, capacity: float, longest: float
) -> float:
    """How soon a new stream can begin so that all are kept playing, to about a fiftieth of `longest`, and at most that.

    Until then `rate` seconds of audio are made a second, from then on at least `capacity`, which is no more.
    """
    shortest = 0.0
    if _has_room(streams, new, rate, capacity, shortest):
        return shortest
    for _ in range(_HALVINGS):
        middle = (shortest + longest) / 2
        if _has_room(streams, new, rate, capacity, middle):
            longest = middle
        else:
            shortest = middle
    return longest


def _has_room(streams: Sequence[PlayingStream], new: NewStream, rate: float, capacity: float, seconds: float) -> bool:
    made = rate * seconds
    if sum(stream.needed_by(seconds + new.lead_of_others) for stream in streams) > made:
        return False
    ends = [stream.ahead + stream.left for stream in streams]
    return all(
        sum(stream.needed_by(end) for stream in streams) + min(end - seconds, new.size)
        <= made + capacity * (end - seconds)
        for end in (*ends, seconds + new.size)
        if end > seconds
    )
