"""Lanes: batches that a GPU decodes side by side, each on a stream of its own."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.engines.kokoro.native.noise import noise_seed
from polyvox.engines.kokoro.request import ModelInput
from polyvox.runtime.executors.cuda_graphs import Replay, own_stream


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """A stream of the GPU that decodes, with graphs and a generator of noise of its own; a CPU has one without."""

    replay: Replay | None
    stream: "torch.cuda.Stream | None"
    generator: torch.Generator
    side: "torch.cuda.Stream | None" = None
    """For work beside it, where it is `urgent`."""

    @classmethod
    def on(cls, device: torch.device, replay: Replay | None, *, urgent: bool = False) -> "Lane":
        side = own_stream(device, urgent=True) if urgent else None
        return cls(replay, own_stream(device, urgent=urgent), torch.Generator(device), side)

    def fill_noise(self, noise: Tensor, item: ModelInput) -> None:
        """Draw the noise of an input: always the same on one kind of device."""
        noise.normal_(generator=self.generator.manual_seed(noise_seed(item)))


class Lanes:
    """Lanes that take turns."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = lanes
        self._turns = itertools.cycle(lanes)

    def __len__(self) -> int:
        return len(self._lanes)

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes)

    def next(self) -> Lane:
        return next(self._turns)
