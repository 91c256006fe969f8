"""HiFT's filter with channels last, where one kernel does all that lies between two convolutions.

The convolutions add no bias of their own: the kernel behind them does, and no pass over memory is spent on a bias, a
residual, a mean, padding or the context of a stream alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.convolution import CausalConv, CausalUpsample, CenteredConv, TransposedUpsample

if TYPE_CHECKING:
    from polyvox.models.cache import LayerCache
    from polyvox.models.hift.filter import HiftFilter, ResBlock

LEAK, LAST_LEAK = 0.1, 0.01
SNAKE_EPS = 1e-9

Activation = Tensor | float
"""A snake with a frequency for each channel, or a leaky ReLU of this slope."""

_Conv = CausalConv | CenteredConv | CausalUpsample | TransposedUpsample


class Sum(NamedTuple):
    """`rows` [batch, time, channels] plus the sum of `added` and a bias; None is zero."""

    rows: Tensor
    added: Tensor | None = None
    bias: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Edges:
    """The surroundings of new samples in a convolution's input, and what else is made of them on the way."""

    before: int = 0
    """Samples of context before them: the `past` [batch, channels, before], or zeros."""
    after: int = 0
    """Zeros behind them."""
    past: Tensor | None = None
    padding: tuple[Tensor, int] | None = None
    """Last frames of each row that are padding, [batch], and the samples of a frame."""
    masks: bool = False
    """True if padding becomes zeros."""
    keeps: bool = False
    """True if the last samples before the padding are needed as the next call's past."""
    upsampling: int = 1
    """Times that each sample is repeated."""
    stores: bool = False
    """True if the sum is needed, too."""
    eps: float = SNAKE_EPS


class Joined(NamedTuple):
    """The sum, the convolution's input [batch, before + time + after, channels], and the next call's past."""

    total: Tensor
    rows: Tensor
    following: Tensor | None


class JoinKernel(Protocol):
    """A kernel for all between two convolutions, as in `filter_kernels`."""

    def __call__(self, given: tuple[Sum, ...], divisor: int, activation: Activation, edges: Edges) -> Joined:
        """Divide the sum of up to three sums, activate it, and put it between its edges.

        Only the first of several may leave something out.
        """


def filtered(
    network: HiftFilter, kernel: JoinKernel, mel: Tensor, source: Tensor, cache: LayerCache, *, first: bool
) -> Tensor:
    """The last convolution's output [batch, fft + 2, n]; arguments as those of `HiftFilter.forward`."""
    run = _Pass(kernel, cache)
    given: tuple[Sum, ...] = (Sum(_rows(network.conv_pre(mel, cache))),)
    divisor, kinds = 1, len(network.config.kernels)
    for stage, up in enumerate(network.ups):
        frames = run.convolved(cast(_Conv, up), given, divisor, LEAK)
        if first and stage == len(network.ups) - 1:
            frames = torch.cat((frames[:, 1:2], frames), dim=1)
        source_frames = _rows(network.source_downs[stage](source, cache))
        _, added = run.block(network.source_resblocks[stage], (Sum(source_frames),))
        blocks = network.resblocks[stage * kinds : (stage + 1) * kinds]
        total, begun = run.block(blocks[0], (Sum(frames), added))
        given, divisor = (begun, *(run.block(block, (Sum(total),))[1] for block in blocks[1:])), kinds
    return run.convolved(cast(_Conv, network.conv_post), given, divisor, LAST_LEAK).transpose(1, 2)


def with_channels_last(network: HiftFilter) -> None:
    """Lay out the weights as convolutions over channels last take them, in their place."""
    for module in network.modules():
        if isinstance(module, _Conv):
            module.weight.data = module.weight.data.transpose(1, 2).contiguous().transpose(1, 2)


class _Pass:
    """One call of the filter."""

    def __init__(self, kernel: JoinKernel, cache: LayerCache) -> None:
        self._kernel, self._cache = kernel, cache

    def block(self, block: nn.Module, given: tuple[Sum, ...]) -> tuple[Tensor, Sum]:
        """The sum that a residual block begins with, and the one that it ends with."""
        layers = cast("ResBlock", block)
        begin: Tensor | None = None
        for first, second, before, between in zip(
            layers.convs1, layers.convs2, layers.activations1, layers.activations2, strict=True
        ):
            rows, joined = self._joined(cast(_Conv, first), given, 1, cast(Tensor, before.alpha), stores=True)
            begin = rows if begin is None else begin
            inner = Sum(_convolved(first, joined, None), None, cast(Tensor, first.bias))
            _, joined = self._joined(cast(_Conv, second), (inner,), 1, cast(Tensor, between.alpha))
            given = (Sum(rows, _convolved(second, joined, None), cast(Tensor, second.bias)),)
        assert begin is not None
        return begin, given[0]

    def convolved(self, conv: _Conv, given: tuple[Sum, ...], divisor: int, activation: Activation) -> Tensor:
        """A convolution of such a sum, with its bias."""
        _, joined = self._joined(conv, given, divisor, activation)
        return _convolved(conv, joined, conv.bias)

    def _joined(
        self, conv: _Conv, given: tuple[Sum, ...], divisor: int, activation: Activation, *, stores: bool = False
    ) -> tuple[Tensor, Tensor]:
        """The sum, and a convolution's input."""
        upsampling = conv.rate if isinstance(conv, CausalUpsample) else 1
        padding = self._cache.padding_of(given[0].rows.shape[1] * upsampling)
        if isinstance(conv, CausalConv | CausalUpsample):
            keeps = self._cache.updates
            past = self._cache.past_context()
            edges = Edges(conv.context, 0, past, padding, keeps=keeps, upsampling=upsampling, stores=stores)
        else:
            beside = conv.context // 2 if isinstance(conv, CenteredConv) else 0
            edges = Edges(beside, beside, padding=padding, masks=True, stores=stores)
        total, joined, following = self._kernel(given, divisor, activation, edges)
        if following is not None:
            self._cache.keep((following,))
        return total, joined


def _rows(samples: Tensor) -> Tensor:
    return samples.transpose(1, 2)


def _convolved(conv: nn.Module, rows: Tensor, bias: Tensor | None) -> Tensor:
    """A convolution over rows as one over images of one line, the form in which channels may come last."""
    image = rows.transpose(1, 2)[:, :, None]
    weight = cast(Tensor, conv.weight)[:, :, None]
    if isinstance(conv, TransposedUpsample):
        out = functional.conv_transpose2d(image, weight, bias, (1, conv.rate), (0, conv.cut))
    else:
        out = functional.conv2d(image, weight, bias, dilation=(1, cast(int, conv.dilation)))
    return out[:, :, 0].transpose(1, 2)
