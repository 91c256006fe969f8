"""Convolutions over [batch, channels, time]; those that see the past keep it in the caller's memory."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.memory import Memory


class _Conv(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, *, dilation: int = 1, groups: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs // groups, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.dilation, self.groups = dilation, groups
        self.reach = (kernel - 1) * dilation

    def convolved(self, samples: Tensor, stride: int = 1) -> Tensor:
        return functional.conv1d(samples, self.weight, self.bias, stride, 0, self.dilation, self.groups)


class CausalConv(_Conv):
    """Sees only the past: pads on the left, with zeros or with what came before."""

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """As many samples as came in."""
        return self.convolved(memory.tail(samples, self.reach) if self.reach else samples)


class RightConv(_Conv):
    """Sees only the future, which the caller gives it: `reach` samples fewer come out than go in."""

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """Needs no memory, and takes one like the others."""
        return self.convolved(samples)


class CenteredConv(_Conv):
    """Sees as much of the past as of the future, zeros beyond the ends; it cannot stream."""

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """As many samples as came in."""
        return self.convolved(functional.pad(memory.within(samples), (self.reach // 2, self.reach // 2)))


class CausalDown(_Conv):
    """One sample for each `stride`, seen with the `stride` before it and the `stride` after."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__(inputs, outputs, 2 * stride)
        self.stride = stride

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """Of `stride * n + 1` samples at the start, of `stride * n` later, n."""
        return self.convolved(memory.tail(samples, self.stride, first=self.stride - 1), self.stride)


class CenteredDown(CausalDown):
    """As `CausalDown`, about the middle; it cannot stream."""

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """Of `stride * n + 1` samples, n."""
        return self.convolved(functional.pad(memory.within(samples), (self.stride // 2, self.stride // 2)), self.stride)


class CausalUp(_Conv):
    """Each sample `rate` times, then a convolution that sees only the past."""

    def __init__(self, inputs: int, outputs: int, kernel: int, rate: int) -> None:
        super().__init__(inputs, outputs, kernel)
        self.rate = rate

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """`rate` times as many samples."""
        return self.convolved(memory.tail(samples.repeat_interleave(self.rate, dim=2), self.reach))


class TransposedUp(nn.Module):
    """Each sample spread over its neighbourhood at `rate` times the rate; it cannot stream."""

    def __init__(self, inputs: int, outputs: int, kernel: int, rate: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.rate, self.cut = rate, (kernel - rate) // 2

    def forward(self, samples: Tensor, memory: Memory) -> Tensor:
        """`rate` times as many samples."""
        samples = memory.within(samples)
        return functional.conv_transpose1d(samples, self.weight, self.bias, stride=self.rate, padding=self.cut)
