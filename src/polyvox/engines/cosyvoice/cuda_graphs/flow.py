"""The flow's solver as CUDA graphs: all its steps from noise to mel are one launch."""

import math
from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.engines.cosyvoice.cuda_graphs.mask import StaticMask
from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache, PackedCache, PackedLayerCache
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowSpan
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for

EXTENTS = (512, 1024, 1536, 2048)
"""Frames, cached and new ones together, for which graphs are captured: up to 41 seconds with the prompt."""


class SolverGraphs:
    """A `Solver` that replays graphs. One thread may use it.

    The cache is copied into static buffers so that it ends where the call's own frames begin, with zeros before it that
    the mask hides; what the call adds is copied out again. So a result depends on the arguments alone and not on what
    the buffers held before. A longer call is made as several; the last call of a stream, which may have any length, is
    padded. Shapes that were not captured run eagerly.
    """

    def __init__(self, flow: Flow, replay: Replay, sizes: Sequence[int], extents: Sequence[int] = EXTENTS) -> None:
        """`sizes` in frames: whole blocks, one block among them."""
        self._flow = flow
        self._replay = replay
        self._block = FRAMES_PER_TOKEN * flow.config.block
        self._sizes, self._extents = sorted(sizes), sorted(extents)
        assert self._sizes[0] == self._block
        assert all(size % self._block == 0 and size < self._extents[0] for size in self._sizes)
        sample = self._cache_of_one_block()
        self._contexts, self._new_contexts = torch.zeros_like(sample.contexts), torch.zeros_like(sample.contexts)
        self._shape = sample.kv[0].shape
        self._kv = sample.contexts.new_zeros(sample.kv[0].numel() // self._shape[-2] * self._extents[-1])

    def _cache_of_one_block(self) -> PackedCache:
        cache = PackedLayerCache(None)
        self._flow.integrate(self._zeros(self._block), cache, BlockCausalMask(self._block, self._block))
        packed = cache.packed()
        assert packed is not None
        return packed

    def _zeros(self, frames: int) -> FlowPoint:
        mu = self._flow.speaker.weight.new_zeros(1, self._flow.config.bins, frames)
        return FlowPoint(mu.float(), mu, mu[:, :, 0], mu)

    @property
    def buffers(self) -> tuple[Tensor, ...]:
        """The static buffers; between two calls they may hold anything."""
        return self._kv, self._contexts, self._new_contexts

    def capture(self) -> None:
        """Capture every shape."""
        for size in self._sizes:
            for extent in self._extents:
                self._replayed(self._zeros(size), 0, None, extent)

    def __call__(self, point: FlowPoint, span: FlowSpan, past: PackedCache | None) -> tuple[Tensor, PackedCache | None]:
        frames, cached = span.last - span.first, 0 if past is None else past.length
        parts = list(self._parts(frames, exactly=span.update))
        fits = point.mel.shape[0] == 1 and cached + sum(parts) <= self._extents[-1]
        # A window moves with each call, so that a call with one cannot be made as several.
        if span.block != self._block or not fits or (span.window is not None and len(parts) > 1):
            return self._flow.solve(point, span, past)
        mels, begin = [], 0
        for size in parts:
            mel, past = self._solve(_cut(point, begin, begin + size), span.first + begin, size, past)
            mels.append(mel)
            begin += size
        assert past is not None
        return torch.cat(mels, dim=2), past.truncated(span.window) if span.update else None

    def _parts(self, frames: int, *, exactly: bool) -> Iterator[int]:
        """The captured sizes that add up to so many frames; unless `exactly`, the last may be padded."""
        while frames > 0:
            if not exactly and frames <= self._sizes[-1]:
                yield bucket_for(frames, self._sizes)
                return
            size = max(size for size in self._sizes if size <= frames)
            yield size
            frames -= size

    def _solve(self, point: FlowPoint, first: int, size: int, past: PackedCache | None) -> tuple[Tensor, PackedCache]:
        """The mel of frames from `first` on, padded to `size`, and the cache with all `size` of them."""
        valid = point.mel.shape[2]
        extent = bucket_for(size + (0 if past is None else past.length), self._extents)
        mel = self._replayed(_padded(point, size), first, past, extent, valid)[:, :, :valid].clone()
        added = _as_doubles(self._kv_buffer(extent))[..., extent - size :, :].clone().view(self._kv.dtype)
        return mel, PackedCache(self._new_contexts.clone(), (*(past.kv if past else ()), added))

    def _replayed(
        self, point: FlowPoint, first: int, past: PackedCache | None, extent: int, valid: int | None = None
    ) -> Tensor:
        size = point.mel.shape[2]
        self._fill_buffers(past, extent, size)
        numbers = (first, 0 if past is None else past.length, size if valid is None else valid)
        bounds = torch.tensor(numbers, device=self._kv.device)
        work = partial(self._work, extent=extent)
        return self._replay(("flow", size, extent), work, (bounds, point.mel, point.mu, point.speaker, point.condition))

    def _work(
        self, bounds: Tensor, mel: Tensor, mu: Tensor, speaker: Tensor, condition: Tensor, *, extent: int
    ) -> Tensor:
        """The captured work: reads its arguments and the static buffers, and updates the cache in the buffers."""
        size = mel.shape[2]
        cache = _StaticCache(self._kv_buffer(extent), self._contexts, self._new_contexts, size)
        mask = StaticMask(bounds, size, extent, self._block, mu.dtype)
        return self._flow.integrate(FlowPoint(mel, mu, speaker, condition), cache, mask)

    def _kv_buffer(self, extent: int) -> Tensor:
        """The buffer of keys and values, [2 * layers, batch, heads, extent, width]."""
        count, batch, heads, _, width = self._shape
        shape = (count, batch, heads, extent, width)
        return self._kv[: math.prod(shape)].view(shape)

    def _fill_buffers(self, past: PackedCache | None, extent: int, size: int) -> None:
        """Copy the cache into the buffers; the last `size` positions are written by the call itself."""
        buffer = _as_doubles(self._kv_buffer(extent))
        start = extent - size - (0 if past is None else past.length)
        # Masked positions still get a weight of zero, and zero times a NaN left in the buffer is not zero.
        buffer[..., :start, :].zero_()
        for kv in () if past is None else past.kv:
            buffer[..., start : start + kv.shape[-2], :].copy_(_as_doubles(kv))
            start += kv.shape[-2]
        if past is None:
            self._contexts.zero_()
        else:
            self._contexts.copy_(past.contexts)


def _as_doubles(kv: Tensor) -> Tensor:
    """The same bits as elements of eight bytes, of which a GPU copies as many in a second as of narrow ones."""
    return kv.view(torch.float64)


def _cut(point: FlowPoint, begin: int, end: int) -> FlowPoint:
    return FlowPoint(
        point.mel[:, :, begin:end], point.mu[:, :, begin:end], point.speaker, point.condition[:, :, begin:end]
    )


def _padded(point: FlowPoint, size: int) -> FlowPoint:
    padding = size - point.mel.shape[2]
    if padding == 0:
        return point
    mel, mu, condition = (functional.pad(each, (0, padding)) for each in (point.mel, point.mu, point.condition))
    return FlowPoint(mel, mu, point.speaker, condition)


class _StaticCache(LayerCache):
    """Reads the cache from static buffers and writes the new one there; `size` positions are new."""

    def __init__(self, kv: Tensor, contexts: Tensor, new_contexts: Tensor, size: int) -> None:
        super().__init__(update=False)
        self._layers = iter(kv)
        self._contexts, self._new_contexts = contexts, new_contexts
        self._cursor = 0
        self._size = size

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        shape = (*new.shape[:-1], length)
        start, self._cursor = self._cursor, self._cursor + math.prod(shape)
        joined = torch.cat((self._contexts[start : self._cursor].view(shape), new), dim=-1)
        self._new_contexts[start : self._cursor].view(shape).copy_(joined[..., joined.shape[-1] - length :])
        return joined

    def append(self, new: Tensor) -> Tensor:
        kv: Tensor = next(self._layers)
        kv[..., kv.shape[-2] - self._size :, :] = new
        return kv
