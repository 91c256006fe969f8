"""RecentCounts: what the metrics were in the last minutes, for a page that has only just been opened."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from prometheus_client import CollectorRegistry, Metric

INTERVAL_SECONDS = 10.0
KEPT_SECONDS = 300.0
SERIES = MappingProxyType(
    {
        "polyvox_active_sessions": None,
        "polyvox_queue_depth": None,
        "polyvox_requests_total": None,
        "polyvox_audio_seconds_total": None,
        "polyvox_refused_total": "reason",
        "polyvox_failures_total": "kind",
        "polyvox_time_to_first_audio_seconds_bucket": "le",
    }
)
"""The metrics that are kept, each with the label by which its sums are told apart."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Sums of the metrics at a moment, by the value of their label. Of 0 are only buckets."""

    at: float
    sums: dict[str, dict[str, float]]


class RecentCounts:
    """Keeps a snapshot every ten seconds, for five minutes. The first one is of the server's start."""

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float] = time.monotonic) -> None:
        self.source: Callable[[], Iterable[Metric]] = registry.restricted_registry(SERIES).collect
        """Gives the metrics; several processes that are one server have theirs in common."""
        self._clock = clock
        self._kept = deque[Snapshot](maxlen=int(KEPT_SECONDS / INTERVAL_SECONDS) + 1)

    def take(self) -> None:
        """Keep the metrics as they are now."""
        sums: dict[str, dict[str, float]] = {name: {} for name in SERIES}
        for metric in self.source():
            for sample in metric.samples:
                if sample.name not in SERIES:
                    continue
                label = SERIES[sample.name]
                key = "" if label is None else sample.labels[label]
                if sample.value or label == "le":
                    sums[sample.name][key] = sums[sample.name].get(key, 0.0) + sample.value
        self._kept.append(Snapshot(self._clock(), sums))

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Take snapshots until the block ends."""
        self.take()
        task = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            self.take()

    def public(self) -> list[dict[str, Any]]:
        """The snapshots, the oldest first, each with its age in seconds."""
        now = self._clock()
        return [{"age": round(now - each.at, 3), "sums": each.sums} for each in self._kept]
