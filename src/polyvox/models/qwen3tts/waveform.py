"""The last part of the tokenizer's decoder, latent to samples, over [batch, time, channels].

With the channels last a GPU's convolutions need no copies in another order, and a transposed convolution's columns lie
where its samples belong. Sums and biases are left to the activation behind them: one pass over memory does both.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.qwen3tts.codec_config import DecoderConfig

_DILATIONS = (1, 3, 9)


@dataclass(frozen=True, slots=True)
class Sum:
    """Rows [batch, time, channels] with what is still to be added to them."""

    rows: Tensor
    added: Tensor | None = None
    bias: Tensor | None = None


Activation = Callable[[Sum, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""`activated`, or its kernel; both may overwrite the rows of the sum."""


def activated(given: Sum, alpha: Tensor, beta: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
    """The sum itself, and x + sin²(alpha · x) · beta of it behind `before` [batch, context, channels]."""
    rows = given.rows
    for each in (given.added, given.bias):
        rows = rows if each is None else rows + each
    active = rows + beta * (alpha * rows).sin().square()
    return rows, active if before is None else torch.cat((before, active), dim=1)


class SnakeBeta(nn.Module):
    """The activation, with a frequency and a magnitude for each channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.kernel: Activation = activated
        self.alpha = nn.Parameter(torch.empty(width))
        self.beta = nn.Parameter(torch.empty(width))

    def forward(self, given: Sum, before: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return self.kernel(given, self.alpha, self.beta, before)


class TimeConv(nn.Module):
    """A convolution over time without padding or bias: its input has `context` rows more than its output."""

    def __init__(self, inputs: int, outputs: int, taps: int, *, dilation: int = 1, groups: int = 1) -> None:
        super().__init__()
        shape = outputs, inputs // groups, 1, taps
        self.weight = nn.Parameter(torch.empty(shape, memory_format=torch.channels_last))
        self.inputs, self.dilation, self.groups = inputs, dilation, groups
        self.context = (taps - 1) * dilation

    @property
    def state_shape(self) -> tuple[int, int]:
        """A stream's last inputs."""
        return self.context, self.inputs

    def forward(self, rows: Tensor) -> Tensor:
        image = rows.transpose(1, 2).unsqueeze(2)
        out = functional.conv2d(image, self.weight, None, 1, 0, (1, self.dilation), self.groups)
        return out.squeeze(2).transpose(1, 2)


class BiasedConv(TimeConv):
    """A causal convolution with a bias."""

    def __init__(self, inputs: int, outputs: int, taps: int, *, groups: int = 1) -> None:
        super().__init__(inputs, outputs, taps, groups=groups)
        self.bias = nn.Parameter(torch.empty(outputs))

    def behind(self, rows: Tensor, cache: LayerCache) -> Tensor:
        """Same length out as in."""
        joined = torch.cat((cache.rows_before(rows, self.context), rows), dim=1)
        cache.keep_rows(joined, self.context)
        out: Tensor = self(joined)
        return out + self.bias


class Expand(nn.Module):
    """A transposed convolution, `rate` columns for each, as an ordinary one over `taps` columns.

    Published are weights [inputs, outputs, taps * rate]. With `rate` times as many outputs it runs on the fast kernels,
    and a stream needs no sums of its own. Its bias, the same for all `rate` columns, is for the caller to add.
    """

    def __init__(self, inputs: int, outputs: int, rate: int, taps: int) -> None:
        super().__init__()
        self.conv = TimeConv(inputs, rate * outputs, taps)
        self.bias = nn.Parameter(torch.empty(outputs))
        self.rate = rate

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.conv(rows)
        return out.reshape(len(out), -1, len(self.bias))


class Waveform(nn.Module):
    """Upsampling blocks of falling width, from the latent to samples."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.enter = BiasedConv(config.latent, config.channels, 7)
        widths = [config.channels >> index for index in range(len(config.rates) + 1)]
        self.blocks = nn.ModuleList(
            _WaveformBlock(inputs, outputs, rate)
            for inputs, outputs, rate in zip(widths, widths[1:], config.rates, strict=False)
        )
        self.act = SnakeBeta(widths[-1])
        self.leave = BiasedConv(widths[-1], 1, 7)

    def state_shapes(self) -> list[tuple[int, ...]]:
        shapes: list[tuple[int, ...]] = [self.enter.state_shape]
        for block in self.blocks:
            assert isinstance(block, _WaveformBlock)
            shapes += block.state_shapes()
        return [*shapes, self.leave.state_shape]

    def forward(self, rows: Tensor, cache: LayerCache) -> Tensor:
        """Samples [batch, n] of the latent [batch, time, channels]."""
        given = Sum(self.enter.behind(rows, cache))
        for block in self.blocks:
            given = block(given, cache)
        _, joined = _joined(self.act, given, self.leave, cache)
        samples: Tensor = self.leave(joined) + self.leave.bias
        return samples[:, :, 0]


class _WaveformBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, rate: int) -> None:
        super().__init__()
        self.act = SnakeBeta(inputs)
        self.expand = Expand(inputs, outputs, rate, 2)
        self.units = nn.ModuleList(_ResidualUnit(outputs, dilation) for dilation in _DILATIONS)

    def state_shapes(self) -> list[tuple[int, ...]]:
        convolutions = [self.expand.conv, *(unit.get_submodule("conv1") for unit in self.units)]
        return [each.state_shape for each in convolutions if isinstance(each, TimeConv)]

    def forward(self, given: Sum, cache: LayerCache) -> Sum:
        _, joined = _joined(self.act, given, self.expand.conv, cache)
        given = Sum(self.expand(joined), bias=self.expand.bias)
        for unit in self.units:
            given = unit(given, cache)
        return given


class _ResidualUnit(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.act1, self.act2 = SnakeBeta(width), SnakeBeta(width)
        self.conv1 = TimeConv(width, width, 7, dilation=dilation)
        self.conv2 = TimeConv(width, width, 1)
        self.bias1, self.bias2 = nn.Parameter(torch.empty(width)), nn.Parameter(torch.empty(width))

    def forward(self, given: Sum, cache: LayerCache) -> Sum:
        rows, joined = _joined(self.act1, given, self.conv1, cache)
        _, inner = self.act2(Sum(self.conv1(joined), bias=self.bias1))
        return Sum(rows, self.conv2(inner), self.bias2)


def _joined(act: SnakeBeta, given: Sum, conv: TimeConv, cache: LayerCache) -> tuple[Tensor, Tensor]:
    """The sum, and its activation behind the last inputs of the convolution that follows."""
    rows, joined = act(given, cache.rows_before(given.rows, conv.context))
    cache.keep_rows(joined, conv.context)
    return rows, joined
