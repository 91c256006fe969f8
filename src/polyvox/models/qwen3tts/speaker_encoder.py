"""The speaker encoder: a recording to the vector of its voice, an ECAPA-TDNN without batch norms."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.audio.features import slaney_filters
from polyvox.models.loading import StateDict, load, under
from polyvox.models.qwen3tts.config import SpeakerEncoderConfig

RATE = 24_000
_FFT = 1024
_HOP = 256
LEAST_SAMPLES = (_FFT - _HOP) // 2 + 1
_LEAST_VARIANCE = 1e-12


def log_mel(samples: Tensor, bins: int) -> Tensor:
    """Log mel magnitudes [batch, bins, frames] of recordings [batch, time] of at least `LEAST_SAMPLES`."""
    around = (_FFT - _HOP) // 2
    padded = functional.pad(samples[:, None], (around, around), mode="reflect")[:, 0]
    window = torch.hann_window(_FFT, device=samples.device)
    spectra = torch.stft(padded, _FFT, _HOP, window=window, center=False, return_complex=True)
    magnitudes = (torch.view_as_real(spectra).square().sum(dim=-1) + 1e-9).sqrt()
    filters = torch.from_numpy(slaney_filters(RATE, _FFT, bins, RATE / 2).astype(np.float32)).to(samples.device)
    return (filters @ magnitudes).clamp(min=1e-5).log()


class SpeakerEncoder(nn.Module):
    """Voices as the talker's rows: they are not normalised."""

    def __init__(self, config: SpeakerEncoderConfig) -> None:
        super().__init__()
        self.config = config
        channels, kernels, dilations = config.channels, config.kernels, config.dilations
        blocks: list[nn.Module] = [_Tdnn(config.bins, channels[0], kernels[0], dilations[0])]
        blocks += [_Block(channels[at - 1], channels[at], kernels[at], dilations[at], config) for at in (1, 2, 3)]
        self.blocks = nn.ModuleList(blocks)
        self.mfa = _Tdnn(sum(channels[1:4]), channels[4], kernels[4], dilations[4])
        self.asp = _Pooling(channels[4], config.attention)
        self.fc = nn.Conv1d(2 * channels[4], config.embedding, 1)

    def forward(self, samples: Tensor) -> Tensor:
        """Voices [batch, embedding] of recordings [batch, time] at 24 kHz, all of one length."""
        rows, outputs = log_mel(samples, self.config.bins), []
        for block in self.blocks:
            rows = block(rows)
            outputs.append(rows)
        pooled: Tensor = self.asp(self.mfa(torch.cat(outputs[1:], dim=1)))
        voice: Tensor = self.fc(pooled)
        return voice[..., 0]


class _Tdnn(nn.Module):
    """Convolution that reflects at both ends, and ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, dilation=dilation)
        self.around = (kernel - 1) * dilation // 2

    def forward(self, rows: Tensor) -> Tensor:
        if self.around:
            rows = functional.pad(rows, (self.around, self.around), mode="reflect")
        return functional.relu(self.conv(rows))


class _Res2Net(nn.Module):
    """Equal parts of the channels; each but the first goes through a convolution, with the part before it added."""

    def __init__(self, channels: int, kernel: int, dilation: int, scale: int) -> None:
        super().__init__()
        part = channels // scale
        self.scale = scale
        self.blocks = nn.ModuleList(_Tdnn(part, part, kernel, dilation) for _ in range(scale - 1))

    def forward(self, rows: Tensor) -> Tensor:
        parts = rows.chunk(self.scale, dim=1)
        outputs = [parts[0]]
        for index, block in enumerate(self.blocks, start=1):
            outputs.append(block(parts[index] + outputs[-1] if index > 1 else parts[index]))
        return torch.cat(outputs, dim=1)


class _SqueezeExcite(nn.Module):
    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(channels, squeezed, 1)
        self.conv2 = nn.Conv1d(squeezed, channels, 1)

    def forward(self, rows: Tensor) -> Tensor:
        mean = rows.mean(dim=2, keepdim=True)
        return rows * torch.sigmoid(self.conv2(functional.relu(self.conv1(mean))))


class _Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int, config: SpeakerEncoderConfig) -> None:
        super().__init__()
        self.tdnn1 = _Tdnn(inputs, outputs, 1, 1)
        self.res2net_block = _Res2Net(outputs, kernel, dilation, config.scale)
        self.tdnn2 = _Tdnn(outputs, outputs, 1, 1)
        self.se_block = _SqueezeExcite(outputs, config.squeezed)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = rows + self.se_block(self.tdnn2(self.res2net_block(self.tdnn1(rows))))
        return out


class _Pooling(nn.Module):
    """Mean and deviation over time, weighted by attention."""

    def __init__(self, channels: int, attention: int) -> None:
        super().__init__()
        self.tdnn = _Tdnn(3 * channels, attention, 1, 1)
        self.conv = nn.Conv1d(attention, channels, 1)

    def forward(self, rows: Tensor) -> Tensor:
        mean, deviation = _statistics(rows, torch.full_like(rows[:, :1], 1 / rows.shape[2]))
        given = torch.cat((rows, mean.expand_as(rows), deviation.expand_as(rows)), dim=1)
        weights = self.conv(self.tdnn(given).tanh()).softmax(dim=2)
        return torch.cat(_statistics(rows, weights), dim=1)


def _statistics(rows: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    mean = (weights * rows).sum(dim=2, keepdim=True)
    variance = (weights * (rows - mean).square()).sum(dim=2, keepdim=True)
    return mean, variance.clamp(min=_LEAST_VARIANCE).sqrt()


def load_speaker_encoder(config: SpeakerEncoderConfig, state: StateDict) -> SpeakerEncoder:
    """Load the speaker encoder's part of a published state dict, in float32."""
    return load(lambda: SpeakerEncoder(config), under("speaker_encoder.", state))
