"""The schedulability of streams that share an engine: can all be kept playing, and when is there room for one more?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_FORECAST_STEPS = 24


class PlayingStream(NamedTuple):
    """A stream that is heard: audio made ahead of its listener, and audio still to be made, both in seconds."""

    ahead: float
    left: float


def is_schedulable(streams: Sequence[PlayingStream], capacity: float) -> bool:
    """Test whether an engine that makes `capacity` seconds of audio a second serves all streams in time, by EDF.

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
    """Test whether a new stream can begin beside these so that all are kept playing; `size` is all of its audio.

    Each of the others must be so far ahead that it can wait until the new one has a lead of its own.
    """
    return all(stream.ahead >= lead for stream in streams) and is_schedulable(
        [*streams, PlayingStream(0.0, size)], capacity
    )


@dataclass(frozen=True, slots=True)
class StartForecast:
    """An engine that makes `rate` seconds of audio a second, shared by its streams, and counts on `capacity` when one
    begins. It works `apart` seconds for the first chunk of a stream, and the next one does not begin sooner, nor before
    all others are `least_lead` seconds ahead, and `spare` more. Streams that are `lead` seconds ahead let others work.
    """

    rate: float
    capacity: float
    apart: float
    lead: float
    least_lead: float = 0.0
    spare: float = 0.0

    def seconds(self, streams: Sequence[PlayingStream], line: Sequence[float], longest: float) -> float:
        """Seconds until the last of a line has begun, each as long as `line` says, beside streams that are heard.

        To about a twentieth of `longest`; beyond that the rest of the line counts as audio to be made.
        """
        soonest = self.apart * (len(line) - 1)
        if soonest > longest:
            return soonest
        step, now, playing = longest / _FORECAST_STEPS, 0.0, list(streams)
        for place, size in enumerate(line[:-1]):
            now = self._room(playing, size, now, step, longest)
            if now >= longest:
                return now + sum(line[place:-1]) / self.rate
            first = min(size, self.rate * self.apart)
            playing[:] = [*self._played(playing, 0.0, self.apart), PlayingStream(first, size - first)]
            now += self.apart
        return self._room(playing, line[-1], now, step, longest)

    def _room(self, playing: list[PlayingStream], size: float, now: float, step: float, longest: float) -> float:
        """The time at which there is room for one more."""
        lead = min(max(size / self.capacity, self.least_lead) + self.spare, self.lead)
        while now < longest and not has_room(playing, size, lead, self.capacity):
            playing[:] = self._played(playing, self.rate * step, step)
            now += step
        return now

    def _played(self, streams: Sequence[PlayingStream], audio: float, seconds: float) -> list[PlayingStream]:
        """The streams that are left after so many seconds in which so much audio was made for them."""
        eager = sum(stream.ahead < self.lead for stream in streams)
        each = audio / max(1, eager)
        later = (_later(stream, each if stream.ahead < self.lead else 0.0, seconds) for stream in streams)
        return [stream for stream in later if stream.left > 0.0]


def _later(stream: PlayingStream, made: float, seconds: float) -> PlayingStream:
    made = min(made, stream.left)
    return PlayingStream(max(0.0, stream.ahead - seconds) + made, stream.left - made)
