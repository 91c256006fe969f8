"""Kokoro's text encoder: token ids to the decoder's text features."""

from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.lstm import BidirectionalLstm, run_lstm
from polyvox.models.kokoro.ragged import Ragged
from polyvox.models.lookup import lookup

_EPS = 1e-5
_SLOPE = 0.2
_KERNEL = 5


class TextEncoder(nn.Module):
    """Convolutions over neighbouring tokens, then a bidirectional LSTM."""

    def __init__(self, tokens: int, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = lookup(tokens, width)
        self.convs = nn.ModuleList(nn.Conv1d(width, width, _KERNEL, padding=_KERNEL // 2) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=_EPS) for _ in range(layers))
        self.lstm = BidirectionalLstm(width, width)

    def forward(self, ids: Tensor, ragged: Ragged) -> Tensor:
        """Ids [batch, time] to [batch, width, time]."""
        rows = self.embedding(ids).transpose(1, 2)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            rows = norm(conv(ragged.masked(rows)).transpose(1, 2)).transpose(1, 2)
            rows = functional.leaky_relu(rows, _SLOPE)
        return run_lstm(self.lstm, rows.transpose(1, 2), ragged).transpose(1, 2)


NAMES = (
    (r"^cnn\.(\d+)\.0\.", r"convs.\1."),
    (r"^cnn\.(\d+)\.1\.gamma$", r"norms.\1.weight"),
    (r"^cnn\.(\d+)\.1\.beta$", r"norms.\1.bias"),
)
"""Regular expressions that rename published weights to those of `TextEncoder`."""
