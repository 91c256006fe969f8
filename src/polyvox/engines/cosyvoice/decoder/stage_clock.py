"""The time of flow and vocoder within one step, measured without waiting for the device."""

import time
from collections.abc import Sequence
from itertools import pairwise

import torch

from polyvox.types import Seconds


class StageClock:
    """Marks the ends of stages: by CUDA events in the current stream, elsewhere by the host's clock.

    Events cost no synchronisation: they are read by `seconds`, to be called when the samples are on the host.
    """

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._marks: list[float | torch.cuda.Event] = []
        self.mark()

    def mark(self) -> None:
        """A stage ends here, and the next begins."""
        if not self._on_gpu:
            self._marks.append(time.perf_counter())
            return
        event = torch.cuda.Event(enable_timing=True, blocking=True)  # type: ignore[no-untyped-call]
        event.record()
        self._marks.append(event)

    def wait_for_first(self) -> None:
        """Wait until the device has passed the end of the first stage."""
        end = self._marks[1]
        if not isinstance(end, float):
            end.synchronize()

    def seconds(self, rows: int = 1) -> Sequence[Seconds]:
        """The time of each stage; of the device's, one row of a batch of so many has its share."""
        passed = [_between(start, end) for start, end in pairwise(self._marks)]
        return [Seconds(seconds, seconds / rows) for seconds in passed]


def _between(start: "float | torch.cuda.Event", end: "float | torch.cuda.Event") -> float:
    if isinstance(start, float) or isinstance(end, float):
        assert isinstance(start, float)
        assert isinstance(end, float)
        return end - start
    milliseconds: float = start.elapsed_time(end)
    return milliseconds / 1000
