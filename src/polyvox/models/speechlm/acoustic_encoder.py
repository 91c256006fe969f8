"""NeuCodec's acoustic encoder: samples at 16 kHz to 50 frames a second, by strided convolutions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

_DILATIONS = (1, 3, 9)
_KERNEL = 7
_TAPS = 12
_GROUP_VALUES = 1 << 22


@dataclass(frozen=True, slots=True)
class AcousticEncoderConfig:
    """Sizes; the width doubles with each stride. The defaults are the release's."""

    width: int = 48
    strides: tuple[int, ...] = (2, 2, 4, 4, 5)
    outputs: int = 1024

    @property
    def hop(self) -> int:
        """Samples of a frame."""
        return math.prod(self.strides)


class AcousticEncoder(nn.Module):
    """Names are those of the published weights, weight norm folded."""

    def __init__(self, config: AcousticEncoderConfig) -> None:
        super().__init__()
        self.config = config
        widths = [config.width << depth for depth in range(len(config.strides) + 1)]
        blocks = [_Block(width, stride) for width, stride in zip(widths, config.strides, strict=False)]
        self.conv_blocks = nn.Sequential(nn.Conv1d(1, config.width, _KERNEL, padding=_KERNEL // 2), *blocks)
        self.conv_final_block = nn.Sequential(
            _Activation(widths[-1]), nn.Conv1d(widths[-1], config.outputs, 3, padding=1)
        )

    def forward(self, samples: Tensor) -> Tensor:
        """Samples [batch, frames * hop] to frames [batch, outputs, frames]."""
        out: Tensor = self.conv_final_block(self.conv_blocks(samples[:, None]))
        return out


class _Block(nn.Module):
    """Three residual units, and a strided convolution to twice the width."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        down = nn.Conv1d(width, 2 * width, 2 * stride, stride, padding=stride // 2 + stride % 2)
        self.block = nn.Sequential(*(_Residual(width, dilation) for dilation in _DILATIONS), _Activation(width), down)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.block(rows)
        return out


class _Residual(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        wide = _DilatedConv(width, width, _KERNEL, dilation=dilation)
        self.block = nn.Sequential(_Activation(width), wide, _Activation(width), nn.Conv1d(width, width, 1))

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = rows + self.block(rows)
        return out


class _DilatedConv(nn.Conv1d):
    """Centred convolution, a stretch of time after the other: on some CPUs it takes seven times its input in memory."""

    def forward(self, rows: Tensor) -> Tensor:
        """Same length out as in."""
        context = (self.kernel_size[0] - 1) * self.dilation[0]
        padded = functional.pad(rows, (context // 2, context // 2))
        out = torch.empty_like(rows)
        count = max(1, _GROUP_VALUES // rows[:, :, 0].numel())
        for start in range(0, rows.shape[2], count):
            stretch = padded[:, :, start : start + count + context]
            out[:, :, start : start + count] = super().forward(stretch)
        return out


class _Activation(nn.Module):
    """SnakeBeta at twice the rate, between two low-pass filters, so that it does not alias.

    Channels do not mix, and are computed a few at a time: all at once would take gigabytes for half a minute.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.act = _SnakeBeta(width)

    def forward(self, rows: Tensor) -> Tensor:
        out = torch.empty_like(rows)
        count = max(1, _GROUP_VALUES // rows[:, 0].numel())
        for start in range(0, rows.shape[1], count):
            group = slice(start, start + count)
            out[:, group] = downsampled(self.act(upsampled(rows[:, group]), group))
        return out


class _SnakeBeta(nn.Module):
    """x + sin²(e^alpha x) / e^beta, with a rate and a gain for each channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.empty(width))
        self.beta = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor, channels: slice) -> Tensor:
        """`rows` are those of the channels."""
        rate, gain = self.alpha[channels].exp()[:, None], 1 / (self.beta[channels].exp() + 1e-9)[:, None]
        return torch.addcmul(rows, (rows * rate).sin_().square_(), gain)


def upsampled(rows: Tensor) -> Tensor:
    """[batch, channels, time] at twice the rate, its ends continued.

    A filter is a sum of shifted rows here and in `downsampled`: convolutions of one channel are far slower on a CPU.
    """
    taps = (2 * filter_taps().flip(0)).tolist()
    padded = functional.pad(rows, (3, 3), mode="replicate")
    phases = [
        _filtered([padded[..., phase + shift :] for shift in range(_TAPS // 2)], taps[phase::2], rows.shape[2])
        for phase in (0, 1)
    ]
    return torch.stack(phases, dim=-1).flatten(-2)


def downsampled(rows: Tensor) -> Tensor:
    """[batch, channels, time] at half the rate, its ends continued; `time` is even."""
    padded = functional.pad(rows, (5, 7), mode="replicate")
    phases = [padded[..., phase::2].contiguous() for phase in (0, 1)]
    shifted = [phases[tap % 2][..., tap // 2 :] for tap in range(_TAPS)]
    return _filtered(shifted, filter_taps().tolist(), rows.shape[2] // 2)


def _filtered(shifted: Sequence[Tensor], taps: Sequence[float], length: int) -> Tensor:
    """The first `length` values of a sum of rows, each times its tap."""
    total = shifted[0][..., :length] * taps[0]
    for rows, tap in zip(shifted[1:], taps[1:], strict=True):
        total.add_(rows[..., :length], alpha=tap)
    return total


def filter_taps() -> Tensor:
    """The 12 taps of the low-pass filter at a quarter of the higher rate: a sinc in a Kaiser window, of the sum 1."""
    cutoff, transition = 0.25, 0.3
    attenuation = 2.285 * (_TAPS // 2 - 1) * math.pi * 4 * transition + 7.95
    window = torch.kaiser_window(_TAPS, False, 0.1102 * (attenuation - 8.7), dtype=torch.float64)
    offsets = torch.arange(_TAPS, dtype=torch.float64) - (_TAPS - 1) / 2
    taps = window * torch.sinc(2 * cutoff * offsets)
    return (taps / taps.sum()).float()


def strides_of(kernels: Sequence[int]) -> tuple[int, ...]:
    """The strides of downsampling kernels, each twice as long."""
    return tuple(kernel // 2 for kernel in kernels)
