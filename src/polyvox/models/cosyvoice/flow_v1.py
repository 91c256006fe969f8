"""CosyVoice 1's flow: a conformer and a length regulator before a U-Net, chunk by chunk with an overlap."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice import conformer, unet_v1
from polyvox.models.cosyvoice.conformer import ConformerEncoder, ConformerEncoderConfig
from polyvox.models.cosyvoice.flow import FlowConfig, FlowNetwork, FlowParts, FlowPrompt, load_network
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.cosyvoice.unet_v1 import UNet1, UNet1Time
from polyvox.models.loading import StateDict
from polyvox.models.lookup import lookup

OVERLAP_TOKENS, OVERLAP_FRAMES = 20, 34
"""Overlap of two chunks of a stream; the flow keeps noise and mu of these frames from one to the next."""

_TOKEN_RATE = 50
_SAMPLE_RATE = 22_050
_FRAME_SAMPLES = 256


def frames_of(tokens: int) -> int:
    """Mel frames of so many speech tokens; the operations are the original's, and so is their rounding."""
    return int(tokens / _TOKEN_RATE * _SAMPLE_RATE / _FRAME_SAMPLES)


@dataclass(frozen=True, slots=True)
class Flow1Config:
    """Sizes of version 1."""

    flow: FlowConfig = field(default_factory=lambda: FlowConfig(tokens=4096, ahead=OVERLAP_TOKENS, block=1))
    encoder: ConformerEncoderConfig = field(default_factory=ConformerEncoderConfig)
    estimator: UNetConfig = field(default_factory=UNetConfig)
    regulator_convs: int = 4


@dataclass(frozen=True, slots=True)
class FlowOverlap:
    """Noise and mu [batch, bins, n] of the prompt's frames and of the last frames of a chunk."""

    noise: Tensor
    mu: Tensor

    @property
    def nbytes(self) -> int:
        return self.noise.nbytes + self.mu.nbytes


class RegulatedTokenEncoder(nn.Module):
    """Token ids to mu at the frame rate: full attention, then interpolation and convolutions over all frames."""

    def __init__(self, config: Flow1Config) -> None:
        super().__init__()
        bins = config.flow.bins
        self.input_embedding = lookup(config.flow.tokens, config.encoder.inputs)
        self.encoder = ConformerEncoder(config.encoder)
        self.encoder_proj = nn.Linear(config.encoder.width, bins)
        self.convs = nn.ModuleList(nn.Conv1d(bins, bins, 3, padding=1) for _ in range(config.regulator_convs))
        self.norms = nn.ModuleList(nn.GroupNorm(1, bins) for _ in range(config.regulator_convs))
        self.regulator_proj = nn.Conv1d(bins, bins, 1)

    def forward(self, tokens: Tensor, prompt_tokens: int, prompt_frames: int) -> Tensor:
        """Mu [batch, bins, frames] of tokens [batch, n], the first of which are the prompt's."""
        rows = self.encode(tokens)
        return self.regulate(self.stretch(rows, prompt_tokens, prompt_frames))

    def encode(self, tokens: Tensor) -> Tensor:
        """Rows [batch, bins, n] at the token rate."""
        embedded = functional.embedding(tokens, self.input_embedding.weight)
        rows: Tensor = self.encoder_proj(self.encoder(embedded, BlockCausalMask(tokens.shape[1])))
        return rows.transpose(1, 2)

    def stretch(self, rows: Tensor, prompt_tokens: int, prompt_frames: int) -> Tensor:
        """Interpolate to the frame rate: the prompt and the ends of a chunk by themselves, so that overlaps agree."""
        prompt, chunk = rows[:, :, :prompt_tokens], rows[:, :, prompt_tokens:]
        count = chunk.shape[2]
        frames = frames_of(count)
        parts, sizes = [chunk], [frames]
        if count > 2 * OVERLAP_TOKENS:
            first, last = OVERLAP_TOKENS, count - OVERLAP_TOKENS
            parts = [chunk[:, :, :first], chunk[:, :, first:last], chunk[:, :, last:]]
            sizes = [OVERLAP_FRAMES, frames - 2 * OVERLAP_FRAMES, OVERLAP_FRAMES]
        if prompt_tokens:
            parts, sizes = [prompt, *parts], [prompt_frames, *sizes]
        stretched = [
            functional.interpolate(part, size=size, mode="linear") for part, size in zip(parts, sizes, strict=True)
        ]
        return torch.cat(stretched, dim=2)

    def regulate(self, frames: Tensor) -> Tensor:
        """The convolutions over all frames; their norms span the whole length."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            frames = functional.mish(norm(conv(frames)))
        out: Tensor = self.regulator_proj(frames)
        return out


class Flow1(FlowNetwork):
    """Tokens in, mel out. Attention spans the prompt and one chunk: a chunk does not see the ones before it."""

    token_encoder: RegulatedTokenEncoder

    def step(
        self, tokens: Tensor, prompt: FlowPrompt, noise: Tensor, overlap: FlowOverlap | None = None
    ) -> tuple[Tensor, FlowOverlap]:
        """The mel [batch, bins, m] of a chunk's tokens [batch, n], and what the next chunk takes over.

        `noise` [batch, bins, prompt frames + m] is the chunk's own; where the chunk overlaps the one before it, noise
        and mu of that one take its place.
        """
        before = prompt.mel.shape[2]
        mu = self.token_encoder(torch.cat((prompt.tokens, tokens), dim=1), prompt.tokens.shape[1], before)
        if noise.shape[2] != mu.shape[2]:
            raise ValueError(f"The noise given covers {noise.shape[2]} frames; {mu.shape[2]} are needed.")
        if overlap is not None:
            taken = overlap.mu.shape[2]
            mu = torch.cat((overlap.mu, mu[:, :, taken:]), dim=2)
            noise = torch.cat((overlap.noise, noise[:, :, taken:]), dim=2)
        condition = functional.pad(prompt.mel.to(mu.dtype), (0, mu.shape[2] - before))
        point = FlowPoint(noise, mu, self.embed_speaker(prompt.embedding), condition)
        mel = self.integrate(point, LayerCache(update=False), BlockCausalMask(mu.shape[2]))
        after = FlowOverlap(_ends(noise, before), _ends(mu, before))
        return mel[:, :, before:], after


def _ends(frames: Tensor, before: int) -> Tensor:
    """The prompt's frames and those of the overlap with the next chunk."""
    return torch.cat((frames[:, :, :before], frames[:, :, before:][:, :, -OVERLAP_FRAMES:]), dim=2)


def load_flow1(config: Flow1Config, state: StateDict, dtype: torch.dtype = torch.float32) -> Flow1:
    """Load a published `flow` state dict of version 1."""
    parts = FlowParts(
        token_encoder=lambda: RegulatedTokenEncoder(config),
        token_encoder_names=(*conformer.RENAMED, *_regulator_names(config.regulator_convs)),
        estimator=lambda: UNet1(config.estimator),
        time=lambda: UNet1Time(config.estimator),
        estimator_names=unet_v1.RENAMED,
    )
    return load_network(Flow1, config.flow, parts, state, dtype)


def _regulator_names(convs: int) -> list[tuple[str, str]]:
    """Published names count convolution, norm and activation of each stage, and then the last convolution."""
    stages = [
        (rf"^length_regulator\.model\.{3 * stage + place}\.", f"{kind}.{stage}.")
        for stage in range(convs)
        for place, kind in enumerate(("convs", "norms"))
    ]
    return [*stages, (rf"^length_regulator\.model\.{3 * convs}\.", "regulator_proj.")]
