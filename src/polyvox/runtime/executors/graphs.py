"""Work of fixed shape on a GPU, recorded once and then replayed without a launch for each of its kernels."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Replay(Protocol):
    """Whatever runs a function of tensors whose shapes follow from `key`."""

    def __call__(
        self, key: Hashable, work: Callable[..., Tensor], given: Sequence[Tensor], idle: Sequence[Tensor] | None = None
    ) -> Tensor:
        """What `work` makes of `given`. It may also be run on `idle` first, where running it has consequences."""


@dataclass(frozen=True, slots=True)
class _Recorded:
    graph: torch.cuda.CUDAGraph
    given: tuple[Tensor, ...]
    made: Tensor


class CudaGraphs:
    """One graph for each key, recorded when it is first asked for. A result stands until the key is run again.

    All graphs share one stretch of memory for what they need in between; one thread may use them. Beside them, another
    thread may use graphs that another recorder made.
    """

    _TRIALS = 2

    def __init__(self) -> None:
        self._recorded: dict[Hashable, _Recorded] = {}
        self._pool = torch.cuda.graph_pool_handle()
        # A library's scratch memory belongs to the stream on which it was first needed, and then to the graphs.
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def __call__(
        self, key: Hashable, work: Callable[..., Tensor], given: Sequence[Tensor], idle: Sequence[Tensor] | None = None
    ) -> Tensor:
        if key not in self._recorded:
            self._recorded[key] = self._record(work, given if idle is None else idle)
        recorded = self._recorded[key]
        for held, new in zip(recorded.given, given, strict=True):
            held.copy_(new, non_blocking=True)
        recorded.graph.replay()
        return recorded.made

    def _record(self, work: Callable[..., Tensor], given: Sequence[Tensor]) -> _Recorded:
        held = tuple(tensor.clone() for tensor in given)
        # Libraries set themselves up at their first calls, which must not be part of the graph.
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(self._TRIALS):
                work(*held)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # Other threads go on using the GPU while this one records.
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"):
            made = work(*held)
        return _Recorded(graph, held, made)


def buckets(most: int, *, start: int = 1) -> list[int]:
    """Sizes for which graphs are worth having: powers of two from `start`, and `most` itself."""
    sizes = []
    size = start
    while size < most:
        sizes.append(size)
        size *= 2
    return [*sizes, most]


def bucket_for(size: int, sizes: Sequence[int]) -> int:
    """The smallest of the sizes that holds `size`."""
    return next(each for each in sizes if each >= size)
