"""Wren: a small decoder for Kokoro's aligned text, pitch, energy and style.

A ConvNeXt stack with FiLM conditioning on the style runs at 80 frames a second and predicts filters: a complex one for
a pulse train at the given pitch, and zero-phase ones for noise, four per frame, so that a plosive can start within a
frame. The pulse train has the phase of Kokoro's own harmonic source, so that the student can be regressed on complex
spectra and not only on magnitudes. A refiner may correct the samples behind that.

No layer normalises over time and every receptive field is finite: a sample depends on `Wren.context_frames` frames on
either side and on the utterance's `condition`, and a chunk decoded with both equals that chunk of the whole utterance.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.ragged import FrameSpans
from polyvox.models.kokoro.wren_blocks import Condition, ConvNeXtBlock
from polyvox.models.kokoro.wren_refiner import Refiner, RefinerConfig
from polyvox.models.kokoro.wren_source import (
    VOICED_ABOVE_HZ,
    band_interpolation,
    filter_frames,
    noise_modulation,
    pulse_train,
    sample_phases,
)
from polyvox.models.kokoro.wren_utterance import UtteranceEncoder

_REFERENCE_PITCH, _LOWEST_PITCH = 150.0, 20.0
_ENERGY_SCALE = 5.0
_INITIAL_MAGNITUDE, _INITIAL_NOISE = -3.0, -5.0


@dataclass(frozen=True, slots=True)
class WrenConfig:
    """Sizes of the network; `hop` and `window` are in samples at 24 kHz, and a frame is `hop` long."""

    width: int = 352
    blocks: int = 8
    kernel_size: int = 7
    expansion: int = 3
    text_dim: int = 512
    style_dim: int = 128
    condition_dim: int = 128
    hop: int = 300
    window: int = 600
    fft: int = 1024
    noise_frames: int = 4
    """Noise filters per frame."""
    noise_fft: int = 256
    noise_bands: int = 65
    modulation_harmonics: int = 2
    """Harmonics of the pitch by which the noise may be amplitude-modulated."""
    utterance_dim: int = 0
    """Size of the blocks' condition on the whole utterance, 0 for none."""
    refiner: RefinerConfig = field(default_factory=RefinerConfig)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "WrenConfig":
        """The configuration that `dataclasses.asdict` made of one, or of one with fewer fields."""
        values = dict(stored)
        return cls(**values | {"refiner": RefinerConfig(**values.get("refiner", {}))})

    @classmethod
    def of_weights(cls, state: Mapping[str, Tensor]) -> "WrenConfig":
        """The configuration of a state dict; what does not show in its shapes is as usual."""
        width, refiner_width = len(state["head.weight"][0]), len(state["refiner.spectra_in.weight"])
        return cls(
            width=width,
            blocks=_count_blocks(state, "blocks."),
            expansion=len(state["blocks.0.expand.weight"]) // width,
            text_dim=state["text_conv.weight"].shape[1],
            style_dim=state["style_mlp.0.weight"].shape[1],
            condition_dim=len(state["style_mlp.2.weight"]),
            utterance_dim=len(state["utterance_encoder.output.weight"]),
            refiner=RefinerConfig(
                width=refiner_width,
                blocks=_count_blocks(state, "refiner.blocks."),
                expansion=len(state["refiner.blocks.0.expand.weight"]) // refiner_width,
            ),
        )

    @property
    def bins(self) -> int:
        return self.fft // 2 + 1

    @property
    def outputs(self) -> list[int]:
        """Outputs per frame: log-magnitude and phase of the pulse filter, log-magnitudes of noise, modulation."""
        return [self.bins, self.bins, self.noise_frames * self.noise_bands, 2 * self.modulation_harmonics]


def _count_blocks(state: Mapping[str, Tensor], prefix: str) -> int:
    return sum(name.startswith(prefix) and name.endswith(".layer_scale") for name in state)


