"""The noise that the original draws once and uses for every request, without its global generator.

It seeds a generator with zero and draws the flow's noise. In version 3 the next numbers initialise the flow's embedding
and speaker layer and the vocoder's pitch layers, whose weights are then loaded over them; after those comes the
vocoder's noise.
"""

import torch
from torch import Tensor

_FLOW_FRAMES = 15_000
_BINS = 80
_HARMONICS = 9


def flow_noise(frames: int = _FLOW_FRAMES) -> Tensor:
    """Gaussian, [1, bins, frames], for up to five minutes."""
    if frames > _FLOW_FRAMES:
        raise ValueError(f"The original's noise ends after {_FLOW_FRAMES} frames; {frames} are asked for.")
    return _after_flow()[0][:, :, :frames]


def source_noise(samples: int, *, tokens: int = 6561, speaker: int = 192, channels: int = 512) -> Tensor:
    """Uniform between 0 and 1, [1, samples, harmonics]: version 3's, whose draws depend on its sizes."""
    _, generator = _after_flow()
    torch.randn(tokens * _BINS, generator=generator)
    weights = [(speaker, _BINS), (4 * _BINS, channels), *[(3 * channels, channels)] * 4, (channels, 1)]
    torch.rand(sum((inputs + 1) * outputs for inputs, outputs in weights), generator=generator)
    torch.rand(_HARMONICS, generator=generator)
    return torch.rand(1, samples, _HARMONICS, generator=generator)


def _after_flow() -> tuple[Tensor, torch.Generator]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, _BINS, _FLOW_FRAMES, generator=generator), generator
