"""A step of a language model that a GPU has been given, or a CPU has ended: its tokens on their way to the host."""

import time
from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from polyvox.runtime.lm_step import StepOutput
from polyvox.runtime.shared_prefixes import SavedPrefix

_LEFT = 2
"""Decode steps that are left when a step of several is nearly done: as long as the host takes to prepare the next."""


class StepMarks:
    """Times within one step: its start, the end of its prompts, when it is nearly done, and its end."""

    def __init__(self, device: torch.device, tokens: int) -> None:
        self._on_gpu = device.type == "cuda"
        self._signal_at = max(0, tokens - _LEFT)
        self._marks: list[torch.cuda.Event | float] = []
        self._nearly: torch.cuda.Event | None = None
        self.mark()

    def mark(self) -> None:
        """Note the time at which the device gets here."""
        if self._on_gpu:
            event = torch.cuda.Event(enable_timing=True, blocking=True)  # type: ignore[no-untyped-call]
            event.record()
            self._marks.append(event)
        else:
            self._marks.append(time.perf_counter())

    def before_token(self, index: int) -> None:
        """Note that the device gets to a decode step."""
        if self._on_gpu and index == self._signal_at:
            self._nearly = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
            self._nearly.record()

    def wait_nearly_done(self) -> None:
        if self._nearly is not None:
            self._nearly.synchronize()

    def wait(self) -> list[float]:
        """Wait for the last mark; the seconds between each two marks."""
        last = self._marks[-1]
        if isinstance(last, torch.cuda.Event):
            last.synchronize()
        return [_seconds(before, after) for before, after in zip(self._marks, self._marks[1:], strict=False)]


def _seconds(before: "torch.cuda.Event | float", after: "torch.cuda.Event | float") -> float:
    if isinstance(before, torch.cuda.Event):
        assert isinstance(after, torch.cuda.Event)
        milliseconds: float = before.elapsed_time(after)
        return milliseconds / 1000
    assert not isinstance(after, torch.cuda.Event)
    return after - before


class LaunchedStep:
    """See `RunningStep`. `first` [n] and `following` [rows, tokens] are tokens on the device, or None.

    `decoding` are the sequences' rows of `following`, in the sequences' order; of `first`, those in `sampled` are ends
    of prompts.
    """

    def __init__(
        self,
        marks: StepMarks,
        first: Tensor | None,
        sampled: Sequence[int],
        following: Tensor | None,
        decoding: Sequence[int],
        prefixes: list[tuple[Hashable, SavedPrefix]],
        prefill_error: Exception | None,
    ) -> None:
        self._first, self._following = _to_host(first), _to_host(following)
        self._sampled, self._decoding = sampled, decoding
        self.prefixes = prefixes
        self.prefill_error = prefill_error
        self._marks = marks
        marks.mark()

    def wait_nearly_done(self) -> None:
        self._marks.wait_nearly_done()

    def output(self) -> StepOutput:
        prefill, decode = self._marks.wait()
        first = [] if self._first is None else self._first.tolist()
        following = [] if self._following is None else self._following.tolist()
        return StepOutput(
            [first[index] for index in self._sampled], [following[row] for row in self._decoding], prefill, decode
        )


def _to_host(tokens: Tensor | None) -> Tensor | None:
    """A copy in host memory, complete when the device's stream gets here."""
    if tokens is None or tokens.device.type != "cuda":
        return tokens
    host = torch.empty(tokens.shape, dtype=tokens.dtype, pin_memory=True)
    return host.copy_(tokens, non_blocking=True)
