"""How soon a stream will begin: the starts of those before it, played through by the rule that holds for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from polyvox.service.admission.playing_streams import PlayingStream, has_room

_STEPS = 24


@dataclass(frozen=True, slots=True)
class StartForecast:
    """An engine that makes `rate` seconds of audio a second, shared by its streams, and counts on `capacity` when one
    begins. It works `apart` seconds for the first chunk of a stream, and the next one does not begin sooner. Streams
    that are `lead` seconds ahead let others work.
    """

    rate: float
    capacity: float
    apart: float
    lead: float

    def seconds(self, streams: Sequence[PlayingStream], line: Sequence[float], longest: float) -> float:
        """Seconds until the last of a line has begun, each as long as `line` says, beside streams that are heard.

        To about a twentieth of `longest`; beyond that the rest of the line counts as audio to be made.
        """
        soonest = self.apart * (len(line) - 1)
        if soonest > longest:
            return soonest
        step, now, playing = longest / _STEPS, 0.0, list(streams)
        for place, size in enumerate(line[:-1]):
            now = self._room(playing, size, now, step, longest)
            if now >= longest:
                return now + sum(line[place:-1]) / self.rate
            first = min(size, self.rate * self.apart)
            playing[:] = [*self._played(playing, 0.0, self.apart), PlayingStream(first, size - first)]
            now += self.apart
        return self._room(playing, line[-1], now, step, longest)

    def _room(self, playing: list[PlayingStream], size: float, now: float, step: float, longest: float) -> float:
        """When there is room for one more."""
        lead = min(size / self.capacity, self.lead)
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
