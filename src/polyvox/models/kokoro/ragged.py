"""Batches of rows of different lengths, [batch, channels, time]: lengths and masks."""

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor


class Ragged:
    """The length of each row of a batch."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.lengths = tuple(lengths)
        self.longest = max(lengths)
        self.device = device

    @cached_property
    def mask(self) -> Tensor | None:
        """[batch, 1, longest], 1 inside a row and 0 beyond its end; None where all rows have one length."""
        if min(self.lengths) == self.longest:
            return None
        return (torch.arange(self.longest, device=self.device) < self.ends[:, None, None]).float()

    @cached_property
    def ends(self) -> Tensor:
        """The lengths as a tensor, [batch]."""
        return torch.tensor(self.lengths, device=self.device)

    def scaled(self, rate: int, more: int = 0) -> "Ragged":
        """The lengths after upsampling by `rate`, each with `more` samples on top."""
        return Ragged([length * rate + more for length in self.lengths], self.device)

    def masked(self, rows: Tensor) -> Tensor:
        """Zeros beyond each row's end, where a convolution of the row alone would see its zero padding."""
        return rows if self.mask is None else rows * self.mask.to(rows.dtype)

    def split(self, rows: Tensor) -> list[Tensor]:
        """Each row, [..., time], cut to its own length."""
        return [row[..., :length] for row, length in zip(rows, self.lengths, strict=True)]


class StaticRagged(Ragged):
    """Rows padded to a fixed length, which alone decides the shapes; where they end is known to a tensor only.

    So the work on them can be captured as a CUDA graph and replayed for rows of other lengths.
    """

    def __init__(self, ends: Tensor, padded: int) -> None:
        self.ends = ends
        self.longest = padded
        self.device = ends.device

    @cached_property
    def mask(self) -> Tensor:
        """[batch, 1, padded length], 1 inside a row and 0 beyond its end."""
        return (torch.arange(self.longest, device=self.device) < self.ends[:, None, None]).float()

    def scaled(self, rate: int, more: int = 0) -> "StaticRagged":
        """The lengths and the padded length after upsampling by `rate`, each with `more` samples on top."""
        return StaticRagged(self.ends * rate + more, self.longest * rate + more)


class FrameSpans:
    """One span of frames in each row of a batch, from `start` [batch] to `end` [batch] among `frames`."""

    def __init__(self, start: Tensor, end: Tensor, frames: int) -> None:
        self._start, self._end = start[:, None], end[:, None]
        self._positions = torch.arange(frames, device=start.device)

    @cached_property
    def mask(self) -> Tensor:
        """[batch, frames, 1], 1 inside and 0 outside."""
        inside = (self._positions >= self._start) & (self._positions < self._end)
        return inside.float()[:, :, None]

    def samples(self, hop: int) -> Tensor:
        """The mask of samples, [batch, hop * frames]."""
        return self.mask.expand(-1, -1, hop).flatten(1)

    def extended(self, rows: Tensor) -> Tensor:
        """Rows [batch, frames, width] whose first and last one inside go on outside."""
        nearest = torch.minimum(torch.maximum(self._positions, self._start), self._end - 1).clamp(min=0)
        return gather_rows(rows, nearest)


def gather_rows(rows: Tensor, positions: Tensor) -> Tensor:
    """Rows [batch, time, width] at `positions` [batch, n]."""
    return rows.gather(1, positions[:, :, None].expand(-1, -1, rows.shape[2]))
