"""CosyVoice 2's velocity estimator: a one-level U-Net of causal convolutions and attention."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask, merge_heads, split_heads
from polyvox.models.cache import LayerCache
from polyvox.models.convolution import CausalConv
from polyvox.models.cosyvoice.compiled import CompilableBlock
from polyvox.models.cosyvoice.ode_solver import FlowPoint, timestep_embedding

RENAMED = (
    (r"^(down|up)_blocks\.0\.0\.", r"\1.residual."),
    (r"^(down|up)_blocks\.0\.1\.", r"\1.transformers."),
    (r"^(down|up)_blocks\.0\.2\.", r"\1_conv."),
    (r"^mid_blocks\.(\d+)\.0\.", r"middle.\1.residual."),
    (r"^mid_blocks\.(\d+)\.1\.", r"middle.\1.transformers."),
    (r"^final_block\.", "final."),
    (r"\.block\.0\.", ".conv."),
    (r"\.block\.2\.", ".norm."),
    (r"\.to_out\.0\.", ".to_out."),
    (r"\.ff\.net\.0\.proj\.", ".ff_in."),
    (r"\.ff\.net\.2\.", ".ff_out."),
    (r"^time_mlp\.", "time."),
    (r"^time_embed_mixer\.", "time.mixer."),
    (r"^(.*)\.residual\.mlp\.1\.", r"time.\1."),
)
"""Parameter names: published and ours; those under `time.` belong to `UNetTime`."""


@dataclass(frozen=True, slots=True)
class UNetConfig:
    """Sizes of the estimator; the defaults are those of the released model."""

    inputs: int = 320
    outputs: int = 80
    channels: int = 256
    heads: int = 8
    head_width: int = 64
    transformers: int = 4
    """Transformer blocks after each convolution block."""
    mid_blocks: int = 12


class TimeEmbedding(nn.Module):
    """Two layers over a sinusoidal embedding of the time."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        self.inputs = config.inputs
        inner = 4 * config.channels
        self.linear_1 = nn.Linear(config.inputs, inner)
        self.linear_2 = nn.Linear(inner, inner)

    def embed(self, times: Tensor) -> Tensor:
        """Embed times [n] as [n, 4 * channels]."""
        out: Tensor = self.linear_2(functional.silu(self.linear_1(timestep_embedding(times, self.inputs))))
        return out


class UNetTime(TimeEmbedding):
    """Time conditioning of the estimator: one vector for each of its convolution blocks."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__(config)
        inner = 4 * config.channels
        self.down = nn.Linear(inner, config.channels)
        self.middle = nn.ModuleList(nn.Linear(inner, config.channels) for _ in range(config.mid_blocks))
        self.up = nn.Linear(inner, config.channels)

    def forward(self, times: Tensor) -> Tensor:
        """Conditioning vectors [n, blocks, channels] of times [n]."""
        activated = functional.mish(self.embed(times))
        return torch.stack([linear(activated) for linear in (self.down, *self.middle, self.up)], dim=1)


class MeanVelocityTime(UNetTime):
    """Time conditioning of an estimator of mean velocities: of the start and the end of a step, mixed into one."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__(config)
        inner = 4 * config.channels
        self.mixer = nn.Linear(2 * inner, inner, bias=False)

    def embed(self, times: Tensor) -> Tensor:
        """Embed spans [n, 2] as [n, 4 * channels]."""
        embedded = super().embed(times.flatten())
        out: Tensor = self.mixer(embedded.view(len(times), -1))
        return out


