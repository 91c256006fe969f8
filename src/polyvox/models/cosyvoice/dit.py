"""CosyVoice 3's velocity estimator: a diffusion transformer with adaptive layer norm."""

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
    (r"^input_embed\.conv_pos_embed\.conv([12])\.0\.", r"input_conv\1."),
    (r"^input_embed\.proj\.", "input_proj."),
    (r"^rotary_embed\.inv_freq$", "rates"),
    (r"^time_embed\.time_mlp\.0\.", "time.linear_1."),
    (r"^time_embed\.time_mlp\.2\.", "time.linear_2."),
    (r"^transformer_blocks\.(\d+)\.attn_norm\.linear\.", r"time.blocks.\1."),
    (r"^norm_out\.linear\.", "time.final."),
    (r"^transformer_blocks\.", "blocks."),
    (r"\.to_out\.0\.", ".to_out."),
    (r"\.ff\.ff\.0\.0\.", ".ff_in."),
    (r"\.ff\.ff\.2\.", ".ff_out."),
)
"""Parameter names: published and ours; those under `time.` belong to `DiTTime`."""

EPS = 1e-6
_TIME_CODE = 256
_CONV_KERNEL = 31
_CONV_GROUPS = 16


@dataclass(frozen=True, slots=True)
class DiTConfig:
    """Sizes of the estimator; the defaults are those of the released model."""

    width: int = 1024
    depth: int = 22
    heads: int = 16
    head_width: int = 64
    feed_forward: int = 2048
    bins: int = 80


class DiTTime(nn.Module):
    """Time conditioning of the estimator: shift, scale and gate vectors, six for each block and two for the output.

    Scales have one added, so that they can serve as weights of a layer norm. These layers are 42 % of the released
    parameters but see only the ten times of the schedule, so their outputs become a table.
    """

    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.width = config.width
        self.linear_1 = nn.Linear(_TIME_CODE, config.width)
        self.linear_2 = nn.Linear(config.width, config.width)
        self.blocks = nn.ModuleList(nn.Linear(config.width, 6 * config.width) for _ in range(config.depth))
        self.final = nn.Linear(config.width, 2 * config.width)

    def embed(self, times: Tensor) -> Tensor:
        """Embed times [n] as [n, width]."""
        out: Tensor = self.linear_2(functional.silu(self.linear_1(timestep_embedding(times, _TIME_CODE))))
        return out

    def forward(self, times: Tensor) -> Tensor:
        """Modulation vectors [n, 6 * depth + 2, width] of times [n]."""
        activated = functional.silu(self.embed(times))
        outputs = [linear(activated) for linear in (*self.blocks, self.final)]
        vectors = torch.cat(outputs, dim=1).view(len(times), -1, self.width)
        vectors[:, 1:-2:3] += 1
        vectors[:, -2] += 1
        return vectors


class DiT(nn.Module):
    """Velocity of the mel spectrogram at one point of the flow."""

    rates: Tensor

    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.input_proj = nn.Linear(4 * config.bins, config.width)
        self.input_conv1 = CausalConv(config.width, config.width, _CONV_KERNEL, groups=_CONV_GROUPS)
        self.input_conv2 = CausalConv(config.width, config.width, _CONV_KERNEL, groups=_CONV_GROUPS)
        self.register_buffer("rates", torch.empty(config.head_width // 2))
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.depth))
        self.proj_out = nn.Linear(config.width, config.bins)

    def forward(self, point: FlowPoint, time: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """The velocity [batch, bins, frames]; `time` [vectors, width] comes from `DiTTime`."""
        rows = self.embed(point, cache)
        angles = mask.positions(rows.shape[1], rows.device)[..., None] * self.rates.float()
        sin = angles.sin()
        rotation = (
            angles.cos().repeat_interleave(2, dim=-1).to(rows.dtype),
            torch.stack((-sin, sin), dim=-1).flatten(-2).to(rows.dtype),
        )
        for layer, moment in zip(self.blocks, time[:-2].view(len(self.blocks), 6, -1), strict=True):
            rows = layer(rows, moment, cache, rotation, mask)
        scale, shift = time[-2:]
        velocity: Tensor = self.proj_out(modulate(rows, shift, scale))
        return velocity.transpose(1, 2)

    def embed(self, point: FlowPoint, cache: LayerCache) -> Tensor:
        """Input rows with a convolutional position embedding."""
        speaker = point.speaker[:, :, None].expand_as(point.mel)
        inputs = torch.cat((point.mel, point.condition, point.mu, speaker), dim=1)
        frames = self.input_proj(inputs.transpose(1, 2)).transpose(1, 2)
        inner = functional.mish(self.input_conv1(frames, cache))
        embedded: Tensor = frames + functional.mish(self.input_conv2(inner, cache))
        return embedded.transpose(1, 2)


def modulate(rows: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    """Adaptive layer norm."""
    return functional.layer_norm(rows, rows.shape[-1:], scale, shift, EPS)


def _feed_forward(
    rows: Tensor,
    shift: Tensor,
    scale: Tensor,
    gate: Tensor,
    within: Tensor,
    bias: Tensor,
    out: Tensor,
    out_bias: Tensor,
) -> Tensor:
    """The feed-forward half of a block, with its norm, gate and residual."""
    inner = functional.gelu(functional.linear(modulate(rows, shift, scale), within, bias), approximate="tanh")
    return torch.addcmul(rows, gate, functional.linear(inner, out, out_bias))


class _Block(CompilableBlock):
    def __init__(self, config: DiTConfig) -> None:
        super().__init__(_feed_forward)
        self.attn = _Attention(config)
        self.ff_in = nn.Linear(config.width, config.feed_forward)
        self.ff_out = nn.Linear(config.feed_forward, config.width)

    def forward(
        self,
        rows: Tensor,
        time: Tensor,
        cache: LayerCache,
        rotation: tuple[Tensor, Tensor],
        mask: BlockCausalMask,
    ) -> Tensor:
        shift, scale, gate, ff_shift, ff_scale, ff_gate = time
        rows = torch.addcmul(rows, gate, self.attn(modulate(rows, shift, scale), cache, rotation, mask))
        within, out = self.ff_in, self.ff_out
        return self.feed_forward(rows, ff_shift, ff_scale, ff_gate, within.weight, within.bias, out.weight, out.bias)


class _Attention(nn.Module):
    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        inner = config.heads * config.head_width
        self.to_q = nn.Linear(config.width, inner)
        self.to_k = nn.Linear(config.width, inner)
        self.to_v = nn.Linear(config.width, inner)
        self.to_out = nn.Linear(inner, config.width)

    def forward(
        self, rows: Tensor, cache: LayerCache, rotation: tuple[Tensor, Tensor], mask: BlockCausalMask
    ) -> Tensor:
        query = _rotate_first_head(split_heads(self.to_q(rows), self.heads), rotation)
        key = _rotate_first_head(split_heads(self.to_k(rows), self.heads), rotation)
        value = split_heads(self.to_v(rows), self.heads)
        out: Tensor = self.to_out(merge_heads(cache.attend(query, key, value, mask)))
        return out


def _rotate_first_head(heads: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Apply rotary positions to the first head, in place, over interleaved pairs.

    The model was trained without positions on the other heads.
    """
    cos, sin = rotation
    first = heads[:, :1]
    swapped = first.view(*first.shape[:-1], -1, 2).flip(-1).flatten(-2)
    first.copy_(torch.addcmul(first * cos, swapped, sin))
    return heads
