"""Discriminators between teacher and student: multi-period, as in HiFi-GAN, and multi-resolution on complex spectra.

Some of the latter see only the band between 1 and 5 kHz, where the student's faults are heard most.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.wren_source import SAMPLE_RATE
from training.wren.losses import DiscriminatorOutputs, compress, stft

_LEAKY_SLOPE = 0.1
_BAND_HZ = (1_000, 5_000)
Kernel = tuple[Tensor, Tensor]
"""Weight and bias of a convolution."""


class _WeightNormConv2d(nn.Module):
    """Conv2d with weight norm, in channels-last layout. `nn.utils.weight_norm` would not keep that layout."""

    def __init__(self, inputs: int, outputs: int, kernel: tuple[int, int], stride: tuple[int, int]) -> None:
        super().__init__()
        initial = nn.Conv2d(inputs, outputs, kernel)
        assert initial.bias is not None
        self.weight_v = nn.Parameter(initial.weight.detach().clone())
        self.weight_g = nn.Parameter(initial.weight.detach().flatten(1).norm(dim=1))
        self.bias = nn.Parameter(initial.bias.detach().clone())
        self.stride = stride
        self.padding = (kernel[0] // 2, kernel[1] // 2)

    def kernel(self) -> Kernel:
        """Normalised weight and bias, in the dtype that convolutions take under autocast."""
        norm = self.weight_v.flatten(1).norm(dim=1).clamp(min=1e-6)
        weight = self.weight_v * (self.weight_g / norm)[:, None, None, None]
        device = weight.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
        return weight.to(dtype, memory_format=torch.channels_last), self.bias.to(dtype)

    def forward(self, images: Tensor, kernel: Kernel) -> Tensor:
        return functional.conv2d(images, *kernel, self.stride, self.padding)


class _Discriminator(nn.Module):
    """Strided convolutions with leaky ReLU, and a last one to logits."""

    def __init__(self, layers: Sequence[_WeightNormConv2d], output: _WeightNormConv2d) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.output = output

    def forward(self, *signals: Tensor) -> list[tuple[Tensor, list[Tensor]]]:
        """Logits and feature maps of each of several signals [batch, time], with weights normalised once for all."""
        kernels = [layer.kernel() for layer in (*self._convolutions(), self.output)]
        return [self._discriminate(self.images(signal), kernels) for signal in signals]

    def images(self, samples: Tensor) -> Tensor:
        """Images [batch, channels, height, width] of a signal."""
        raise NotImplementedError

    def _convolutions(self) -> Iterator[_WeightNormConv2d]:
        for layer in self.layers:
            assert isinstance(layer, _WeightNormConv2d)
            yield layer

    def _discriminate(self, images: Tensor, kernels: Sequence[Kernel]) -> tuple[Tensor, list[Tensor]]:
        images = images.contiguous(memory_format=torch.channels_last)
        maps = []
        for layer, kernel in zip(self.layers, kernels[:-1], strict=True):
            images = functional.leaky_relu(layer(images, kernel), _LEAKY_SLOPE)
            maps.append(images)
        return self.output(images, kernels[-1]), maps


class PeriodDiscriminator(_Discriminator):
    """Sees the samples folded by a period, each phase of the period as a row."""

    def __init__(self, period: int, channels: Sequence[int]) -> None:
        pairs = zip((1, *channels[:-1]), channels, strict=True)
        super().__init__(
            [_WeightNormConv2d(inputs, outputs, (1, 5), (1, 3)) for inputs, outputs in pairs],
            _WeightNormConv2d(channels[-1], 1, (1, 3), (1, 1)),
        )
        self.period = period

    def images(self, samples: Tensor) -> Tensor:
        """The samples as one channel, [period, time / period]."""
        whole = samples[:, : samples.shape[1] // self.period * self.period]
        return whole.view(len(samples), 1, -1, self.period).transpose(2, 3)


class SpectrogramDiscriminator(_Discriminator):
    """Sees compressed complex spectra of one FFT size, or a band in hertz of them, as images of two channels."""

    def __init__(self, size: int, channels: int, band: tuple[int, int] = (0, SAMPLE_RATE // 2)) -> None:
        inner = 2 * channels
        super().__init__(
            [
                _WeightNormConv2d(2, channels, (3, 9), (1, 3)),
                _WeightNormConv2d(channels, inner, (3, 7), (1, 2)),
                _WeightNormConv2d(inner, inner, (3, 5), (2, 2)),
                _WeightNormConv2d(inner, inner, (3, 3), (1, 1)),
            ],
            _WeightNormConv2d(inner, 1, (3, 3), (1, 1)),
        )
        self.size = size
        low, high = (hertz * size // SAMPLE_RATE for hertz in band)
        self.bins = slice(low, high + 1)

    def images(self, samples: Tensor) -> Tensor:
        """Real and imaginary part as channels, [frames, bins]."""
        # The STFT stays in float32 under autocast.
        with torch.autocast(samples.device.type, enabled=False):
            return compress(stft(samples.float(), self.size)[:, :, self.bins])


class Discriminators(nn.Module):
    """All discriminators of a training run. With `streams`, CUDA computes several of them at a time."""

    def __init__(
        self,
        periods: Sequence[int] = (2, 3, 5, 7, 11),
        sizes: Sequence[int] = (256, 768, 2048),
        band_sizes: Sequence[int] = (512, 1024),
        period_channels: Sequence[int] = (32, 64, 128, 256),
        spectrogram_channels: int = 32,
    ) -> None:
        super().__init__()
        # The order is that of checkpoints: new kinds go to the end.
        self.members = nn.ModuleList(
            [
                *(PeriodDiscriminator(period, period_channels) for period in periods),
                *(SpectrogramDiscriminator(size, spectrogram_channels) for size in sizes),
                *(SpectrogramDiscriminator(size, spectrogram_channels, _BAND_HZ) for size in band_sizes),
            ]
        )
        self.streams: list[torch.cuda.Stream] = []

    def forward(self, *signals: Tensor) -> list[DiscriminatorOutputs]:
        """Of each signal [batch, time], the outputs of every discriminator."""
        with _forked(self.streams):
            outputs = []
            for index, member in enumerate(self.members):
                stream = self.streams[index % len(self.streams)] if self.streams else None
                with torch.cuda.stream(stream):
                    outputs.append(member(*signals))
        return [list(of_signal) for of_signal in zip(*outputs, strict=True)]


@contextmanager
def _forked(streams: Sequence[torch.cuda.Stream]) -> Iterator[None]:
    """Let streams begin after the current one's work so far, and the current one go on after theirs."""
    for stream in streams:
        stream.wait_stream(torch.cuda.current_stream())
    yield
    for stream in streams:
        torch.cuda.current_stream().wait_stream(stream)