class UNet(nn.Module):
    """Velocity of the mel spectrogram at one point of the flow."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        width = config.channels
        self.down = Level(config, config.inputs, _ConvBlock)
        self.down_conv = CausalConv(width, width, 3)
        self.middle = nn.ModuleList(Level(config, width, _ConvBlock) for _ in range(config.mid_blocks))
        self.up = Level(config, 2 * width, _ConvBlock)
        self.up_conv = CausalConv(width, width, 3)
        self.final = _ConvBlock(width, width)
        self.final_proj = nn.Conv1d(width, config.outputs, 1)

    def forward(self, point: FlowPoint, time: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """The velocity [batch, bins, frames]; `time` [blocks, channels] comes from `UNetTime`."""
        skip = self.down(unet_inputs(point), time[0], cache, mask)
        frames = self.down_conv(skip, cache)
        for level, moment in zip(self.middle, time[1:-1], strict=True):
            frames = level(frames, moment, cache, mask)
        frames = self.up(torch.cat((frames, skip), dim=1), time[-1], cache, mask)
        velocity: Tensor = self.final_proj(self.final(self.up_conv(frames, cache), cache))
        return velocity


def unet_inputs(point: FlowPoint) -> Tensor:
    """The input channels of the estimator, [batch, 4 * bins, frames]."""
    speaker = point.speaker[:, :, None].expand_as(point.mel)
    return torch.cat((point.mel, point.mu, speaker, point.condition), dim=1)


ConvBlock = Callable[[int, int], nn.Module]
"""Makes a convolution block of so many inputs and channels; a call of one takes frames and a cache."""


class Level(nn.Module):
    """A residual block of two convolution blocks, and transformer blocks behind it."""

    def __init__(self, config: UNetConfig, inputs: int, conv_block: ConvBlock) -> None:
        super().__init__()
        self.residual = _Residual(inputs, config.channels, conv_block)
        self.transformers = nn.ModuleList(_Transformer(config) for _ in range(config.transformers))

    def forward(self, frames: Tensor, time: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        rows: Tensor = self.residual(frames, time, cache).transpose(1, 2)
        for transformer in self.transformers:
            rows = transformer(rows, cache, mask)
        return rows.transpose(1, 2)


class _Residual(nn.Module):
    def __init__(self, inputs: int, channels: int, conv_block: ConvBlock) -> None:
        super().__init__()
        self.block1 = conv_block(inputs, channels)
        self.block2 = conv_block(channels, channels)
        self.res_conv = nn.Conv1d(inputs, channels, 1)

    def forward(self, frames: Tensor, time: Tensor, cache: LayerCache) -> Tensor:
        inner = self.block1(frames, cache) + time[:, None]
        out: Tensor = self.block2(inner, cache) + self.res_conv(frames)
        return out


class _ConvBlock(nn.Module):
    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.conv = CausalConv(inputs, channels, 3)
        self.norm = nn.LayerNorm(channels)

    def forward(self, frames: Tensor, cache: LayerCache) -> Tensor:
        normed = self.norm(self.conv(frames, cache).transpose(1, 2))
        return functional.mish(normed).transpose(1, 2)


def _feed_forward(
    rows: Tensor, scale: Tensor, shift: Tensor, within: Tensor, bias: Tensor, out: Tensor, out_bias: Tensor
) -> Tensor:
    """The feed-forward half of a block, with its norm and residual."""
    normed = functional.layer_norm(rows, rows.shape[-1:], scale, shift)
    return rows + functional.linear(functional.gelu(functional.linear(normed, within, bias)), out, out_bias)


class _Transformer(CompilableBlock):
    def __init__(self, config: UNetConfig) -> None:
        super().__init__(_feed_forward)
        self.norm1 = nn.LayerNorm(config.channels)
        self.attn1 = _Attention(config)
        self.norm3 = nn.LayerNorm(config.channels)
        self.ff_in = nn.Linear(config.channels, 4 * config.channels)
        self.ff_out = nn.Linear(4 * config.channels, config.channels)

    def forward(self, rows: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        rows = rows + self.attn1(self.norm1(rows), cache, mask)
        norm, within, out = self.norm3, self.ff_in, self.ff_out
        return self.feed_forward(rows, norm.weight, norm.bias, within.weight, within.bias, out.weight, out.bias)


class _Attention(nn.Module):
    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        self.heads = config.heads
        inner = config.heads * config.head_width
        self.to_q = nn.Linear(config.channels, inner, bias=False)
        self.to_k = nn.Linear(config.channels, inner, bias=False)
        self.to_v = nn.Linear(config.channels, inner, bias=False)
        self.to_out = nn.Linear(inner, config.channels)

    def forward(self, rows: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        query, key, value = (split_heads(linear(rows), self.heads) for linear in (self.to_q, self.to_k, self.to_v))
        out: Tensor = self.to_out(merge_heads(cache.attend(query, key, value, mask)))
        return out
