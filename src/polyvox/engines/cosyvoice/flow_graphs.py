"""The flow's way from noise to mel in work of few shapes, each recorded once: all its steps are then one launch."""

import math
from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.attention import Sight
from polyvox.models.cosyvoice.euler import FlowPoint
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, Stretch
from polyvox.models.memory import Memory, Trail, TrailMemory
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for

EXTENTS = (512, 1024, 1536, 2048)
"""Frames, those before a call and its own, for which a call may be recorded: up to 41 seconds with the prompt."""


class FlowGraphs:
    """A `Solver` that replays. One thread may use it.

    What was kept of earlier frames is laid into a fixed stretch of memory, its end where the call's own frames begin
    and zeros before it, which a mask hides; what the call adds is copied out again. So a result depends on what is
    handed in and on nothing that lay there before. A longer call is made in several; the last of a stream, which may
    have any length, is filled up with frames that nobody sees. What fits no shape is left to the model.
    """

    def __init__(self, flow: Flow, replay: Replay, sizes: Sequence[int], extents: Sequence[int] = EXTENTS) -> None:
        """`sizes` in frames: whole blocks, one block among them."""
        self._flow = flow
        self._replay = replay
        self._block = FRAMES_PER_TOKEN * flow.config.block
        self._sizes, self._extents = sorted(sizes), sorted(extents)
        assert self._sizes[0] == self._block
        assert all(size % self._block == 0 and size < self._extents[0] for size in self._sizes)
        kept = self._trial()
        self._tails, self._new_tails = torch.zeros_like(kept.tails), torch.zeros_like(kept.tails)
        self._shape = kept.rows[0].shape
        self._rows = kept.tails.new_zeros(kept.rows[0].numel() // self._shape[-2] * self._extents[-1])

    def _trial(self) -> Trail:
        """What one block leaves behind."""
        memory = TrailMemory(None)
        self._flow.integrated(self._nothing(self._block), memory, Sight(self._block, self._block))
        kept = memory.trail()
        assert kept is not None
        return kept

    def _nothing(self, frames: int) -> FlowPoint:
        mu = self._flow.speaker.weight.new_zeros(1, self._flow.config.bins, frames)
        return FlowPoint(mu.float(), mu, mu[:, :, 0], mu)

    @property
    def buffers(self) -> tuple[Tensor, ...]:
        """The fixed stretches of memory; between two calls they may hold anything."""
        return self._rows, self._tails, self._new_tails

    def warm(self) -> None:
        """Record every shape."""
        for size in self._sizes:
            for extent in self._extents:
                self._replayed(self._nothing(size), 0, None, extent)

    def __call__(self, point: FlowPoint, stretch: Stretch, past: Trail | None) -> tuple[Tensor, Trail | None]:
        frames, before = stretch.last - stretch.first, 0 if past is None else past.length
        parts = list(self._parts(frames, exactly=stretch.remember))
        fits = point.mel.shape[0] == 1 and before + sum(parts) <= self._extents[-1]
        # A window moves with each call, so that there a call cannot be made in several.
        if stretch.block != self._block or not fits or (stretch.window is not None and len(parts) > 1):
            return self._flow.solved(point, stretch, past)
        mels, begin = [], 0
        for size in parts:
            mel, past = self._solved(_cut(point, begin, begin + size), stretch.first + begin, size, past)
            mels.append(mel)
            begin += size
        assert past is not None
        return torch.cat(mels, dim=2), past.within(stretch.window) if stretch.remember else None

    def _parts(self, frames: int, *, exactly: bool) -> Iterator[int]:
        """The sizes of the calls that so many frames take; unless `exactly`, the last may be too long."""
        while frames > 0:
            if not exactly and frames <= self._sizes[-1]:
                yield bucket_for(frames, self._sizes)
                return
            size = max(size for size in self._sizes if size <= frames)
            yield size
            frames -= size

    def _solved(self, point: FlowPoint, first: int, size: int, past: Trail | None) -> tuple[Tensor, Trail]:
        """The mel of frames from `first` on, at most `size`, and what is kept after so many."""
        valid = point.mel.shape[2]
        extent = bucket_for(size + (0 if past is None else past.length), self._extents)
        mel = self._replayed(_filled_up(point, size), first, past, extent, valid)[:, :, :valid].clone()
        added = _wide(self._shelf(extent))[..., extent - size :, :].clone().view(self._rows.dtype)
        return mel, Trail(self._new_tails.clone(), (*(past.rows if past else ()), added))

    def _replayed(
        self, point: FlowPoint, first: int, past: Trail | None, extent: int, valid: int | None = None
    ) -> Tensor:
        size = point.mel.shape[2]
        self._lay_out(past, extent, size)
        numbers = (first, 0 if past is None else past.length, size if valid is None else valid)
        where = torch.tensor(numbers, device=self._rows.device)
        work = partial(self._work, extent=extent)
        return self._replay(("flow", size, extent), work, (where, point.mel, point.mu, point.speaker, point.condition))

    def _work(
        self, where: Tensor, mel: Tensor, mu: Tensor, speaker: Tensor, condition: Tensor, *, extent: int
    ) -> Tensor:
        """What is recorded: it reads its arguments and the buffers, and leaves in the buffers what is to be kept."""
        size = mel.shape[2]
        memory = _FixedMemory(self._shelf(extent), self._tails, self._new_tails, size)
        sight = FixedSight(where, size, extent, self._block, mu.dtype)
        return self._flow.integrated(FlowPoint(mel, mu, speaker, condition), memory, sight)

    def _shelf(self, extent: int) -> Tensor:
        """The place of all histories, [histories, batch, heads, extent, width]."""
        count, batch, heads, _, width = self._shape
        shape = (count, batch, heads, extent, width)
        return self._rows[: math.prod(shape)].view(shape)

    def _lay_out(self, past: Trail | None, extent: int, size: int) -> None:
        """Fill the buffers but for what the call itself writes before it reads it."""
        shelf = _wide(self._shelf(extent))
        place = extent - size - (0 if past is None else past.length)
        # What a mask hides still meets a weight of zero, and zero times garbage may not be zero.
        shelf[..., :place, :].zero_()
        for rows in () if past is None else past.rows:
            shelf[..., place : place + rows.shape[-2], :].copy_(_wide(rows))
            place += rows.shape[-2]
        if past is None:
            self._tails.zero_()
        else:
            self._tails.copy_(past.tails)


def _wide(rows: Tensor) -> Tensor:
    """The same bits in the widest pieces, of which a GPU copies as many in a second as of narrow ones."""
    return rows.view(torch.float64)


def _cut(point: FlowPoint, begin: int, end: int) -> FlowPoint:
    return FlowPoint(
        point.mel[:, :, begin:end], point.mu[:, :, begin:end], point.speaker, point.condition[:, :, begin:end]
    )


def _filled_up(point: FlowPoint, size: int) -> FlowPoint:
    missing = size - point.mel.shape[2]
    if missing == 0:
        return point
    mel, mu, condition = (functional.pad(each, (0, missing)) for each in (point.mel, point.mu, point.condition))
    return FlowPoint(mel, mu, point.speaker, condition)


class _FixedMemory(Memory):
    """Reads what the layers kept where it lies, and writes what they keep now beside it. `size` frames are new."""

    def __init__(self, shelf: Tensor, tails: Tensor, new_tails: Tensor, size: int) -> None:
        super().__init__(remember=False)
        self._histories = iter(shelf)
        self._tails, self._new_tails = tails, new_tails
        self._cursor = 0
        self._size = size

    def tail(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        shape = (*new.shape[:-1], length)
        start, self._cursor = self._cursor, self._cursor + math.prod(shape)
        joined = torch.cat((self._tails[start : self._cursor].view(shape), new), dim=-1)
        self._new_tails[start : self._cursor].view(shape).copy_(joined[..., joined.shape[-1] - length :])
        return joined

    def history(self, new: Tensor) -> Tensor:
        history: Tensor = next(self._histories)
        history[..., history.shape[-2] - self._size :, :] = new
        return history


class FixedSight(Sight):
    """The last `size` of `extent` positions see; `where` holds the first of them, how many before it were kept, and
    how many of them there are indeed. The mask is of truth values, or holds what is to be added to scores.
    """

    def __init__(self, where: Tensor, size: int, extent: int, block: int, dtype: torch.dtype) -> None:
        self._given = where, size, extent, block, dtype
        first, kept, valid = where.unbind()
        self._positions = first + torch.arange(size - extent, size, device=where.device)
        blocks = self._positions // block
        seen = (self._positions >= first - kept) & (self._positions < first + valid)
        self._mask: Tensor = seen & (blocks <= blocks[extent - size :, None])
        if dtype != torch.bool:
            nothing = torch.zeros(size, extent, dtype=dtype, device=where.device)
            self._mask = nothing.masked_fill(~self._mask, float("-inf"))

    def scaled(self, rate: int) -> "FixedSight":
        where, size, extent, block, dtype = self._given
        return FixedSight(rate * where, rate * size, rate * extent, rate * block, dtype)

    def positions(self, count: int, device: torch.device) -> Tensor:
        last: Tensor = self._positions[len(self._positions) - count :]
        return last

    def mask(self, query: Tensor, key: Tensor) -> Tensor:
        assert (query.shape[-2], key.shape[-2]) == self._mask.shape
        return self._mask
