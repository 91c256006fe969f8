"""CosyVoice 2's velocity estimator: a one-level U-Net of causal convolutions and attention."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import Sight, attend, merge_heads, split_heads
from polyvox.models.convolution import CausalConv
from polyvox.models.cosyvoice.euler import FlowPoint, time_code
from polyvox.models.cosyvoice.fusing import Fusible
from polyvox.models.memory import Memory

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
    (r"^(.*)\.residual\.mlp\.1\.", r"time.\1."),
)
"""Published names and ours; those under `time.` belong to `UNetTime`."""


@dataclass(frozen=True, slots=True)
class UNetConfig:
    """The sizes of the estimator; the defaults are the released ones."""

    inputs: int = 320
    outputs: int = 80
    channels: int = 256
    heads: int = 8
    head_width: int = 64
    transformers: int = 4
    """Transformer blocks after each convolution block."""
    mid_blocks: int = 12


class UNetTime(nn.Module):
    """What the estimator is told about a point in time: one vector for each of its convolution blocks."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        self.inputs = config.inputs
        inner = 4 * config.channels
        self.linear_1 = nn.Linear(config.inputs, inner)
        self.linear_2 = nn.Linear(inner, inner)
        self.down = nn.Linear(inner, config.channels)
        self.middle = nn.ModuleList(nn.Linear(inner, config.channels) for _ in range(config.mid_blocks))
        self.up = nn.Linear(inner, config.channels)

    def embed(self, times: Tensor) -> Tensor:
        """Times [n] as [n, 4 * channels]."""
        out: Tensor = self.linear_2(functional.silu(self.linear_1(time_code(times, self.inputs))))
        return out

    def forward(self, times: Tensor) -> Tensor:
        """Times [n] as [n, blocks, channels]."""
        activated = functional.mish(self.embed(times))
        return torch.stack([linear(activated) for linear in (self.down, *self.middle, self.up)], dim=1)


class UNet(nn.Module):
    """The velocity of a mel spectrogram at one point of the flow."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        width = config.channels
        self.down = _Level(config, config.inputs)
        self.down_conv = CausalConv(width, width, 3)
        self.middle = nn.ModuleList(_Level(config, width) for _ in range(config.mid_blocks))
        self.up = _Level(config, 2 * width)
        self.up_conv = CausalConv(width, width, 3)
        self.final = _ConvBlock(width, width)
        self.final_proj = nn.Conv1d(width, config.outputs, 1)

    def forward(self, point: FlowPoint, time: Tensor, memory: Memory, sight: Sight) -> Tensor:
        """The velocity [batch, bins, frames]; `time` [blocks, channels] is of `UNetTime`."""
        speaker = point.speaker[:, :, None].expand_as(point.mel)
        inputs = torch.cat((point.mel, point.mu, speaker, point.condition), dim=1)
        skip = self.down(inputs, time[0], memory, sight)
        frames = self.down_conv(skip, memory)
        for level, moment in zip(self.middle, time[1:-1], strict=True):
            frames = level(frames, moment, memory, sight)
        frames = self.up(torch.cat((frames, skip), dim=1), time[-1], memory, sight)
        velocity: Tensor = self.final_proj(self.final(self.up_conv(frames, memory), memory))
        return velocity


class _Level(nn.Module):
    def __init__(self, config: UNetConfig, inputs: int) -> None:
        super().__init__()
        self.residual = _Residual(inputs, config.channels)
        self.transformers = nn.ModuleList(_Transformer(config) for _ in range(config.transformers))

    def forward(self, frames: Tensor, time: Tensor, memory: Memory, sight: Sight) -> Tensor:
        rows: Tensor = self.residual(frames, time, memory).transpose(1, 2)
        for transformer in self.transformers:
            rows = transformer(rows, memory, sight)
        return rows.transpose(1, 2)


class _Residual(nn.Module):
    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.block1 = _ConvBlock(inputs, channels)
        self.block2 = _ConvBlock(channels, channels)
        self.res_conv = nn.Conv1d(inputs, channels, 1)

    def forward(self, frames: Tensor, time: Tensor, memory: Memory) -> Tensor:
        inner = self.block1(frames, memory) + time[:, None]
        out: Tensor = self.block2(inner, memory) + self.res_conv(frames)
        return out


class _ConvBlock(nn.Module):
    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.conv = CausalConv(inputs, channels, 3)
        self.norm = nn.LayerNorm(channels)

    def forward(self, frames: Tensor, memory: Memory) -> Tensor:
        normed = self.norm(self.conv(frames, memory).transpose(1, 2))
        return functional.mish(normed).transpose(1, 2)


def _fed(
    rows: Tensor, scale: Tensor, shift: Tensor, within: Tensor, bias: Tensor, out: Tensor, out_bias: Tensor
) -> Tensor:
    """A block's second half: two layers on each row by itself."""
    normed = functional.layer_norm(rows, rows.shape[-1:], scale, shift)
    return rows + functional.linear(functional.gelu(functional.linear(normed, within, bias)), out, out_bias)


class _Transformer(Fusible):
    def __init__(self, config: UNetConfig) -> None:
        super().__init__(_fed)
        self.norm1 = nn.LayerNorm(config.channels)
        self.attn1 = _Attention(config)
        self.norm3 = nn.LayerNorm(config.channels)
        self.ff_in = nn.Linear(config.channels, 4 * config.channels)
        self.ff_out = nn.Linear(4 * config.channels, config.channels)

    def forward(self, rows: Tensor, memory: Memory, sight: Sight) -> Tensor:
        rows = rows + self.attn1(self.norm1(rows), memory, sight)
        norm, within, out = self.norm3, self.ff_in, self.ff_out
        return self.fused(rows, norm.weight, norm.bias, within.weight, within.bias, out.weight, out.bias)


class _Attention(nn.Module):
    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        self.heads = config.heads
        inner = config.heads * config.head_width
        self.to_q = nn.Linear(config.channels, inner, bias=False)
        self.to_k = nn.Linear(config.channels, inner, bias=False)
        self.to_v = nn.Linear(config.channels, inner, bias=False)
        self.to_out = nn.Linear(inner, config.channels)

    def forward(self, rows: Tensor, memory: Memory, sight: Sight) -> Tensor:
        query = split_heads(self.to_q(rows), self.heads)
        key = memory.history(split_heads(self.to_k(rows), self.heads))
        value = memory.history(split_heads(self.to_v(rows), self.heads))
        out: Tensor = self.to_out(merge_heads(attend(query, key, value, sight.mask(query, key))))
        return out
