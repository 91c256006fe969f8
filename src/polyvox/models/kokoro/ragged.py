"""Batches of rows of different lengths, [batch, channels, time]: lengths, masks, and LSTMs over them."""

from collections.abc import Callable, Sequence
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


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


LstmKernel = Callable[[Tensor, Tensor], Tensor]
"""Runs an LSTM over rows [batch, time, inputs] that end at given places [batch]."""


class BidirectionalLstm(nn.LSTM):
    """One layer, both ways."""

    kernel: LstmKernel | None = None
    """In place of PyTorch's, for a `StaticRagged`."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs // 2, batch_first=True, bidirectional=True)

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device


def run_lstm(lstm: BidirectionalLstm, rows: Tensor, ragged: Ragged) -> Tensor:
    """Run over [batch, time, inputs]; the backward direction starts at each row's own end."""
    if isinstance(ragged, StaticRagged):
        return _run_lstm_static(lstm, rows, ragged)
    if ragged.mask is None:
        even: Tensor = lstm(rows)[0]
        return even
    packed, _ = lstm(pack_padded_sequence(rows, torch.tensor(ragged.lengths), batch_first=True, enforce_sorted=False))
    uneven: Tensor = pad_packed_sequence(packed, batch_first=True)[0]
    return uneven


def _run_lstm_static(lstm: BidirectionalLstm, rows: Tensor, ragged: StaticRagged) -> Tensor:
    """Run over the rows twice: padded behind for the forward direction, and in front for the backward one."""
    if lstm.kernel is not None:
        return lstm.kernel(rows, ragged.ends)
    positions = torch.arange(ragged.longest, device=ragged.device)
    padding = ragged.longest - ragged.ends[:, None]
    both, _ = lstm(torch.cat((rows, gather_rows(rows, (positions - padding) % ragged.longest))))
    padded_behind, padded_in_front = both.chunk(2)
    forward, backward = padded_behind[..., : lstm.hidden_size], padded_in_front[..., lstm.hidden_size :]
    return torch.cat((forward, gather_rows(backward, (positions + padding) % ragged.longest)), dim=2)


def gather_rows(rows: Tensor, positions: Tensor) -> Tensor:
    """Rows [batch, time, width] at `positions` [batch, n]."""
    return rows.gather(1, positions[:, :, None].expand(-1, -1, rows.shape[2]))
