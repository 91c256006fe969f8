"""Acoustic features of an utterance, as Kokoro predicts them and Wren decodes them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.models.kokoro.wren import Wren
from polyvox.models.kokoro.wren_source import phase_cycles
from polyvox.models.kokoro.wren_utterance import spread_indices, utterance_frames

TEXT_FRAME = 600
"""Samples per frame of text; pitch and energy have two values in it."""
GRAPH_GAIN = 1.5
"""Kokoro's released ONNX graph is this much louder than its network, and the student matches the graph."""


@dataclass(frozen=True, slots=True)
class Features:
    """Aligned text [text_dim, n], pitch in hertz and energy [2 n], and the decoder's half of the style [style_dim]."""

    text: Tensor
    pitch: Tensor
    energy: Tensor
    style: Tensor


def spread_frames(features: Features) -> Tensor:
    """The `utterance_frames` [1, n, ...] of one utterance."""
    frames = features.text.shape[-1]
    count = torch.tensor([frames], device=features.text.device)
    indices = spread_indices(count)[0]
    text = features.text.float().T[indices]
    pitch, energy = (curve.float().view(frames, 2)[indices] for curve in (features.pitch, features.energy))
    return utterance_frames(text[None], pitch[None], energy[None], count)


@torch.no_grad()
def synthesize(student: Wren, features: Features) -> Tensor:
    """Decode one utterance with the student; noise comes from the device's global generator."""
    noise = torch.randn(1, features.pitch.shape[-1] * student.config.hop, device=features.pitch.device)
    pitch = features.pitch[None].float()
    samples: Tensor = student(
        features.text[None].float(),
        pitch,
        features.energy[None].float(),
        features.style[None].float(),
        phase_cycles(pitch, student.config.hop),
        noise,
        spread_frames(features) if student.config.utterance_dim else None,
    )
    return samples[0]
