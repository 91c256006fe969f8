"""Discriminators between teacher and student: multi-period, as in HiFi-GAN, and multi-resolution on complex spectra."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.wren.losses import DiscriminatorOutputs, compress, stft

_LEAKY_SLOPE = 0.1


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

    def forward(self, images: Tensor) -> Tensor:
        norm = self.weight_v.flatten(1).norm(dim=1).clamp(min=1e-6)
        weight = self.weight_v * (self.weight_g / norm)[:, None, None, None]
        weight = weight.contiguous(memory_format=torch.channels_last)
        return functional.conv2d(images, weight, self.bias, self.stride, self.padding)


class _Discriminator(nn.Module):
    """Strided convolutions with leaky ReLU, and a last one to logits."""

    def __init__(self, layers: Sequence[_WeightNormConv2d], output: _WeightNormConv2d) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.output = output

    def discriminate(self, images: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Logits and feature maps of [batch, channels, height, width]."""
        images = images.contiguous(memory_format=torch.channels_last)
        maps = []
        for layer in self.layers:
            images = functional.leaky_relu(layer(images), _LEAKY_SLOPE)
            maps.append(images)
        return self.output(images), maps


class PeriodDiscriminator(_Discriminator):
    """Sees the samples folded by a period, each phase of the period as a row."""

    def __init__(self, period: int, channels: Sequence[int]) -> None:
        pairs = zip((1, *channels[:-1]), channels, strict=True)
        super().__init__(
            [_WeightNormConv2d(inputs, outputs, (1, 5), (1, 3)) for inputs, outputs in pairs],
            _WeightNormConv2d(channels[-1], 1, (1, 3), (1, 1)),
        )
        self.period = period

    def forward(self, samples: Tensor) -> tuple[Tensor, list[Tensor]]:
        whole = samples[:, : samples.shape[1] // self.period * self.period]
        return self.discriminate(whole.view(len(samples), 1, -1, self.period).transpose(2, 3))


class SpectrogramDiscriminator(_Discriminator):
    """Sees compressed complex spectra of one FFT size as images of two channels."""

    def __init__(self, size: int, channels: int) -> None:
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

    def forward(self, samples: Tensor) -> tuple[Tensor, list[Tensor]]:
        # The STFT stays in float32 under autocast.
        with torch.autocast(samples.device.type, enabled=False):
            images = compress(stft(samples.float(), self.size))
        return self.discriminate(images)


class Discriminators(nn.Module):
    """All discriminators of a training run."""

    def __init__(
        self,
        periods: Sequence[int] = (2, 3, 5, 7, 11),
        sizes: Sequence[int] = (256, 768, 2048),
        period_channels: Sequence[int] = (32, 64, 128, 256),
        spectrogram_channels: int = 32,
    ) -> None:
        super().__init__()
        self.members = nn.ModuleList(
            [
                *(PeriodDiscriminator(period, period_channels) for period in periods),
                *(SpectrogramDiscriminator(size, spectrogram_channels) for size in sizes),
            ]
        )

    def forward(self, samples: Tensor) -> DiscriminatorOutputs:
        """Outputs of each for samples [batch, time]."""
        return [member(samples) for member in self.members]
