"""Bidirectional LSTMs over batches of rows of different lengths."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from polyvox.models.kokoro.ragged import Ragged, StaticRagged, gather_rows

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
