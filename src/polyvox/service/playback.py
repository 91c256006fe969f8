"""The playhead of a stream at its listener."""

_AUDIBLE_SECONDS = 0.02


class Playback:
    """The moment when all audio made so far will have been played; time is the caller's clock, in seconds."""

    def __init__(self) -> None:
        self._until: float | None = None

    def add(self, now: float, duration: float) -> bool:
        """Take a chunk made now; true if it came too late to follow the last one without a gap (an under-run)."""
        late = self._until is not None and now - self._until > _AUDIBLE_SECONDS
        if duration > 0.0:
            self._until = max(now, self._until or now) + duration
        return late and duration > 0.0

    def pause(self, seconds: float) -> None:
        """The client read nothing for so long, so it played nothing that was made meanwhile: that is no gap of ours."""
        if self._until is not None:
            self._until += seconds
