"""From calls to chunks that can be heard: what runs the network is one of several."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from polyvox.audio.pcm import silence
from polyvox.engines.kokoro.call import Call, ModelInput, ModelOutput
from polyvox.engines.kokoro.render import SAMPLE_RATE, Rendered, render
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Observer, Stage


@dataclass(frozen=True, slots=True)
class Spoken:
    """One chunk as it came out, and the seconds the device spent on it."""

    rendered: Rendered
    seconds: float


class Synthesis(Protocol):
    """Calls of many sessions to one network, each answered as if it were alone."""

    @property
    def ahead(self) -> int:
        """How many chunks of one utterance may be under way at once."""

    async def read(self, plan: Iterator[Call]) -> Call | None:
        """The next call of an utterance's plan, off the event loop; None at its end."""

    async def speak(self, call: Call, due: float) -> Spoken:
        """The call's chunk, by the time its player runs dry if the device can do it."""

    async def close(self) -> None:
        """Release network and threads."""


class OneByOne:
    """A network that takes one row: calls run one by one on each of `workers` threads, the most urgent first."""

    ahead = 1

    def __init__(self, run: Callable[[ModelInput], ModelOutput], workers: int, observer: Observer | None) -> None:
        self._device = DeviceExecutor("kokoro", workers)
        work = partial(_synthesize_all, run)
        self._stage = Stage[Call, Spoken]("kokoro", work, executor=self._device, observer=observer)
        self._text = DeviceExecutor("kokoro-text", 1)

    async def read(self, plan: Iterator[Call]) -> Call | None:
        return await self._text.run(lambda: next(plan, None))

    async def speak(self, call: Call, due: float) -> Spoken:
        return await self._stage(call, due=due)

    async def close(self) -> None:
        await self._stage.close()
        for executor in (self._device, self._text):
            await asyncio.to_thread(executor.close)


def paused(call: Call) -> Rendered:
    """A call without ids: the pause alone."""
    return Rendered(silence(call.chunk.pause(call.input.speed), SAMPLE_RATE), 0, ())


def _synthesize_all(run: Callable[[ModelInput], ModelOutput], calls: list[Call]) -> list[Spoken]:
    return [_synthesize(run, call) for call in calls]


def _synthesize(run: Callable[[ModelInput], ModelOutput], call: Call) -> Spoken:
    started = time.perf_counter()
    rendered = render(call.chunk, run(call.input), call.input.speed) if call.input.ids else paused(call)
    return Spoken(rendered, time.perf_counter() - started)
