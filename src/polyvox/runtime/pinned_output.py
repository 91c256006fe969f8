"""Transfers between a GPU and the host through pinned memory, which none of the device's other work waits for."""

from collections.abc import Callable
from threading import Lock
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Samples = npt.NDArray[np.float32]

_SMALLEST = 1 << 14


class Event(Protocol):
    """As much of `torch.cuda.Event` as a copy needs."""

    def record(self) -> None:
        """Mark the point that the current stream has reached in its work."""

    def synchronize(self) -> None:
        """Wait until the stream has passed that point."""


class PendingOutput:
    """A result that may still be on its way. Any thread may ask for it."""

    def __init__(self, source: Tensor, event: Event | None = None) -> None:
        """`source` is in host memory; until the `event` has passed, its content is not."""
        self._source: Tensor | None = source
        self._event = event
        self._result: Samples | None = None
        self._lock = Lock()

    def result(self) -> Samples:
        """Wait for this result alone, and return it in memory of its own."""
        with self._lock:
            if self._result is None:
                assert self._source is not None
                if self._event is not None:
                    self._event.synchronize()
                self._result = np.array(self._source.numpy(), np.float32)
                self._source = self._event = None
            return self._result


class PinnedBuffer:
    """Host memory for one result at a time; for a GPU it is pinned. To pin takes longer than to copy, so it is kept."""

    def __init__(self, device: torch.device, allocate: Callable[[int], Tensor] | None = None) -> None:
        """`allocate` gives pinned memory unless another is given."""
        self._allocate = allocate or (_pinned if device.type == "cuda" else torch.empty)
        self._memory = self._allocate(_SMALLEST)

    def start(self, samples: Tensor) -> Tensor:
        """Begin to copy float32 samples over the last ones; they are there when the current stream gets here."""
        count = samples.numel()
        if count > len(self._memory):
            self._memory = self._allocate(1 << (count - 1).bit_length())
        target = self._memory[:count]
        target.copy_(samples.flatten(), non_blocking=True)
        return target.view(samples.shape)


class _Slot:
    """One pinned buffer, and the result that it holds."""

    def __init__(self, event: Event, buffer: PinnedBuffer) -> None:
        self._event, self._buffer = event, buffer
        self._pending: PendingOutput | None = None

    def start(self, samples: Tensor) -> PendingOutput:
        if self._pending is not None:
            # Nobody has asked for it yet, and this copy would overwrite it.
            self._pending.result()
        target = self._buffer.start(samples)
        self._event.record()
        self._pending = PendingOutput(target, self._event)
        return self._pending


class PinnedOutput:
    """Copies float32 results to the host without waiting for the rest of the device.

    Each copy goes into one of two pinned buffers, so that one is filled while the other is read. One thread may start
    copies.
    """

    def __init__(
        self,
        device: torch.device,
        make_event: Callable[[], Event] | None = None,
        allocate: Callable[[int], Tensor] | None = None,
    ) -> None:
        """`make_event` and `allocate` are CUDA's events and pinned memory unless others are given."""
        self._slots: tuple[_Slot, ...] = ()
        self._next = 0
        if device.type == "cuda" or make_event is not None:
            self._slots = tuple(_Slot((make_event or _cuda_event)(), PinnedBuffer(device, allocate)) for _ in range(2))

    def start(self, samples: Tensor) -> PendingOutput:
        """Begin to copy a result on the current stream; its memory may be reused by later work on that stream."""
        samples = samples.detach().float()
        if not self._slots:
            return PendingOutput(samples.cpu())
        slot, self._next = self._slots[self._next], 1 - self._next
        return slot.start(samples)


def upload(values: Tensor, device: torch.device) -> Tensor:
    """Host values on the device; on a GPU, the copy is queued behind the work of the current stream."""
    return values if device.type != "cuda" else values.pin_memory().to(device, non_blocking=True)


def _cuda_event() -> Event:
    event: Event = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    return event


def _pinned(count: int) -> Tensor:
    return torch.empty(count, pin_memory=True)
