"""Rows of different lengths in one batch, over [batch, channels, time]."""

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Ragged:
    """How long each row of a batch is."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.lengths = tuple(lengths)
        self.longest = max(lengths)
        self.device = device

    @cached_property
    def mask(self) -> Tensor | None:
        """[batch, 1, longest], 1 inside a row and 0 beyond its end; None where all rows are as long."""
        if min(self.lengths) == self.longest:
            return None
        return (torch.arange(self.longest, device=self.device) < self.ends[:, None, None]).float()

    @cached_property
    def ends(self) -> Tensor:
        """The lengths as a tensor, [batch]."""
        return torch.tensor(self.lengths, device=self.device)

    def scaled(self, rate: int, more: int = 0) -> "Ragged":
        """The lengths at `rate` times the rate, each with `more` samples on top."""
        return Ragged([length * rate + more for length in self.lengths], self.device)

    def masked(self, rows: Tensor) -> Tensor:
        """Zeros beyond each row's end, where a convolution of the row alone would see its zero padding."""
        return rows if self.mask is None else rows * self.mask.to(rows.dtype)

    def cut(self, rows: Tensor) -> list[Tensor]:
        """Each row, [..., time], at its own length."""
        return [row[..., :length] for row, length in zip(rows, self.lengths, strict=True)]


class Boxed(Ragged):
    """Rows in a box at least as long as they are, which alone decides the shapes: where the rows end, a tensor tells.

    So the work on it can be recorded once and repeated for rows of other lengths.
    """

    def __init__(self, ends: Tensor, box: int) -> None:
        self.ends = ends
        self.longest = box
        self.device = ends.device

    @cached_property
    def mask(self) -> Tensor:
        """[batch, 1, box], 1 inside a row and 0 beyond its end."""
        return (torch.arange(self.longest, device=self.device) < self.ends[:, None, None]).float()

    def scaled(self, rate: int, more: int = 0) -> "Boxed":
        """The lengths and the box at `rate` times the rate, each with `more` samples on top."""
        return Boxed(self.ends * rate + more, self.longest * rate + more)


def through_lstm(lstm: nn.LSTM, rows: Tensor, ragged: Ragged) -> Tensor:
    """[batch, time, inputs] as [batch, time, outputs]; the way back begins at each row's own end."""
    if isinstance(ragged, Boxed):
        return _through_lstm_in_box(lstm, rows, ragged)
    if ragged.mask is None:
        even: Tensor = lstm(rows)[0]
        return even
    packed, _ = lstm(pack_padded_sequence(rows, torch.tensor(ragged.lengths), batch_first=True, enforce_sorted=False))
    uneven: Tensor = pad_packed_sequence(packed, batch_first=True)[0]
    return uneven


def _through_lstm_in_box(lstm: nn.LSTM, rows: Tensor, box: Boxed) -> Tensor:
    """The rows twice, at the beginning of the box for the way there, and at its end for the way back."""
    places = torch.arange(box.longest, device=box.device)
    free = box.longest - box.ends[:, None]
    there, _ = lstm(torch.cat((rows, picked(rows, (places - free) % box.longest))))
    ahead, back = there.chunk(2)
    forward, backward = ahead[..., : lstm.hidden_size], back[..., lstm.hidden_size :]
    return torch.cat((forward, picked(backward, (places + free) % box.longest)), dim=2)


def picked(rows: Tensor, places: Tensor) -> Tensor:
    """The rows [batch, time, width] at `places` [batch, n]."""
    return rows.gather(1, places[:, :, None].expand(-1, -1, rows.shape[2]))
