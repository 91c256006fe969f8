"""Convolutions over [batch, channels, time]; causal ones keep their left context in the caller's cache."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache


class _Conv(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, *, dilation: int = 1, groups: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs // groups, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.dilation, self.groups = dilation, groups
        self.context = (kernel - 1) * dilation

    def convolve(self, samples: Tensor, stride: int = 1) -> Tensor:
        if samples.is_cuda and samples.dtype == torch.float64 and (stride, self.dilation, self.groups) == (1, 1, 1):
            return as_product(self.weight, samples) + self.bias[:, None]
        return functional.conv1d(samples, self.weight, self.bias, stride, 0, self.dilation, self.groups)


def as_product(weight: Tensor, samples: Tensor) -> Tensor:
    """A convolution without padding or bias as one matrix product: in double precision cuDNN uses no tensor cores."""
    length = samples.shape[2] - weight.shape[2] + 1
    return weight.flatten(1) @ samples.unfold(2, length, 1).flatten(1, 2)


class CausalConv(_Conv):
    """Causal convolution, padded on the left with the cached context or, at the start, with zeros."""

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        """Same length out as in."""
        return self.convolve(cache.left_context(samples, self.context) if self.context else samples)


class LookaheadConv(_Conv):
    """Convolution over a sample and those after it, without padding: `context` samples fewer come out than go in."""

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        """`cache` is unused; all convolutions have one signature."""
        return self.convolve(samples)


class CenteredConv(_Conv):
    """Centered convolution with zero padding; it cannot stream."""

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        """Same length out as in."""
        return self.convolve(functional.pad(cache.mask_padding(samples), (self.context // 2, self.context // 2)))


class CausalDownsample(_Conv):
    """Causal strided convolution with a kernel of `2 * stride`."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__(inputs, outputs, 2 * stride)
        self.stride = stride

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        """`n` samples out of `stride * n + 1` at the start and of `stride * n` later."""
        return self.convolve(cache.left_context(samples, self.stride, first=self.stride - 1), self.stride)


class CenteredDownsample(CausalDownsample):
    """`CausalDownsample` with centered padding; it cannot stream."""

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        """`n` samples out of `stride * n + 1`."""
        return self.convolve(
            functional.pad(cache.mask_padding(samples), (self.stride // 2, self.stride // 2)), self.stride
        )


class CausalUpsample(_Conv):
    """Nearest-neighbour upsampling followed by a causal convolution."""

    def __init__(self, inputs: int, outputs: int, kernel: int, rate: int) -> None:
        super().__init__(inputs, outputs, kernel)
        self.rate = rate

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        """`rate` times as many samples."""
        return self.convolve(cache.left_context(samples.repeat_interleave(self.rate, dim=2), self.context))


class TransposedUpsample(nn.Module):
    """Transposed convolution; it cannot stream."""

    def __init__(self, inputs: int, outputs: int, kernel: int, rate: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.rate, self.cut = rate, (kernel - rate) // 2

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        """`rate` times as many samples."""
        samples = cache.mask_padding(samples)
        return functional.conv_transpose1d(samples, self.weight, self.bias, stride=self.rate, padding=self.cut)
