"""Lanes: batches that a GPU decodes side by side, each on a stream of its own."""

import hashlib
import itertools
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

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


def noise_seed(item: ModelInput) -> int:
    """The seed of an input's noise: a hash of its ids, style and speed, so that its samples depend on nothing else."""
    content = hashlib.blake2b(struct.pack("<d", item.speed), digest_size=8)
    content.update(np.array(item.ids, "<i4").tobytes())
    content.update(item.style.astype("<f4").tobytes())
    return int.from_bytes(content.digest(), "little") >> 1
