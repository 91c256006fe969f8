"""Lines of many requests on one device: encoded, solved step by step, vocoded, each as if it were alone."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.zipvoice.lanes import Lanes
from polyvox.engines.zipvoice.manner import Manner
from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import Networks
from polyvox.engines.zipvoice.voice import ClonedVoice
from polyvox.models.zipvoice.calls import ONE_BY_ONE, Each, in_calls
from polyvox.models.zipvoice.model import Flow, Line, Solver
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm

FEATURE_SCALE = 0.1
"""The network works on mels of a tenth of their size."""
_CPU_FRAMES_PER_CALL = 2_400
_GPU_FRAMES_PER_CALL = 60_000
_CPU_BATCH, _GPU_BATCH = 8, 64

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """One chunk to be spoken, and the seed of its noise."""

    tokens: tuple[int, ...]
    voice: ClonedVoice
    speed: float
    manner: Manner
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """Samples, [n] or [n, channels], the frames they were made of, and the seconds that the device spent on them."""

    pcm: Pcm
    frames: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class _Timed:
    """A flow or a sound, and this request's share of the device's time for it."""

    value: Flow | Pcm
    seconds: float


class Synthesis:
    """The three stages. A request joins the solver's batch at the next step and leaves it after its last."""

    def __init__(self, networks: Networks, device: torch.device, observer: Observer | None) -> None:
        self._networks = networks
        self._device = device
        cpu = device.type == "cpu"
        self._frames_per_call = _CPU_FRAMES_PER_CALL if cpu else _GPU_FRAMES_PER_CALL
        self._executor = DeviceExecutor("zipvoice", 1)
        self._lanes = Lanes(min(torch.get_num_threads(), _CPU_BATCH)) if cpu else None
        self._each: Each = ONE_BY_ONE if self._lanes is None else self._lanes

        def stage(name: str, work: Callable[[list[Given]], Sequence[Flow | Pcm]]) -> Stage[Given, _Timed]:
            return Stage(
                f"zipvoice-{name}",
                lambda items: _timed(work, items),
                executor=self._executor,
                max_batch=_CPU_BATCH if cpu else _GPU_BATCH,
                observer=observer,
            )

        self._encode: Stage[Order, _Timed] = stage("encode", self._encoded)
        self._step: Stage[Flow, _Timed] = stage("step", self._stepped)
        self._vocode: Stage[Flow, _Timed] = stage("vocode", self._vocoded)

    async def speak(self, order: Order, due: float) -> Spoken:
        """The order's sound, by the time its player runs dry if the device can do it."""
        made = await self._encode(order, due)
        seconds = made.seconds
        while isinstance(made.value, Flow):
            flow = made.value
            made = await (self._vocode(flow, due) if flow.done else self._step(flow, due))
            seconds += made.seconds
        return Spoken(made.value, len(flow.spoken), seconds)

    async def close(self) -> None:
        for stage in (self._encode, self._step, self._vocode):
            await stage.close()
        await asyncio.to_thread(self._executor.close)
        if self._lanes is not None:
            await asyncio.to_thread(self._lanes.close)

    def _encoded(self, orders: list[Order]) -> list[Flow]:
        lines = [
            Line(order.tokens, order.voice.tokens, self._tensor(order.voice.mel) * FEATURE_SCALE, order.speed)
            for order in orders
        ]
        noise = [self._noise(order.seed, line) for order, line in zip(orders, lines, strict=True)]
        solvers = [Solver(order.manner.steps, order.manner.guidance, order.manner.shift) for order in orders]
        return self._networks.acoustics.start(lines, noise, solvers)

    def _stepped(self, flows: list[Flow]) -> list[Flow]:
        return self._networks.acoustics.step(flows, self._frames_per_call, self._each)

    def _vocoded(self, flows: list[Flow]) -> list[Pcm]:
        channels = flows[0].mel.shape[1] // BINS
        mels = [mel for flow in flows for mel in torch.split(flow.spoken / FEATURE_SCALE, BINS, dim=1)]
        lengths = [len(mel) for mel in mels]
        rows = in_calls(self._networks.vocos, mels, lengths, self._frames_per_call, self._each)
        sounds = [row.cpu().numpy() for row in rows]
        if channels == 1:
            return sounds
        return [np.stack(sounds[index : index + channels], axis=1) for index in range(0, len(sounds), channels)]

    def _tensor(self, array: Pcm) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    def _noise(self, seed: int, line: Line) -> Tensor:
        """The same for a seed on every device."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(line.frames, line.prompt.shape[1], generator=generator).to(self._device)


def _timed(work: Callable[[list[Given]], Sequence[Flow | Pcm]], items: list[Given]) -> list[_Timed]:
    started = time.perf_counter()
    with torch.inference_mode():
        made = work(items)
    share = (time.perf_counter() - started) / len(items)
    return [_Timed(value, share) for value in made]
