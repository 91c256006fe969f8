"""Host memory that a device copies from by itself, used in turn."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Bytes = npt.NDArray[np.uint8]


class Point(Protocol):
    """A point of a device's stream, as a CUDA event is one."""

    def synchronize(self) -> None: ...


class StagingRing:
    """Sends what a caller writes, in one copy. What a copy still reads is not written. One thread at a time may use it.

    Pinned memory is dear to allocate: it grows to twice what it was, and stays.
    """

    _TURNS = 3

    def __init__(self, device: torch.device, mark: Callable[[], Point | None]) -> None:
        """`mark` gives the point that the stream has reached, None where copies are done when they return."""
        self._device = device
        self._mark = mark
        self._memory = [self._allocated(0) for _ in range(self._TURNS)]
        self._copied: list[Point | None] = [None] * self._TURNS
        self._turn = 0

    def sent(self, size: int, write: Callable[[Bytes], None]) -> Tensor:
        """So many bytes on the device, all of them written by `write`."""
        turn = self._turn
        if (copied := self._copied[turn]) is not None:
            copied.synchronize()
        if len(self._memory[turn]) < size:
            self._memory[turn] = self._allocated(1 << (size - 1).bit_length())
        memory = self._memory[turn][:size]
        write(memory.numpy())
        sent = memory.to(self._device, non_blocking=True, copy=True)
        self._copied[turn], self._turn = self._mark(), (turn + 1) % self._TURNS
        return sent

    def _allocated(self, size: int) -> Tensor:
        return torch.empty(size, dtype=torch.uint8, pin_memory=self._device.type == "cuda" and size > 0)