class Wren(nn.Module):
    """The student: `encode` and `project` predict filters, `decode` applies them, `refine` corrects the result."""

    band_weights: Tensor

    def __init__(self, config: WrenConfig) -> None:
        super().__init__()
        self.config = config
        self.text_conv = nn.Conv1d(config.text_dim, config.width, 3, padding=1)
        self.curve_conv = nn.Conv1d(5, config.width, 5, padding=2)
        self.style_mlp = nn.Sequential(
            nn.Linear(config.style_dim, 256), nn.GELU(), nn.Linear(256, config.condition_dim), nn.GELU()
        )
        self.utterance_encoder = (
            UtteranceEncoder(config.text_dim, config.style_dim, config.utterance_dim) if config.utterance_dim else None
        )
        self.blocks = nn.ModuleList(
            ConvNeXtBlock(
                config.width, config.kernel_size, config.expansion, config.condition_dim, config.utterance_dim
            )
            for _ in range(config.blocks)
        )
        self.refiner = (
            Refiner(config.refiner, config.hop, config.width, config.condition_dim, config.utterance_dim)
            if config.refiner.blocks
            else None
        )
        self.head = nn.Linear(config.width, sum(config.outputs))
        with torch.no_grad():
            self.head.weight.mul_(0.3)
            magnitude, phase, noise, modulation = torch.split(self.head.bias, config.outputs)
            for part, start in (
                (magnitude, _INITIAL_MAGNITUDE), (phase, 0.0), (noise, _INITIAL_NOISE), (modulation, 0.0)
            ):  # fmt: skip
                part.fill_(start)
            self.head.weight[-2 * config.modulation_harmonics :].zero_()
        weights = band_interpolation(config.noise_bands, config.noise_fft // 2 + 1)
        self.register_buffer("band_weights", weights, persistent=False)

    @property
    def context_frames(self) -> int:
        """Half the receptive field in frames; even, since a frame of text is two frames long."""
        config = self.config
        frames = config.blocks * (config.kernel_size // 2) + 2 + math.ceil(config.fft / config.hop / 2)
        frames += self.refiner.reach_frames if self.refiner else 0
        return frames + frames % 2

    @property
    def overlap_frames(self) -> int:
        """Frames to decode on either side of a segment, so that every overlap-add within it is complete."""
        return 2 * math.ceil(self.config.fft / self.config.hop / 2) + (self.refiner.reach_frames if self.refiner else 0)

    def forward(
        self,
        text: Tensor,
        pitch: Tensor,
        energy: Tensor,
        style: Tensor,
        phase: Tensor,
        noise: Tensor,
        utterance: Tensor | None = None,
    ) -> Tensor:
        """Samples [batch, hop * frames].

        Takes text [batch, text_dim, frames / 2], pitch in hertz and energy [batch, frames], style [batch, style_dim],
        the phase of the pitch in cycles [batch, frames] (see `source.phase_cycles`), standard normal noise, as long as
        the samples, and where `WrenConfig.utterance_dim` is not 0, the `utterance_frames` of the whole utterance.
        """
        condition = self.condition(style, utterance)
        hidden = self.encode(text, pitch, energy, condition, phase)
        return self.refine(self.decode(self.project(hidden), pitch, phase, noise), hidden, condition)

    def condition(self, style: Tensor, utterance: Tensor | None = None) -> Condition:
        """The condition that modulates every block of an utterance; pieces of one share it."""
        if self.utterance_encoder is None:
            return Condition(self.style_mlp(style)[:, None])
        if utterance is None:
            raise ValueError("This network needs frames of the whole utterance.")
        return Condition(self.style_mlp(style)[:, None], self.utterance_encoder(utterance, style)[:, None])

    def encode(
        self,
        text: Tensor,
        pitch: Tensor,
        energy: Tensor,
        condition: Condition,
        phase: Tensor,
        mask: Tensor | None = None,
        decoded: Tensor | None = None,
    ) -> Tensor:
        """Hidden states [batch, frames, width].

        `mask` [batch, frames, 1] is 1 inside an utterance and 0 in its padding, where text must be zero. `decoded`, a
        mask too, is 0 also for frames of an utterance that are not decoded: the blocks do not see them.
        """
        voiced = (pitch > VOICED_ABOVE_HZ).to(pitch.dtype)
        log_pitch = torch.log(pitch.clamp(min=_LOWEST_PITCH) / _REFERENCE_PITCH)
        angle = 2 * math.pi * phase
        curves = torch.stack(
            (log_pitch * voiced, voiced, energy / _ENERGY_SCALE, angle.cos() * voiced, angle.sin() * voiced), dim=1
        )
        if mask is not None:
            curves = curves * mask.transpose(1, 2)
        hidden = self.text_conv(text).repeat_interleave(2, dim=2) + self.curve_conv(curves)
        hidden = hidden.transpose(1, 2)
        for block in self.blocks:
            hidden = block(hidden, condition, mask if decoded is None else decoded)
        out: Tensor = hidden
        return out

    def project(self, hidden: Tensor) -> Tensor:
        """Filter parameters of hidden states. Keep this in float32: log-magnitudes and phases need the precision."""
        out: Tensor = self.head(functional.layer_norm(hidden, hidden.shape[-1:]))
        return out

    def decode(
        self, filters: Tensor, pitch: Tensor, phase: Tensor, noise: Tensor, spans: FrameSpans | None = None
    ) -> Tensor:
        """Samples [batch, hop * frames]: pulses and noise through their filters; nothing outside of `spans`."""
        config = self.config
        log_magnitude, angle, log_noise, modulation = torch.split(filters.float(), config.outputs, dim=2)
        if spans is not None:
            pitch, noise = pitch * spans.mask[..., 0], noise * spans.samples(config.hop)
            modulation = spans.extended(modulation)
        phases = sample_phases(pitch, phase, config.hop)
        voiced = (pitch > VOICED_ABOVE_HZ).float()[:, :, None]
        gate = voiced.expand_as(phases).flatten(1)
        pulses = (pulse_train(phases, pitch) * voiced).flatten(1)
        pulse_filter = torch.polar(log_magnitude.clamp(-12.0, 6.0).exp(), angle)
        modulated = noise * (1 + gate * noise_modulation(modulation, phases))
        bands = log_noise.reshape(log_noise.shape[0], -1, config.noise_bands)
        noise_filter = torch.matmul(bands, self.band_weights).clamp(-14.0, 4.0).exp()
        if spans is not None:
            pulse_filter = pulse_filter * spans.mask
            noise_filter = noise_filter * spans.mask.repeat_interleave(config.noise_frames, dim=1)
        return filter_frames(pulses, pulse_filter, config.window, config.fft) + filter_frames(
            modulated, noise_filter, config.window // config.noise_frames, config.noise_fft
        )

    def refine(self, samples: Tensor, hidden: Tensor, condition: Condition, mask: Tensor | None = None) -> Tensor:
        """Samples behind the refiner; the same ones without a refiner."""
        if self.refiner is None:
            return samples
        out: Tensor = self.refiner(samples, hidden, condition, mask)
        return out
