"""CosyVoice 3's velocity estimator: a diffusion transformer whose norms are steered by time."""

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
"""Published names and ours; those under `time.` belong to `DiTTime`."""

_EPS = 1e-6
_TIME_CODE = 256
_CONV_KERNEL = 31
_CONV_GROUPS = 16


@dataclass(frozen=True, slots=True)
class DiTConfig:
    """The sizes of the estimator; the defaults are the released ones."""

    width: int = 1024
    depth: int = 22
    heads: int = 16
    head_width: int = 64
    feed_forward: int = 2048
    bins: int = 80


class DiTTime(nn.Module):
    """What the estimator is told about a point in time: six vectors for each block and two for the end.

    Those that stretch normed rows have one added to them, as a norm's own weights have. These layers are 42 % of the
    released parameters and see only ten times; their answers are a table.
    """

    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.width = config.width
        self.linear_1 = nn.Linear(_TIME_CODE, config.width)
        self.linear_2 = nn.Linear(config.width, config.width)
        self.blocks = nn.ModuleList(nn.Linear(config.width, 6 * config.width) for _ in range(config.depth))
        self.final = nn.Linear(config.width, 2 * config.width)

    def embed(self, times: Tensor) -> Tensor:
        """Times [n] as [n, width]."""
        out: Tensor = self.linear_2(functional.silu(self.linear_1(time_code(times, _TIME_CODE))))
        return out

    def forward(self, times: Tensor) -> Tensor:
        """Times [n] as [n, 6 * depth + 2, width]."""
        activated = functional.silu(self.embed(times))
        answers = [linear(activated) for linear in (*self.blocks, self.final)]
        vectors = torch.cat(answers, dim=1).view(len(times), -1, self.width)
        vectors[:, 1:-2:3] += 1
        vectors[:, -2] += 1
        return vectors


class DiT(nn.Module):
    """The velocity of a mel spectrogram at one point of the flow."""

    rates: Tensor

    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.input_proj = nn.Linear(4 * config.bins, config.width)
        self.input_conv1 = CausalConv(config.width, config.width, _CONV_KERNEL, groups=_CONV_GROUPS)
        self.input_conv2 = CausalConv(config.width, config.width, _CONV_KERNEL, groups=_CONV_GROUPS)
        self.register_buffer("rates", torch.empty(config.head_width // 2))
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.depth))
        self.proj_out = nn.Linear(config.width, config.bins)

    def forward(self, point: FlowPoint, time: Tensor, memory: Memory, sight: Sight) -> Tensor:
        """The velocity [batch, bins, frames]; `time` [vectors, width] is of `DiTTime`."""
        rows = self.embed(point, memory)
        angles = sight.positions(rows.shape[1], rows.device)[:, None] * self.rates.float()
        sin = angles.sin()
        rotation = (
            angles.cos().repeat_interleave(2, dim=-1).to(rows.dtype),
            torch.stack((-sin, sin), dim=-1).flatten(-2).to(rows.dtype),
        )
        for layer, moment in zip(self.blocks, time[:-2].view(len(self.blocks), 6, -1), strict=True):
            rows = layer(rows, moment, memory, rotation, sight)
        scale, shift = time[-2:]
        velocity: Tensor = self.proj_out(modulated(rows, shift, scale))
        return velocity.transpose(1, 2)

    def embed(self, point: FlowPoint, memory: Memory) -> Tensor:
        """The input rows, each with a trace of those before it."""
        speaker = point.speaker[:, :, None].expand_as(point.mel)
        inputs = torch.cat((point.mel, point.condition, point.mu, speaker), dim=1)
        frames = self.input_proj(inputs.transpose(1, 2)).transpose(1, 2)
        near = functional.mish(self.input_conv1(frames, memory))
        traced: Tensor = frames + functional.mish(self.input_conv2(near, memory))
        return traced.transpose(1, 2)


def modulated(rows: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    """Normed rows, stretched and moved as the time asks."""
    return functional.layer_norm(rows, rows.shape[-1:], scale, shift, _EPS)


def _fed(
    rows: Tensor,
    shift: Tensor,
    scale: Tensor,
    gate: Tensor,
    within: Tensor,
    bias: Tensor,
    out: Tensor,
    out_bias: Tensor,
) -> Tensor:
    """A block's second half: two layers on each row by itself."""
    inner = functional.gelu(functional.linear(modulated(rows, shift, scale), within, bias), approximate="tanh")
    return torch.addcmul(rows, gate, functional.linear(inner, out, out_bias))


class _Block(Fusible):
    def __init__(self, config: DiTConfig) -> None:
        super().__init__(_fed)
        self.attn = _Attention(config)
        self.ff_in = nn.Linear(config.width, config.feed_forward)
        self.ff_out = nn.Linear(config.feed_forward, config.width)

    def forward(
        self,
        rows: Tensor,
        time: Tensor,
        memory: Memory,
        rotation: tuple[Tensor, Tensor],
        sight: Sight,
    ) -> Tensor:
        shift, scale, gate, ff_shift, ff_scale, ff_gate = time
        rows = torch.addcmul(rows, gate, self.attn(modulated(rows, shift, scale), memory, rotation, sight))
        within, out = self.ff_in, self.ff_out
        return self.fused(rows, ff_shift, ff_scale, ff_gate, within.weight, within.bias, out.weight, out.bias)


class _Attention(nn.Module):
    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.heads = config.heads
        inner = config.heads * config.head_width
        self.to_q = nn.Linear(config.width, inner)
        self.to_k = nn.Linear(config.width, inner)
        self.to_v = nn.Linear(config.width, inner)
        self.to_out = nn.Linear(inner, config.width)

    def forward(self, rows: Tensor, memory: Memory, rotation: tuple[Tensor, Tensor], sight: Sight) -> Tensor:
        query = _with_first_head_turned(split_heads(self.to_q(rows), self.heads), rotation)
        key = _with_first_head_turned(split_heads(self.to_k(rows), self.heads), rotation)
        value = split_heads(self.to_v(rows), self.heads)
        key, value = memory.history(key), memory.history(value)
        out: Tensor = self.to_out(merge_heads(attend(query, key, value, sight.mask(query, key))))
        return out


def _with_first_head_turned(heads: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Neighbouring pairs of the first head turned by position, where they lie.

    The model was trained with the other heads unturned.
    """
    cos, sin = rotation
    first = heads[:, :1]
    swapped = first.view(*first.shape[:-1], -1, 2).flip(-1).flatten(-2)
    first.copy_(torch.addcmul(first * cos, swapped, sin))
    return heads
