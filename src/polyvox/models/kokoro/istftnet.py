"""ISTFTNet: style-conditioned vocoder from features and a harmonic source to samples, by an inverse STFT."""

import math
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.hift.source import HarmonicSource, SourceConfig
from polyvox.models.kokoro.adain import AdaIN, without_bias
from polyvox.models.kokoro.ragged import Ragged
from polyvox.models.spectrum import istft_frames, overlap_add, squared_window, stft

_SLOPE = 0.1
_FLOOR = 1e-11
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class IstftNetConfig:
    """The sizes of the generator; the defaults are those of Kokoro's release."""

    channels: int = 512
    rates: tuple[int, ...] = (10, 6)
    up_kernels: tuple[int, ...] = (20, 12)
    kernels: tuple[int, ...] = (3, 7, 11)
    source_kernels: tuple[int, ...] = (7, 11)
    dilations: tuple[int, ...] = (1, 3, 5)
    fft: int = 20
    hop: int = 5

    @property
    def frame(self) -> int:
        """Samples per feature."""
        return math.prod(self.rates) * self.hop


class IstftNet(nn.Module):
    """Features at 80 Hz to samples; the source's spectra are added after each upsampling."""

    def __init__(self, config: IstftNetConfig, style: int) -> None:
        super().__init__()
        self.config = config
        widths = [config.channels >> stage for stage in range(len(config.rates) + 1)]
        self.source = HarmonicSource(SourceConfig(samples_per_frame=config.frame), interpolate=True)
        self.ups = nn.ModuleList(
            nn.ConvTranspose1d(wide, narrow, kernel, stride=rate, padding=(kernel - rate) // 2)
            for wide, narrow, kernel, rate in zip(widths[:-1], widths[1:], config.up_kernels, config.rates, strict=True)
        )
        strides = [*accumulate(config.rates[:0:-1], mul, initial=1)][::-1]
        self.noise_convs = nn.ModuleList(
            _down(config.fft + 2, width, stride) for width, stride in zip(widths[1:], strides, strict=True)
        )
        self.noise_res = nn.ModuleList(
            _ResBlock(width, kernel, config.dilations, style)
            for width, kernel in zip(widths[1:], config.source_kernels, strict=True)
        )
        self.resblocks = nn.ModuleList(
            _ResBlock(width, kernel, config.dilations, style) for width in widths[1:] for kernel in config.kernels
        )
        self.conv_post = nn.Conv1d(widths[-1], config.fft + 2, 7, padding=3)

    def forward(self, rows: Tensor, style: Tensor, pitch: Tensor, noise: Tensor, ragged: Ragged) -> Tensor:
        """Features [batch, channels, time] and pitch [batch, time] to samples [batch, time * frame].

        `noise` [batch, time * frame, harmonics] is standard normal. Beyond a row's end the result is undefined.
        """
        spectra = self.excitation(pitch, noise, ragged)
        return self.istft(self.output_spectra(rows, spectra.to(rows.dtype), style, ragged), ragged)

    @torch.no_grad()
    def excitation(self, pitch: Tensor, noise: Tensor, ragged: Ragged) -> Tensor:
        """Spectra of the source, magnitudes over phases, [batch, fft + 2, time * frame / hop + 1], in full precision.

        Pitch is zero beyond a row's end, so the phases stand still there, as behind a row that is alone. Values at the
        level of rounding are set to zero: the spectra of reflected ends, for one, are real, and the sign of the rest of
        their imaginary parts would decide between phases of pi and -pi. As in the original, no gradient passes through
        phases.
        """
        config = self.config
        pitch = pitch if ragged.mask is None else pitch * ragged.mask[:, 0]
        source = self.source(pitch, self.source.cycles(pitch), noise.to(self.source.mix.weight.dtype))
        padded = _reflect_padded(source, config.fft // 2, ragged.scaled(config.frame))
        spectra = stft(padded, config.fft, config.hop)
        audible = spectra.abs() > _ROUNDING * spectra.abs().amax(dim=1, keepdim=True)
        real, imaginary = spectra.where(audible, 0.0).chunk(2, dim=1)
        return torch.cat((torch.hypot(real, imaginary), torch.atan2(imaginary, real)), dim=1)

    def output_spectra(self, rows: Tensor, spectra: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        """Log magnitudes over angles, [batch, fft + 2, n], for the source's `spectra` of the same length."""
        config = self.config
        spectra = ragged.scaled(config.frame // config.hop, 1).masked(spectra)
        for stage, up in enumerate(self.ups):
            last = stage == len(self.ups) - 1
            rows = up(functional.leaky_relu(ragged.masked(rows), _SLOPE))
            ragged = ragged.scaled(config.rates[stage], int(last))
            if last:
                rows = torch.cat((rows[:, :, 1:2], rows), dim=2)
            rows = rows + self.noise_res[stage](self.noise_convs[stage](spectra), style, ragged)
            kinds = len(config.kernels)
            blocks = self.resblocks[stage * kinds : (stage + 1) * kinds]
            rows = sum(block(rows, style, ragged) for block in blocks) / kinds + self._offset(stage)
        out: Tensor = self.conv_post(ragged.masked(functional.leaky_relu(rows)).to(self.conv_post.weight.dtype))
        return out

    def _offset(self, stage: int) -> Tensor:
        """The offsets of a stage's blocks, [width, 1]."""
        kinds = len(self.config.kernels)
        noise, *others = (
            cast(_ResBlock, block).offset
            for block in (self.noise_res[stage], *self.resblocks[stage * kinds : (stage + 1) * kinds])
        )
        return noise + torch.stack(others).mean(dim=0)

    def istft(self, spectra: Tensor, ragged: Ragged) -> Tensor:
        """Samples of what `output_spectra` gives: overlap-add, divided by the sum of the squared windows."""
        config = self.config
        magnitude, phase = spectra.chunk(2, dim=1)
        frames = istft_frames(magnitude.exp(), phase.sin(), config.fft)
        squares = squared_window(frames)
        present = ragged.scaled(config.frame // config.hop, 1).mask
        if present is not None:
            frames, squares = frames * present.transpose(1, 2), squares * present.transpose(1, 2)
        samples = overlap_add(frames, config.hop) / overlap_add(squares, config.hop).clamp(min=_FLOOR)
        return samples[:, config.fft // 2 : -(config.fft // 2)]


class _ResBlock(nn.Module):
    """Pairs of convolutions, the first of each with a growing dilation, each behind AdaIN and a snake.

    AdaIN takes a constant of a channel away again. So the first convolutions need no bias, and that of the second ones
    need not be added before the last norm: it is the block's `offset`, which the caller adds once for all blocks.
    """

    def __init__(self, width: int, kernel: int, dilations: tuple[int, ...], style: int) -> None:
        super().__init__()
        self.convs1 = nn.ModuleList(
            nn.Conv1d(width, width, kernel, dilation=dilation, padding=(kernel - 1) * dilation // 2)
            for dilation in dilations
        )
        self.convs2 = nn.ModuleList(nn.Conv1d(width, width, kernel, padding=kernel // 2) for _ in dilations)
        self.adain1 = nn.ModuleList(AdaIN(style, width) for _ in dilations)
        self.adain2 = nn.ModuleList(AdaIN(style, width) for _ in dilations)
        self.alpha1 = nn.ParameterList(torch.empty(1, width, 1) for _ in dilations)
        self.alpha2 = nn.ParameterList(torch.empty(1, width, 1) for _ in dilations)

    @property
    def offset(self) -> Tensor:
        """[width, 1]"""
        return torch.stack([cast(Tensor, conv.bias) for conv in self.convs2]).sum(dim=0)[:, None]

    def forward(self, rows: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        """[batch, width, time] as the same, but for the `offset`."""
        for first, second, norm1, norm2, alpha1, alpha2 in zip(
            self.convs1, self.convs2, self.adain1, self.adain2, self.alpha1, self.alpha2, strict=True
        ):
            inner = without_bias(first, norm1.activated(rows, style, ragged, alpha1))
            rows = rows + without_bias(second, norm2.activated(inner, style, ragged, alpha2))
        return rows


def _down(inputs: int, outputs: int, stride: int) -> nn.Conv1d:
    if stride == 1:
        return nn.Conv1d(inputs, outputs, 1)
    return nn.Conv1d(inputs, outputs, 2 * stride, stride=stride, padding=(stride + 1) // 2)


def _reflect_padded(samples: Tensor, reach: int, ragged: Ragged) -> Tensor:
    """Samples [batch, time] with `reach` more at either end of each row, by reflection."""
    if ragged.mask is None:
        return functional.pad(samples[:, None], (reach, reach), mode="reflect")[:, 0]
    last = ragged.ends[:, None] - 1
    positions = torch.arange(-reach, ragged.longest + reach, device=samples.device).abs()
    return samples.gather(1, (last - (last - positions).abs()).clamp(min=0))
