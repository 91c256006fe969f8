"""CUDA graphs: work of fixed shape, captured once and replayed without a launch for each of its kernels."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Replay(Protocol):
    """Runs a function of tensors whose shapes follow from `key`: captured, as by `CudaGraphs`, or in any other way."""

    def __call__(
        self,
        key: Hashable,
        work: Callable[..., Tensor],
        given: Sequence[Tensor],
        idle: Sequence[Tensor] | None = None,
        same: Collection[int] = (),
    ) -> Tensor:
        """The result of `work(*given)`.

        A capture runs `work` several times: on `idle` where it is given, because `work` has side effects there. The
        inputs `same`, by index, are what they were in the last call with this key.
        """


def eagerly(
    key: Hashable,
    work: Callable[..., Tensor],
    given: Sequence[Tensor],
    idle: Sequence[Tensor] | None = None,
    same: Collection[int] = (),
) -> Tensor:
    """A `Replay` that captures nothing."""
    return work(*given)


@dataclass(frozen=True, slots=True)
class _Captured:
    graph: torch.cuda.CUDAGraph
    inputs: tuple[Tensor, ...]
    output: Tensor


class CudaGraphs:
    """One graph for each key, captured when the key first comes. A result is valid until any key is replayed.

    All graphs share one memory pool: a result may lie where a graph that was captured earlier computes. Only one thread
    may use an instance; another thread may use another instance beside it.
    """

    _WARM_UP_RUNS = 2

    def __init__(self) -> None:
        self._captured: dict[Hashable, _Captured] = {}
        self._pool = torch.cuda.graph_pool_handle()
        # A library's workspace belongs to the stream on which it was first needed, and then to the graphs.
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def __call__(
        self,
        key: Hashable,
        work: Callable[..., Tensor],
        given: Sequence[Tensor],
        idle: Sequence[Tensor] | None = None,
        same: Collection[int] = (),
    ) -> Tensor:
        if key not in self._captured:
            self._captured[key] = self._capture(work, given if idle is None else idle)
        captured = self._captured[key]
        copy_inputs(captured.inputs, given, same)
        captured.graph.replay()
        return captured.output

    def _capture(self, work: Callable[..., Tensor], given: Sequence[Tensor]) -> _Captured:
        inputs = tuple(tensor.clone() for tensor in given)
        # Libraries initialise themselves in their first calls, which must not be part of the graph.
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(self._WARM_UP_RUNS):
                work(*inputs)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # Other threads go on using the GPU during the capture.
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"):
            output = work(*inputs)
        return _Captured(graph, inputs, output)


def copy_inputs(static: Sequence[Tensor], given: Sequence[Tensor], same: Collection[int] = ()) -> None:
    """Copy a call's inputs to where a graph reads them, in one call of PyTorch; those that are the `same` are there."""
    assert len(static) == len(given)
    changed = [index for index in range(len(given)) if index not in same]
    if changed:
        targets, sources = [static[index] for index in changed], [given[index] for index in changed]
        torch._foreach_copy_(targets, sources, non_blocking=True)


def buckets(most: int, *, start: int = 1) -> list[int]:
    """Sizes to capture: powers of two from `start`, and `most` itself."""
    sizes = []
    size = start
    while size < most:
        sizes.append(size)
        size *= 2
    return [*sizes, most]


def finer_buckets(most: int) -> list[int]:
    """Likewise, and from four on also halfway between two powers: a batch is then padded by a third at most."""
    halves = [size * 3 // 2 for size in buckets(most, start=4) if size * 3 // 2 < most]
    return sorted({*buckets(most), *halves})


def bucket_for(size: int, sizes: Sequence[int]) -> int:
    """The smallest of the ascending sizes that holds `size`."""
    return next(each for each in sizes if each >= size)


def own_stream(device: torch.device, *, urgent: bool = False) -> torch.cuda.Stream | None:
    """A new CUDA stream, of high priority where it is `urgent`; None off a GPU.

    Synchronises first: weights may still be on their way.
    """
    if device.type != "cuda":
        return None
    torch.cuda.synchronize(device)
    stream: torch.cuda.Stream = torch.cuda.Stream(device, priority=-1 if urgent else 0)  # type: ignore[no-untyped-call]
    return stream


def use_own_stream(device: torch.device, *, urgent: bool = False) -> None:
    """Give the calling thread an `own_stream`, so that it does not wait for other threads' work."""
    if (stream := own_stream(device, urgent=urgent)) is not None:
        torch.cuda.set_stream(stream)
