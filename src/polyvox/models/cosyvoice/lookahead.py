"""CosyVoice's pre-lookahead layer."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.convolution import CausalConv


class Lookahead(nn.Module):
    """A convolution over a token and those after it, a causal convolution, and a residual connection."""

    def __init__(self, width: int, inner: int, ahead: int) -> None:
        super().__init__()
        self.ahead = ahead
        self.conv1 = nn.Conv1d(width, inner, ahead + 1)
        self.conv2 = CausalConv(inner, width, 3)

    def forward(self, rows: Tensor, context: Tensor, cache: LayerCache) -> Tensor:
        """`rows` [batch, time, width], with those after them as `context`, zero-padded at the end of a stream."""
        inputs = cache.mask_padding(torch.cat((rows, context), dim=1).transpose(1, 2))
        inputs = functional.pad(inputs, (0, self.ahead - context.shape[1]))
        inner = functional.leaky_relu(self.conv1(inputs))
        out: Tensor = rows + self.conv2(inner, cache).transpose(1, 2)
        return out
