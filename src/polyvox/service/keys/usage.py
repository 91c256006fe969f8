"""Usage of keys, by day."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(slots=True)
class Usage:
    """Requests, characters and audio of one key on one day; `refused` are requests over a limit."""

    requests: int = 0
    characters: int = 0
    audio_seconds: float = 0.0
    refused: int = 0

    @property
    def values(self) -> tuple[int, int, float, int]:
        return self.requests, self.characters, self.audio_seconds, self.refused

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)))  # type: ignore[arg-type]


def _elapsed() -> float:
    """Seconds on a clock that nobody can set, and that counts the time in which the machine slept."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class DayClock:
    """The day in UTC by which quotas are counted.

    The system's clock is read once; from then on a steady clock goes on from there, so that a quota neither comes back
    nor stays away because somebody set the time.
    """

    def __init__(self, wall: Callable[[], float] = time.time, elapsed: Callable[[], float] = _elapsed) -> None:
        self._elapsed = elapsed
        self._origin = wall() - elapsed()

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self._origin + self._elapsed(), UTC)

    @property
    def today(self) -> str:
        return self.now.date().isoformat()

    def days_ago(self, days: int) -> str:
        return (self.now.date() - timedelta(days=days)).isoformat()

    @property
    def seconds_left(self) -> float:
        """Until the next day."""
        now = self.now
        tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return (tomorrow - now).total_seconds()
