"""The running account of what keys use, written to the file of keys every few seconds."""

import asyncio

import structlog

from polyvox.errors import PolyvoxError
from polyvox.service.keys.store import KeyStore
from polyvox.service.keys.usage import DayClock, Usage
from polyvox.service.telemetry.key_names import ANONYMOUS

WRITE_SECONDS = 2.0
"""Interval at which usage is written: as much of it is lost where the process is killed."""

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class UsageLedger:
    """Usage by name and day: what the file had when it was last read, and what came since.

    Callers without a key are counted in memory only, unless there is a file anyhow.
    """

    def __init__(self, store: KeyStore, clock: DayClock) -> None:
        self.clock = clock
        self._store = store
        self._written: dict[tuple[str, str], Usage] = {}
        self._pending: dict[tuple[str, str], Usage] = {}
        self._read_day = ""
        self._failed = False

    def add(
        self, name: str, *, requests: int = 0, characters: int = 0, audio_seconds: float = 0.0, refused: int = 0
    ) -> None:
        """Count for today."""
        entry = self._pending.setdefault((name, self.clock.today), Usage())
        entry.requests += requests
        entry.characters += characters
        entry.audio_seconds += audio_seconds
        entry.refused += refused

    def today(self, name: str) -> Usage:
        """Today's usage of a key, by all servers of this file as far as this one has read."""
        place = (name, self.clock.today)
        return self._written.get(place, Usage()) + self._pending.get(place, Usage())

    def read(self) -> None:
        """Read what was used today."""
        today = self.clock.today
        self._written = self._store.usage(today)
        self._read_day = today

    async def since(self, days: int, name: str | None) -> dict[tuple[str, str], Usage]:
        """The usage of the last days, of one key or of all, by name and day."""
        first = self.clock.days_ago(days - 1)
        found = await asyncio.to_thread(self._store.usage, first, name)
        for place, usage in self._pending.items():
            if place[1] >= first and name in (None, place[0]):
                found[place] = found.get(place, Usage()) + usage
        return dict(sorted(found.items()))

    async def write(self) -> None:
        """Write what came since the last time; where that fails, it is tried again with what comes then."""
        new, self._pending = self._pending, {}
        kept = {place: usage for place, usage in new.items() if place[0] == ANONYMOUS and not self._store.exists}
        rows = {place: usage for place, usage in new.items() if place not in kept}
        self._pending = kept
        if not rows and self._read_day == self.clock.today:
            return
        for place, usage in rows.items():  # readers meanwhile see it as written
            self._written[place] = self._written.get(place, Usage()) + usage
        try:
            if rows:
                await asyncio.to_thread(self._store.add_usage, rows)
            await asyncio.to_thread(self.read)
            self._failed = False
        except PolyvoxError as error:
            if not self._failed:
                log.warning("usage of keys cannot be written", problem=error.message)
            self._failed = True
            self._take_back(rows)

    def _take_back(self, rows: dict[tuple[str, str], Usage]) -> None:
        for place, usage in rows.items():
            self._pending[place] = self._pending.get(place, Usage()) + usage
            self._written[place] += Usage(*(-value for value in usage.values))  # type: ignore[arg-type]
