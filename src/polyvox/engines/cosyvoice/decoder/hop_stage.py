"""Hops of many streams in batches: one batch after the other, or on a GPU the next one before the last is heard."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from polyvox.engines.cosyvoice.decoder.launched_hops import LaunchedHops
from polyvox.engines.cosyvoice.decoder.speech_decoder import Hop, Token2WavResult
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Stage


class HopStage(Protocol):
    """Decodes hops of any streams; none notices the others."""

    async def __call__(self, item: Hop, due: float = 0.0) -> Token2WavResult:
        """The samples of a hop; `due` is the event loop's time at which its listener runs dry."""

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class LaunchedRow:
    """A hop's place among those launched with it."""

    hops: LaunchedHops
    index: int


class LaunchingHopStage:
    """Launches a batch as soon as the flow of the one ahead of it is done.

    The host's work for it is then hidden behind the vocoder, and so is the samples' way to the host and to their
    streams; and its hops are chosen no earlier, so that an urgent one still waits for one batch at most.
    """

    def __init__(self, launching: Stage[Hop, LaunchedRow], most: int) -> None:
        """`launching` runs `launch_rows` for batches of at most so many hops."""
        self._launching = launching
        self._reader = DeviceExecutor(f"{launching.name}-samples", 1)
        self._reading = Stage[LaunchedRow, Token2WavResult](
            f"{launching.name}-samples", _read, executor=self._reader, max_batch=most, key=_batch_of
        )

    async def __call__(self, item: Hop, due: float = 0.0) -> Token2WavResult:
        return await self._reading(await self._launching(item, due), due)

    async def close(self) -> None:
        await self._launching.close()
        await self._reading.close()
        await asyncio.to_thread(self._reader.close)


def launch_rows(launch: Callable[[Sequence[Hop]], LaunchedHops], hops: Sequence[Hop]) -> list[LaunchedRow]:
    """Launch hops, and return when their flow is done."""
    launched = launch(hops)
    launched.wait_for_flow()
    return [LaunchedRow(launched, index) for index in range(len(hops))]


def _batch_of(row: LaunchedRow) -> int:
    return id(row.hops)


def _read(rows: list[LaunchedRow]) -> list[Token2WavResult]:
    results = rows[0].hops.results()
    return [results[row.index] for row in rows]
