"""Version 2's token encoder as CUDA graphs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import torch
from torch import Tensor

from polyvox.engines.cosyvoice.cuda_graphs.mask import StaticMask
from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import CachedTensors, LayerCache
from polyvox.models.cosyvoice.flow import Flow, FlowSpan
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for


class _CacheKind(StrEnum):
    CONTEXT = "context"
    KV = "kv"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class _CacheBuffer:
    """The static buffers of one cached tensor: its contents before a call and after it.

    Keys and values end where their buffer ends, the call's own positions included: `rate` of them for each token.
    """

    kind: _CacheKind
    before: Tensor
    after: Tensor
    rate: int = 1


class TokenEncoderGraphs:
    """An `Encoder` that replays graphs for calls of captured sizes that do not end a stream. One thread may use it.

    The cache is copied into static buffers as in `SolverGraphs`, so a result depends on the arguments alone.
    """

    def __init__(self, flow: Flow, replay: Replay, sizes: Sequence[int], extents: Sequence[int]) -> None:
        """`sizes` and `extents` in tokens, the former whole blocks."""
        self._flow = flow
        self._replay = replay
        self._sizes, self._extents = sorted(sizes), sorted(extents)
        cache = _TracingCache()
        block = flow.config.block
        flow.token_encoder(*self._zeros(block), cache, BlockCausalMask(block, block))
        self._buffers = [_cache_buffer(kind, sample, block, self._extents[-1]) for kind, sample in cache.traced]

    def _zeros(self, size: int) -> tuple[Tensor, Tensor]:
        tokens = torch.zeros(1, size, dtype=torch.long, device=self._flow.speaker.weight.device)
        return tokens, tokens[:, : self._flow.config.ahead]

    @property
    def buffers(self) -> tuple[Tensor, ...]:
        """The static buffers; between two calls they may hold anything."""
        return tuple(tensor for buffer in self._buffers for tensor in (buffer.before, buffer.after))

    def capture(self) -> None:
        """Capture every shape."""
        for size in self._sizes:
            for extent in self._extents:
                self._replayed(*self._zeros(size), 0, (), extent)

    def __call__(
        self, tokens: Tensor, context: Tensor, span: FlowSpan, past: CachedTensors
    ) -> tuple[Tensor, CachedTensors]:
        captured = tokens.shape[1] in self._sizes and context.shape[1] == self._flow.config.ahead
        fits = tokens.shape[0] == 1 and span.block == self._flow.config.block and span.last <= self._extents[-1]
        if not captured or not fits or not span.update:
            return self._flow.encode(tokens, context, span, past)
        extent = bucket_for(span.last, self._extents)
        mu = self._replayed(tokens, context, span.first, past, extent).clone()
        return mu, self._new_cache(past, tokens.shape[1])

    def _replayed(self, tokens: Tensor, context: Tensor, first: int, past: CachedTensors, extent: int) -> Tensor:
        size = tokens.shape[1]
        for index, buffer in enumerate(self._buffers):
            _fill_buffer(buffer, past[index] if past else None, extent, size)
        bounds = torch.tensor((first, first, size), device=tokens.device)
        return self._replay(("encoder", size, extent), partial(self._work, extent=extent), (bounds, tokens, context))

    def _work(self, bounds: Tensor, tokens: Tensor, context: Tensor, *, extent: int) -> Tensor:
        """The captured work: reads its arguments and the static buffers, and updates the cache in the buffers."""
        size = tokens.shape[1]
        mask = StaticMask(bounds, size, extent, self._flow.config.block, torch.bool)
        mu: Tensor = self._flow.token_encoder(tokens, context, _StaticCache(self._buffers, extent, size), mask)
        return mu

    def _new_cache(self, past: CachedTensors, size: int) -> CachedTensors:
        """The cache after a call. Tables are passed on as they are; an eager call extends them where it needs more."""
        tensors = []
        for index, buffer in enumerate(self._buffers):
            if buffer.kind == _CacheKind.CONTEXT:
                tensors.append(buffer.after.clone())
            elif buffer.kind == _CacheKind.TABLE:
                tensors.append(past[index] if past else buffer.before)
            else:
                new = buffer.before[..., buffer.before.shape[-2] - buffer.rate * size :, :]
                tensors.append(torch.cat((past[index], new), dim=-2) if past else new.clone())
        return tuple(tensors)


def _cache_buffer(kind: _CacheKind, sample: Tensor, tokens: int, most: int) -> _CacheBuffer:
    """Buffers for a tensor that so many tokens left in the cache; that of a table has no rows."""
    if kind == _CacheKind.CONTEXT:
        return _CacheBuffer(kind, torch.zeros_like(sample), torch.zeros_like(sample))
    rate = sample.shape[-2] // tokens
    rows = 0 if kind == _CacheKind.TABLE else rate * most
    buffer = sample.new_zeros(*sample.shape[:-2], rows, sample.shape[-1])
    return _CacheBuffer(kind, buffer, buffer, rate)


def _fill_buffer(buffer: _CacheBuffer, past: Tensor | None, extent: int, size: int) -> None:
    """Copy a cached tensor into its buffer; the last `size` tokens are written by the call itself."""
    if buffer.kind == _CacheKind.CONTEXT:
        if past is None:
            buffer.before.zero_()
        else:
            buffer.before.copy_(past)
    elif buffer.kind == _CacheKind.KV:
        cached = buffer.before[..., buffer.before.shape[-2] - buffer.rate * extent : -buffer.rate * size, :]
        rows = 0 if past is None else past.shape[-2]
        # Masked positions still get a weight of zero, and zero times a NaN left in the buffer is not zero.
        cached[..., : cached.shape[-2] - rows, :].zero_()
        if past is not None:
            cached[..., cached.shape[-2] - rows :, :].copy_(past)


class _TracingCache(LayerCache):
    """Records the kind of each cached tensor during a first call."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: list[_CacheKind] = []

    @property
    def traced(self) -> Iterator[tuple[_CacheKind, Tensor]]:
        return zip(self._kinds, self.tensors(), strict=True)

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        self._kinds.append(_CacheKind.CONTEXT)
        return super().left_context(new, length, first)

    def append(self, new: Tensor) -> Tensor:
        self._kinds.append(_CacheKind.KV)
        return super().append(new)

    def table(self, rows: int, make: Callable[[int, int], Tensor]) -> Tensor:
        self._kinds.append(_CacheKind.TABLE)
        return super().table(rows, make)


class _StaticCache(LayerCache):
    """Reads and writes the cache in its static buffers."""

    def __init__(self, buffers: Sequence[_CacheBuffer], extent: int, size: int) -> None:
        super().__init__(update=False)
        self._buffers = iter(buffers)
        self._extent, self._size = extent, size

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        buffer = next(self._buffers)
        joined = torch.cat((buffer.before, new), dim=-1)
        buffer.after.copy_(joined[..., joined.shape[-1] - length :])
        return joined

    def append(self, new: Tensor) -> Tensor:
        buffer = next(self._buffers)
        rows = buffer.before.shape[-2]
        buffer.before[..., rows - new.shape[-2] :, :] = new
        return buffer.before[..., rows - buffer.rate * self._extent :, :]

    def table(self, rows: int, make: Callable[[int, int], Tensor]) -> Tensor:
        next(self._buffers)
        return make(0, rows)
