"""The fixed noise that the original implementation uses for every request, reproduced without its global generator.

The original seeds its generator with zero and draws the noise of the flow. In version 3 the next draws initialise the
embedding and speaker layer of the flow and the F0 layers of the vocoder, over which weights are loaded later; the noise
of the vocoder follows.
"""

import torch
from torch import Tensor

_FLOW_FRAMES = 15_000
_BINS = 80
_HARMONICS = 9


def flow_noise(frames: int = _FLOW_FRAMES) -> Tensor:
    """Gaussian noise [1, bins, frames] of the flow, for up to five minutes."""
    if frames > _FLOW_FRAMES:
        raise ValueError(f"The noise covers at most {_FLOW_FRAMES} frames, not {frames}.")
    return _after_flow()[0][:, :, :frames]


def source_noise(samples: int, *, tokens: int = 6561, speaker: int = 192, channels: int = 512) -> Tensor:
    """Uniform noise [1, samples, harmonics] of version 3's vocoder; it depends on the sizes drawn before it."""
    _, generator = _after_flow()
    torch.randn(tokens * _BINS, generator=generator)
    weights = [(speaker, _BINS), (4 * _BINS, channels), *[(3 * channels, channels)] * 4, (channels, 1)]
    torch.rand(sum((inputs + 1) * outputs for inputs, outputs in weights), generator=generator)
    torch.rand(_HARMONICS, generator=generator)
    return torch.rand(1, samples, _HARMONICS, generator=generator)


def _after_flow() -> tuple[Tensor, torch.Generator]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, _BINS, _FLOW_FRAMES, generator=generator), generator
