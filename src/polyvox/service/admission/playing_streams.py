"""Whether streams that share an engine can all be kept playing."""

from collections.abc import Sequence
from typing import NamedTuple


class PlayingStream(NamedTuple):
    """A stream that is heard: audio made ahead of its listener, and audio still to be made, both in seconds."""

    ahead: float
    left: float


def all_keep_playing(streams: Sequence[PlayingStream], capacity: float) -> bool:
    """Whether an engine that makes `capacity` seconds of audio a second can serve all streams, the most urgent first.

    What is needed by a moment grows no faster than the clock for each stream, and stops at the stream's end: where it
    can be made by every end, it can be made by every moment.
    """
    spans = [(stream.ahead, stream.left, stream.ahead + stream.left) for stream in streams]
    for *_, moment in reversed(spans):  # the newest stream is the likeliest to be too much
        needed = 0.0
        for ahead, left, end in spans:
            if end <= moment:
                needed += left
            elif ahead < moment:
                needed += moment - ahead
        if needed > capacity * max(moment, 0.0):
            return False
    return True


def has_room(streams: Sequence[PlayingStream], size: float, lead: float, capacity: float) -> bool:
    """Whether a new stream can begin beside these so that all are kept playing; `size` is all of its audio.

    Each of the others must be so far ahead that it can wait until the new one has a lead of its own.
    """
    return all(stream.ahead >= lead for stream in streams) and all_keep_playing(
        [*streams, PlayingStream(0.0, size)], capacity
    )
