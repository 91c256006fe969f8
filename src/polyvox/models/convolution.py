"""Convolutions that see only the past, with the samples before them kept by the caller."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.memory import Memory


class CausalConv(nn.Module):
    """A convolution over [batch, channels, time] that pads on the left, with zeros or with what came before."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, dilation: int = 1, groups: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs // groups, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.dilation, self.groups = dilation, groups
        self.reach = (kernel - 1) * dilation

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """As many samples as came in."""
        seen = memory.tail(samples, self.reach) if self.reach else samples
        return functional.conv1d(seen, self.weight, self.bias, dilation=self.dilation, groups=self.groups)
