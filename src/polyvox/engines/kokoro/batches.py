"""Calls of many sessions in batches through the native network."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from polyvox.engines.kokoro.call import Call, ModelInput, ModelOutput
from polyvox.engines.kokoro.native import NativeKokoro, Planned
from polyvox.engines.kokoro.render import Rendered, render
from polyvox.engines.kokoro.synthesis import Spoken, paused
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm

_AHEAD = 4

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class _Timed(Generic[Made]):
    """A result, and this call's share of the device's time for it."""

    value: Made
    seconds: float


class Batches:
    """Lines of any lengths are planned together, and sounded beside those of about their length.

    So a short first chunk never waits for a long one to be sounded along with it. Another thread reads texts and trims
    chunks by turns: two would wait for each other's turn of the interpreter at every step.
    """

    ahead = _AHEAD

    def __init__(self, network: NativeKokoro, observer: Observer | None) -> None:
        self._device = DeviceExecutor("kokoro", 1)
        desk = DeviceExecutor("kokoro-desk", 1)
        self._executors = (self._device, desk)
        self._read = Stage[Iterator[Call], Call | None]("kokoro-read", _read_on, executor=desk)
        self._finish = Stage[tuple[Call, ModelOutput], Rendered]("kokoro-finish", _rendered, executor=desk)
        self._plan = Stage[ModelInput, _Timed[Planned]](
            "kokoro-plan",
            partial(_timed, network.plan),
            executor=self._device,
            max_batch=network.batch,
            observer=observer,
        )
        self._sound = Stage[Planned, _Timed[Pcm]](
            "kokoro-sound",
            partial(_timed, network.sound),
            executor=self._device,
            key=network.bucket,
            room=network.room,
            observer=observer,
        )

    async def read(self, plan: Iterator[Call]) -> Call | None:
        return await self._read(plan)

    async def speak(self, call: Call, due: float) -> Spoken:
        if not call.input.ids:
            return Spoken(paused(call), 0.0)
        planned = await self._plan(call.input, due)
        sounded = await self._sound(planned.value, due)
        output = ModelOutput(sounded.value, planned.value.durations)
        rendered = await self._finish((call, output), due)
        return Spoken(rendered, planned.seconds + sounded.seconds)

    async def close(self) -> None:
        for stage in (self._read, self._plan, self._sound, self._finish):
            await stage.close()
        for executor in self._executors:
            await asyncio.to_thread(executor.close)


def _read_on(plans: Sequence[Iterator[Call]]) -> list[Call | None]:
    return [next(plan, None) for plan in plans]


def _rendered(sounded: Sequence[tuple[Call, ModelOutput]]) -> list[Rendered]:
    return [render(call.chunk, output, call.input.speed) for call, output in sounded]


def _timed(work: Callable[[Sequence[Given]], Sequence[Made]], items: list[Given]) -> list[_Timed[Made]]:
    started = time.perf_counter()
    made = work(items)
    share = (time.perf_counter() - started) / len(items)
    return [_Timed(value, share) for value in made]
