"""The layer at the head of CosyVoice's flows that lets each token see the few tokens after it."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.convolution import CausalConv
from polyvox.models.memory import Memory


class Lookahead(nn.Module):
    """One convolution over a token and the tokens after it, one over the results before it, and the token itself."""

    def __init__(self, width: int, inner: int, ahead: int) -> None:
        super().__init__()
        self.ahead = ahead
        self.conv1 = nn.Conv1d(width, inner, ahead + 1)
        self.conv2 = CausalConv(inner, width, 3)

    def forward(self, rows: Tensor, context: Tensor, memory: Memory) -> Tensor:
        """`rows` [batch, time, width] with the rows after them as `context`; what that lacks, at the end, is zero."""
        seen = torch.cat((rows, context), dim=1).transpose(1, 2)
        seen = functional.pad(seen, (0, self.ahead - context.shape[1]))
        looked = functional.leaky_relu(self.conv1(seen))
        out: Tensor = rows + self.conv2(looked, memory).transpose(1, 2)
        return out
