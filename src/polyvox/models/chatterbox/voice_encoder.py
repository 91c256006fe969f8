"""The voice encoder: a recording to the vector of its voice, an LSTM over overlapping windows."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.audio.features import slaney_filters
from polyvox.models.loading import StateDict, load

RATE = 16_000
_FFT, _HOP = 400, 160
LEAST_SAMPLES = _FFT // 2 + 1
"""Fewer samples cannot be reflected at their ends."""
_TRIM_FRAME, _TRIM_HOP = 2048, 512
_TRIM_SHARE, _LEAST_POWER = 0.01, 1e-10
WINDOW = 160
STEP = round(RATE / 1.3 / _HOP)
"""Frames between the starts of two windows: 1.3 of them begin in a second."""
_LEAST_COVERAGE = 0.8
_UNUSED = ("similarity_weight", "similarity_bias")


@dataclass(frozen=True, slots=True)
class VoiceEncoderConfig:
    """Sizes of the encoder; the defaults are those of the released one."""

    bins: int = 40
    hidden: int = 256
    layers: int = 3
    width: int = 256


class VoiceEncoder(nn.Module):
    """Voices as vectors of unit length without negative values."""

    def __init__(self, config: VoiceEncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.lstm = nn.LSTM(config.bins, config.hidden, config.layers, batch_first=True)
        self.proj = nn.Linear(config.hidden, config.width)

    def embed(self, samples: Tensor) -> Tensor:
        """The vector [width] of a recording [time] at `RATE` of at least `LEAST_SAMPLES`."""
        start, end = loud_part(samples)
        if end - start < LEAST_SAMPLES:
            start, end = 0, len(samples)
        embeddings = self(windows(mel_power(samples[start:end], self.config.bins)))
        return functional.normalize(embeddings.mean(dim=0), dim=0)

    def forward(self, mel: Tensor) -> Tensor:
        """The vectors [n, width] of windows [n, `WINDOW`, bins]."""
        _, (hidden, _) = self.lstm(mel)
        return functional.normalize(functional.relu(self.proj(hidden[-1])), dim=1)


def loud_part(samples: Tensor) -> tuple[int, int]:
    """First and last sample, exclusive, of what is within 20 dB of the loudest frame."""
    padded = functional.pad(samples, (_TRIM_FRAME // 2, _TRIM_FRAME // 2))
    power = padded.unfold(0, _TRIM_FRAME, _TRIM_HOP).square().mean(dim=1).clamp(min=_LEAST_POWER)
    loud = (power > _TRIM_SHARE * power.max()).nonzero()[:, 0]
    return int(loud[0]) * _TRIM_HOP, min(len(samples), (int(loud[-1]) + 1) * _TRIM_HOP)


def mel_power(samples: Tensor, bins: int) -> Tensor:
    """Mel power [frames, bins], without a logarithm."""
    window = torch.hann_window(_FFT, device=samples.device)
    spectra = torch.stft(samples, _FFT, _HOP, window=window, center=True, pad_mode="reflect", return_complex=True)
    filters = torch.from_numpy(slaney_filters(RATE, _FFT, bins)).to(samples.device)
    return (filters @ torch.view_as_real(spectra).square().sum(dim=-1)).T


def windows(mel: Tensor) -> Tensor:
    """Overlapping windows [n, `WINDOW`, bins] of a mel [frames, bins]; a last one that is mostly filled has zeros."""
    count, rest = divmod(max(len(mel) - WINDOW + STEP, 0), STEP)
    if count == 0 or (rest + WINDOW - STEP) / WINDOW >= _LEAST_COVERAGE:
        count += 1
    needed = WINDOW + STEP * (count - 1)
    padded = functional.pad(mel, (0, 0, 0, max(0, needed - len(mel))))[:needed]
    return padded.unfold(0, WINDOW, STEP).transpose(1, 2)


def load_voice_encoder(config: VoiceEncoderConfig, state: StateDict) -> VoiceEncoder:
    """Load a published state dict, without the weights of a loss that only training needed."""
    return load(lambda: VoiceEncoder(config), {name: each for name, each in state.items() if name not in _UNUSED})
