"""Whether streams that share an engine can all be kept playing."""

from collections.abc import Sequence
from dataclasses import dataclass


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
