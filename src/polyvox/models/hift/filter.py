"""HiFT's neural filter: mel frames and the spectra of the source in, the spectra of speech out."""

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.convolution import (
    CausalConv,
    CausalDownsample,
    CausalUpsample,
    CenteredConv,
    CenteredDownsample,
    LookaheadConv,
    TransposedUpsample,
)
from polyvox.models.hift.fused_filter import LAST_LEAK, LEAK, SNAKE_EPS, JoinKernel, filtered, with_channels_last

RENAMED = (
    (r"^f0_predictor\.condnet\.0\.", "pitch.convs.0."),
    (r"^f0_predictor\.condnet\.2\.", "pitch.convs.1."),
    (r"^f0_predictor\.condnet\.4\.", "pitch.convs.2."),
    (r"^f0_predictor\.condnet\.6\.", "pitch.convs.3."),
    (r"^f0_predictor\.condnet\.8\.", "pitch.convs.4."),
    (r"^f0_predictor\.classifier\.", "pitch.classifier."),
    (r"^m_source\.l_linear\.", "source.mix."),
    (r"^((conv_|ups|source_|resblocks).*)$", r"filter.\1"),
)
"""Parameter names: published and ours."""


@dataclass(frozen=True, slots=True)
class FilterConfig:
    """Sizes of the filter; the defaults are those of the released models."""

    bins: int = 80
    channels: int = 512
    rates: tuple[int, ...] = (8, 5, 3)
    up_kernels: tuple[int, ...] = (16, 11, 7)
    kernels: tuple[int, ...] = (3, 7, 11)
    source_kernels: tuple[int, ...] = (7, 7, 11)
    dilations: tuple[int, ...] = (1, 3, 5)
    fft: int = 16
    hop: int = 4
    ahead: int = 4
    """Lookahead of the causal filter in mel frames."""

    @property
    def spectra_per_frame(self) -> int:
        """Spectra per mel frame."""
        return math.prod(self.rates)


class HiftFilter(nn.Module):
    """Upsamples mel frames to the rate of the spectra in stages, and adds the source's spectra at each."""

    join: JoinKernel | None = None

    def __init__(self, config: FilterConfig, *, causal: bool) -> None:
        super().__init__()
        self.config = config
        conv, up = (CausalConv, CausalUpsample) if causal else (CenteredConv, TransposedUpsample)
        widths = [config.channels >> stage for stage in range(len(config.rates) + 1)]
        spectrum = config.fft + 2
        self.conv_pre = (
            LookaheadConv(config.bins, widths[0], config.ahead + 1)
            if causal
            else CenteredConv(config.bins, widths[0], 7)
        )
        self.ups = nn.ModuleList(
            up(*sizes) for sizes in zip(widths, widths[1:], config.up_kernels, config.rates, strict=False)
        )
        strides = [*accumulate(config.rates[:0:-1], initial=1, func=lambda total, rate: total * rate)][::-1]
        self.source_downs = nn.ModuleList(
            _down(spectrum, width, stride, causal=causal) for width, stride in zip(widths[1:], strides, strict=True)
        )
        self.source_resblocks = nn.ModuleList(
            ResBlock(width, kernel, config.dilations, conv)
            for width, kernel in zip(widths[1:], config.source_kernels, strict=True)
        )
        self.resblocks = nn.ModuleList(
            ResBlock(width, kernel, config.dilations, conv) for width in widths[1:] for kernel in config.kernels
        )
        self.conv_post = conv(widths[-1], spectrum, 7)

    def use_kernel(self, kernel: "SnakeKernel | None") -> None:
        """Let all activations use a kernel, or PyTorch's operations."""
        for module in self.modules():
            if isinstance(module, _Snake):
                module.kernel = kernel

    def use_join(self, kernel: JoinKernel | None) -> None:
        """Let one kernel do all between two convolutions, or PyTorch's operations."""
        if kernel is not None and self.conv_post.weight.is_cuda:
            with_channels_last(self)
        self.join = kernel

    def forward(self, mel: Tensor, source: Tensor, cache: LayerCache, *, first: bool) -> tuple[Tensor, Tensor]:
        """Magnitudes and phases [batch, fft / 2 + 1, n] from spectra of the `source` [batch, fft + 2, n].

        The `first` call of a stream has one spectrum more than its mel frames account for, at its start.
        """
        dtype = self.conv_post.weight.dtype
        mel, source = mel.to(dtype), source.to(dtype)
        if self.join is None:
            filtered_frames = self._filtered(mel, source, cache, first=first)
        else:
            filtered_frames = filtered(self, self.join, mel, source, cache, first=first)
        spectra = filtered_frames.to(torch.promote_types(dtype, torch.float32))
        cut = self.config.fft // 2 + 1
        return spectra[:, :cut].exp().clamp(max=1e2), spectra[:, cut:].sin()

    def _filtered(self, mel: Tensor, source: Tensor, cache: LayerCache, *, first: bool) -> Tensor:
        """The last convolution's output, [batch, fft + 2, n]."""
        frames = self.conv_pre(mel, cache)
        for stage, up in enumerate(self.ups):
            frames = up(functional.leaky_relu(frames, LEAK), cache)
            if first and stage == len(self.ups) - 1:
                frames = torch.cat((frames[:, :, 1:2], frames), dim=2)
            source_frames = self.source_resblocks[stage](self.source_downs[stage](source, cache), cache)
            frames = frames + source_frames
            kinds = len(self.config.kernels)
            blocks = self.resblocks[stage * kinds : (stage + 1) * kinds]
            frames = sum(block(frames, cache) for block in blocks) / kinds
        out: Tensor = self.conv_post(functional.leaky_relu(frames, LAST_LEAK), cache)
        return out


def _down(spectrum: int, width: int, stride: int, *, causal: bool) -> nn.Module:
    if stride == 1:
        return CausalConv(spectrum, width, 1)
    return (CausalDownsample if causal else CenteredDownsample)(spectrum, width, stride)


class ResBlock(nn.Module):
    """Three pairs of convolutions, each with a shortcut."""

    def __init__(
        self, width: int, kernel: int, dilations: tuple[int, ...], conv: type[CausalConv] | type[CenteredConv]
    ) -> None:
        super().__init__()
        self.convs1 = nn.ModuleList(conv(width, width, kernel, dilation=dilation) for dilation in dilations)
        self.convs2 = nn.ModuleList(conv(width, width, kernel) for _ in dilations)
        self.activations1 = nn.ModuleList(_Snake(width) for _ in dilations)
        self.activations2 = nn.ModuleList(_Snake(width) for _ in dilations)

    def forward(self, samples: Tensor, cache: LayerCache) -> Tensor:
        for first, second, before, between in zip(
            self.convs1, self.convs2, self.activations1, self.activations2, strict=True
        ):
            samples = samples + second(between(first(before(samples), cache)), cache)
        return samples


class SnakeKernel(Protocol):
    """A kernel for the snake activation, as in `snake_kernels`."""

    def __call__(self, samples: Tensor, alpha: Tensor, eps: float) -> Tensor: ...


class _Snake(nn.Module):
    """Snake activation with a learned frequency per channel."""

    kernel: SnakeKernel | None = None

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.empty(channels))

    def forward(self, samples: Tensor) -> Tensor:
        if self.kernel is not None:
            return self.kernel(samples, self.alpha, SNAKE_EPS)
        rate = self.alpha[:, None]
        return samples + (samples * rate).sin().square() / (rate + SNAKE_EPS)
