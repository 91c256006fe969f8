"""ZipVoice's Zipformer. Rows of different lengths share a batch; none depends on its batch-mates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import StateDict, renamed

_NAMES = (
    (r"^encoders\.(\d+)\.(?:encoder\.)?", r"stacks.\1."),
    (r"\.time_emb\.1\.", ".time."),
    (r"\.downsample\.bias$", ".downsample_bias"),
    (r"\.out_combiner\.bypass_scale$", ".bypass_scale"),
    (r"\.bypass(_mid)?\.bypass_scale$", r".bypass\1"),
)
SLOPE = 0.08
# Swoosh is softplus(x - shift) - 0.08 x - offset, with these pairs of shift and offset.
SWOOSH_L = (4.0, 0.035)
SWOOSH_R = (1.0, 0.313261687)
_SOFTPLUS_LINEAR = 20.0
"""From here on softplus equals its argument, to the last bit of single precision."""
_CACHE_BLOCK = 65_536
"""Values of an activation that fit a core's own cache along with their results."""


@dataclass(frozen=True, slots=True)
class ZipformerConfig:
    """The sizes of one network; `layers`, `kernels` and `downsampling` have an entry for each stack."""

    inputs: int
    outputs: int
    width: int
    feed_forward: int
    heads: int
    layers: tuple[int, ...]
    kernels: tuple[int, ...]
    downsampling: tuple[int, ...]
    time: int | None = None
    query_head: int = 32
    value_head: int = 12
    position_head: int = 4
    position: int = 48


@dataclass(frozen=True, slots=True)
class PaddingMask:
    """The lengths of a batch's rows, [batch]; `mask` [batch, frames] is true at padding, None where no row has any."""

    frames: int
    lengths: Tensor
    mask: Tensor | None

    @classmethod
    def of(cls, lengths: Sequence[int], frames: int, device: torch.device) -> "PaddingMask":
        tensor = torch.tensor(lengths, device=device)
        if min(lengths) == frames:
            return cls(frames, tensor, None)
        return cls.static(tensor, frames)

    @classmethod
    def static(cls, lengths: Tensor, frames: int) -> "PaddingMask":
        """The mask of lengths that only the device knows: there always is one, so that a CUDA graph fits all."""
        return cls(frames, lengths, torch.arange(frames, device=lengths.device) >= lengths[:, None])

    def downsample(self, factor: int) -> "PaddingMask":
        """The mask once every `factor` frames have become one; the last group of a row may be incomplete."""
        mask = None if self.mask is None else self.mask[:, ::factor]
        return PaddingMask(-(-self.frames // factor), -(-self.lengths // factor), mask)

    def repeat_last(self, rows: Tensor, frames: int) -> Tensor:
        """Rows of `frames` frames, padded with each row's own last frame."""
        if self.mask is None and frames == self.frames:
            return rows
        indices = torch.arange(frames, device=rows.device).minimum(self.lengths[:, None] - 1)
        return rows.gather(1, indices[:, :, None].expand(-1, -1, rows.shape[2]))


class ZipformerKernels(Protocol):
    """Fused kernels for the parts of a layer, as in `zipformer_kernels`."""

    def swoosh(self, rows: Tensor, slope: float) -> Tensor: ...

    def relative_table(self, positions: Tensor, weight: Tensor, heads: int) -> Tensor: ...

    def attention(
        self,
        projected: Tensor,
        table: Tensor,
        values: Tensor,
        lengths: Tensor,
        heads: int,
        sizes: tuple[int, int, int],
    ) -> Tensor: ...

    def attention_weights(
        self,
        projected: Tensor,
        table: Tensor,
        lengths: Tensor,
        heads: int,
        sizes: tuple[int, int, int],
        count: int,
    ) -> Tensor: ...

    def gated_values(self, projected: Tensor) -> Tensor: ...

    def gated_output(self, attended: Tensor, projected: Tensor) -> Tensor: ...

    def gated_conv(
        self, projected: Tensor, weight: Tensor, bias: Tensor, mask: Tensor | None, slope: float
    ) -> Tensor: ...

    def add_time(self, rows: Tensor, more: Tensor | None, time_bias: Tensor) -> Tensor: ...

    def add_bypass(self, rows: Tensor, out: Tensor, more: Tensor, bypass: Tensor) -> Tensor: ...

    def norm_bypass(
        self, rows: Tensor, out: Tensor, more: Tensor, bias: Tensor, log_scale: Tensor, bypass: Tensor
    ) -> Tensor: ...


class Zipformer(nn.Module):
    """A sequence of stacks, of which the middle ones run at a lower frame rate."""

    def __init__(self, config: ZipformerConfig) -> None:
        super().__init__()
        self.in_proj = nn.Linear(config.inputs, config.width)
        self.stacks = nn.ModuleList(ZipformerStack(config, index) for index in range(len(config.layers)))
        self.out_proj = nn.Linear(config.width, config.outputs)

    def forward(
        self,
        rows: Tensor,
        padding: PaddingMask,
        time: Tensor | None = None,
        positions: Mapping[int, Tensor] | None = None,
    ) -> Tensor:
        """Rows [batch, frames, inputs] and, in a decoder, the time embedding [batch, width]: [..., outputs].

        Frames beyond a row's length do not influence the row; the output there is undefined. `positions` are those of
        `position_table`, where they are at hand.
        """
        rows = self.in_proj(rows)
        for stack in self.stacks:
            rows = stack(rows, padding, time, positions)
        out: Tensor = self.out_proj(rows)
        return out

    def use_kernels(self, kernels: ZipformerKernels | None) -> None:
        """Let all layers use fused kernels, or none."""
        for module in self.modules():
            if isinstance(module, ZipformerLayer | FeedForward | Convolution):
                module.kernels = kernels

    def position_table(self, frames: int) -> dict[int, Tensor]:
        """The relative positions of rows of so many frames, for each frame rate, by the number of frames there."""
        weight = self.in_proj.weight
        return {
            count: relative_positions(count, stack.position, weight.device).to(weight.dtype)
            for stack in self.stacks
            if isinstance(stack, ZipformerStack)
            for count in (-(-frames // stack.factor),)
        }


class ZipformerStack(nn.Module):
    """Layers at one frame rate. With a factor above 1, frames are downsampled before them and repeated after them."""

    def __init__(self, config: ZipformerConfig, index: int) -> None:
        super().__init__()
        self.factor = config.downsampling[index]
        self.position = config.position
        self.layers = nn.ModuleList(ZipformerLayer(config, config.kernels[index]) for _ in range(config.layers[index]))
        if config.time is not None:
            self.time = nn.Linear(config.time, config.width)
        if self.factor > 1:
            self.downsample_bias = nn.Parameter(torch.empty(self.factor))
            self.bypass_scale = nn.Parameter(torch.empty(config.width))

    def forward(
        self, rows: Tensor, padding: PaddingMask, time: Tensor | None, positions: Mapping[int, Tensor] | None = None
    ) -> Tensor:
        time_bias = None if time is None else self.time(swoosh_r(time))[:, None]
        if self.factor == 1:
            return self.run_layers(rows, padding, time_bias, positions)
        short = self.run_layers(self.downsample(rows, padding), padding.downsample(self.factor), time_bias, positions)
        upsampled = short.repeat_interleave(self.factor, dim=1)[:, : padding.frames]
        return rows.lerp(upsampled, self.bypass_scale)

    def downsample(self, rows: Tensor, padding: PaddingMask) -> Tensor:
        """A weighted mean of every `factor` frames."""
        groups = -(-padding.frames // self.factor)
        full = padding.repeat_last(rows, groups * self.factor)
        weights = self.downsample_bias.softmax(dim=0)[:, None]
        return (full.view(len(rows), groups, self.factor, -1) * weights).sum(dim=2)

    def run_layers(
        self, rows: Tensor, padding: PaddingMask, time_bias: Tensor | None, positions: Mapping[int, Tensor] | None
    ) -> Tensor:
        """The rows after all layers; `time_bias` is [batch, 1, width]."""
        relative = None if positions is None else positions.get(padding.frames)
        if relative is None:
            relative = relative_positions(padding.frames, self.position, rows.device).to(rows.dtype)
        for layer in self.layers:
            rows = layer(rows, relative, padding, time_bias)
        return rows


class ZipformerLayer(nn.Module):
    """Attention weights are computed once and used three times, between feed-forwards and convolutions."""

    kernels: ZipformerKernels | None = None

    def __init__(self, config: ZipformerConfig, kernel: int) -> None:
        super().__init__()
        width, feed_forward = config.width, config.feed_forward
        self.self_attn_weights = AttentionWeights(config)
        self.feed_forward1 = FeedForward(width, feed_forward * 3 // 4)
        self.nonlin_attention = GatedAttention(width, width * 3 // 4)
        self.self_attn1 = Attention(config)
        self.conv_module1 = Convolution(width, kernel)
        self.feed_forward2 = FeedForward(width, feed_forward)
        self.bypass_mid = nn.Parameter(torch.empty(width))
        self.self_attn2 = Attention(config)
        self.conv_module2 = Convolution(width, kernel)
        self.feed_forward3 = FeedForward(width, feed_forward * 5 // 4)
        self.norm = BiasNorm(width)
        self.bypass = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor, positions: Tensor, padding: PaddingMask, time_bias: Tensor | None) -> Tensor:
        if self.kernels is not None:
            return self._fused(self.kernels, rows, positions, padding, time_bias)
        mask = padding.mask
        weights = self.self_attn_weights(rows, positions, mask)
        out = self.add_time(rows, time_bias)
        out = out + self.feed_forward1(out)
        out = out + self.nonlin_attention(out, weights[:, 0])
        out = out + self.self_attn1(out, weights)
        out = self.add_time(out, time_bias)
        out = out + self.conv_module1(out, mask)
        out = out + self.feed_forward2(out)
        out = rows.lerp(out, self.bypass_mid)
        out = out + self.self_attn2(out, weights)
        out = self.add_time(out, time_bias)
        out = out + self.conv_module2(out, mask)
        out = out + self.feed_forward3(out)
        return rows.lerp(self.norm(out), self.bypass)

    def _fused(
        self,
        kernels: ZipformerKernels,
        rows: Tensor,
        positions: Tensor,
        padding: PaddingMask,
        time_bias: Tensor | None,
    ) -> Tensor:
        """The same by kernels. The first head's weights alone are kept; those of all are computed at each use."""
        scores = self.self_attn_weights
        projected = scores.in_proj(rows)
        table = kernels.relative_table(positions, scores.linear_pos.weight, scores.heads)
        given = (padding.lengths, scores.heads, scores.sizes)

        def attend(module: Attention, out: Tensor) -> Tensor:
            """The rows with the attention's output and the time bias added."""
            attended = module.out_proj(kernels.attention(projected, table, module.in_proj(out), *given))
            return out + attended if time_bias is None else kernels.add_time(out, attended, time_bias)

        out = rows if time_bias is None else kernels.add_time(rows, None, time_bias)
        out = out + self.feed_forward1(out)
        weights = kernels.attention_weights(projected, table, *given, 1)
        out = out + self.nonlin_attention.fused(kernels, out, weights[:, 0])
        out = attend(self.self_attn1, out)
        out = out + self.conv_module1(out, padding.mask)
        out = kernels.add_bypass(rows, out, self.feed_forward2(out), self.bypass_mid)
        out = attend(self.self_attn2, out)
        out = out + self.conv_module2(out, padding.mask)
        more = self.feed_forward3(out)
        return kernels.norm_bypass(rows, out, more, self.norm.bias, self.norm.log_scale, self.bypass)

    @staticmethod
    def add_time(rows: Tensor, time_bias: Tensor | None) -> Tensor:
        """The rows with the time bias added; the text encoder has none."""
        return rows if time_bias is None else rows + time_bias


class AttentionWeights(nn.Module):
    """Attention weights from query-key scores plus scores of the query with the relative position."""

    def __init__(self, config: ZipformerConfig) -> None:
        super().__init__()
        self.sizes = (config.query_head, config.query_head, config.position_head)
        self.heads = config.heads
        self.in_proj = nn.Linear(config.width, config.heads * sum(self.sizes))
        self.linear_pos = nn.Linear(config.position, config.heads * config.position_head, bias=False)

    def forward(self, rows: Tensor, positions: Tensor, mask: Tensor | None) -> Tensor:
        """[batch, heads, frames, frames], a softmax over the last axis."""
        batch, frames, _ = rows.shape
        parts = self.in_proj(rows).split([self.heads * size for size in self.sizes], dim=2)
        query, key, position = (part.view(batch, frames, self.heads, -1).transpose(1, 2) for part in parts)
        relative = self.linear_pos(positions).view(2 * frames - 1, self.heads, -1).permute(1, 2, 0)
        weights = rows.new_empty(batch, self.heads, frames, frames)
        # On a CPU row by row: the scores of several rows exceed the cache, and their memory is mapped anew each time.
        rows_at_once = 1 if rows.device.type == "cpu" else batch
        for first in range(0, batch, rows_at_once):
            some = slice(first, first + rows_at_once)
            by_position = _by_key(position[some] @ relative).flatten(0, 1)
            scores = torch.baddbmm(by_position, query[some].flatten(0, 1), key[some].transpose(2, 3).flatten(0, 1))
            scores = scores.view(-1, self.heads, frames, frames)
            if mask is not None:
                scores.masked_fill_(mask[some, None, None], -math.inf)
            torch.softmax(scores, dim=-1, out=weights[some])
        return weights


def _by_key(by_position: Tensor) -> Tensor:
    """Scores by relative position, [..., frames, 2 * frames - 1] from the farthest key before on, as scores by key."""
    batch, heads, frames, columns = by_position.shape
    strides = (heads * frames * columns, frames * columns, columns - 1, 1)
    return by_position.contiguous().as_strided((batch, heads, frames, frames), strides, frames - 1)


class Attention(nn.Module):
    """Values weighted by given attention weights."""

    def __init__(self, config: ZipformerConfig) -> None:
        super().__init__()
        self.in_proj = nn.Linear(config.width, config.heads * config.value_head)
        self.out_proj = nn.Linear(config.heads * config.value_head, config.width)

    def forward(self, rows: Tensor, weights: Tensor) -> Tensor:
        batch, frames, _ = rows.shape
        values = self.in_proj(rows).view(batch, frames, weights.shape[1], -1).transpose(1, 2)
        out: Tensor = self.out_proj((weights @ values).transpose(1, 2).flatten(2))
        return out


class GatedAttention(nn.Module):
    """Values weighted by the first head's attention, gated before and after."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, 3 * hidden)
        self.out_proj = nn.Linear(hidden, width)

    def forward(self, rows: Tensor, weights: Tensor) -> Tensor:
        gate, values, after = self.in_proj(rows).chunk(3, dim=2)
        out: Tensor = self.out_proj(weights @ (values * gate.tanh()) * after)
        return out

    def fused(self, kernels: ZipformerKernels, rows: Tensor, weights: Tensor) -> Tensor:
        """The same by kernels."""
        projected = self.in_proj(rows)
        out: Tensor = self.out_proj(kernels.gated_output(weights @ kernels.gated_values(projected), projected))
        return out


class FeedForward(nn.Module):
    """Two projections around a swoosh."""

    kernels: ZipformerKernels | None = None

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, hidden)
        self.out_proj = nn.Linear(hidden, width)

    def forward(self, rows: Tensor) -> Tensor:
        hidden = self.in_proj(rows)
        hidden = _shifted_swoosh(hidden) if self.kernels is None else self.kernels.swoosh(hidden, SLOPE)
        out: Tensor = self.out_proj(hidden)
        return out


class Convolution(nn.Module):
    """A gated depthwise convolution over time; frames beyond a row's ends count as zeros."""

    kernels: ZipformerKernels | None = None

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, 2 * width)
        self.depthwise_conv = DepthwiseConv(width, kernel)
        self.out_proj = nn.Linear(width, width)

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        projected, conv = self.in_proj(rows), self.depthwise_conv
        if self.kernels is not None:
            hidden = self.kernels.gated_conv(projected, conv.weight, conv.bias, mask, SLOPE)
        else:
            gated = functional.glu(projected, dim=2)
            if mask is not None:
                gated = gated.masked_fill(mask[:, :, None], 0.0)
            hidden = _shifted_swoosh(conv(gated))
        out: Tensor = self.out_proj(hidden)
        return out


class ConvKernel(Protocol):
    """A kernel for `DepthwiseConv`, as in `zipformer_kernels`."""

    def __call__(self, rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...


class DepthwiseConv(nn.Module):
    """A centred depthwise convolution over time of rows [batch, frames, channels]."""

    kernel: ConvKernel | None = None

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, 1, kernel))
        self.bias = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor) -> Tensor:
        """The output has as many frames as the input."""
        if self.kernel is not None:
            return self.kernel(rows, self.weight, self.bias)
        # As an image of height 1 in channels-last layout the rows need no transposition: 30 times as fast on a CPU.
        width, _, kernel = self.weight.shape
        image = rows[:, None].permute(0, 3, 1, 2)
        out = functional.conv2d(image, self.weight[:, :, None], self.bias, padding=(0, kernel // 2), groups=width)
        return out.permute(0, 2, 3, 1)[:, 0]


class BiasNorm(nn.Module):
    """RMS normalisation to a learned scale, with a learned bias subtracted only where the RMS is measured."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.empty(()))
        self.bias = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor) -> Tensor:
        # In single precision: the squares of a few hundred exceed what 16 bits hold.
        power = (rows - self.bias).float().square().mean(dim=-1, keepdim=True)
        return rows * (power.rsqrt() * self.log_scale.exp()).to(rows.dtype)


def relative_positions(frames: int, width: int, device: torch.device) -> Tensor:
    """The encoding of every relative position from -(frames - 1) to frames - 1, [2 * frames - 1, width].

    Cosines and sines of distances compressed by a logarithm and an arc tangent, so that near ones differ most; the last
    column is 1.
    """
    distance = torch.arange(1 - frames, frames, device=device, dtype=torch.float32)
    scale = math.sqrt(width)
    compressed = scale * distance.sign() * ((distance.abs() + scale).log() - math.log(scale))
    angles = (compressed * (2 * math.pi / width)).atan()[:, None] * torch.arange(1, width // 2 + 1, device=device)
    encoding = torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(1)
    encoding[:, -1] = 1.0
    return encoding


def swoosh_r(rows: Tensor) -> Tensor:
    """SwooshR, with shift and offset applied; inside the layers they are part of the biases."""
    shift, offset = SWOOSH_R
    return _shifted_swoosh(rows - shift) - (SLOPE * shift + offset)


def _shifted_swoosh(rows: Tensor) -> Tensor:
    """SwooshL and SwooshR without shift and offset, which `zipformer_state` moves into the layers around them."""
    if rows.device.type != "cpu" or rows.dtype != torch.float32 or torch.get_num_threads() > 1:
        return functional.softplus(rows).add_(rows, alpha=-SLOPE)
    # A single thread is twice as fast with the vector library's exponentials and logarithms, as long as their operands
    # stay in its cache. Threads that share an operation would wait for each other after each of these.
    rows = rows.contiguous()
    out = torch.empty_like(rows)
    for block, soft in zip(_cache_blocks(rows), _cache_blocks(out), strict=True):
        torch.clamp(block, max=_SOFTPLUS_LINEAR, out=soft).exp_().add_(1.0).log_()
        torch.maximum(soft, block, out=soft).add_(block, alpha=-SLOPE)
    return out


def _cache_blocks(rows: Tensor) -> Sequence[Tensor]:
    return torch.split(rows.view(-1), _CACHE_BLOCK)


def zipformer_state(state: StateDict) -> dict[str, Tensor]:
    """A published state dict under this module's names, with the activations' shifts and offsets in the biases."""
    ours = renamed(_NAMES, state)
    for name in [name for name in ours if name.endswith((".in_proj.bias", ".depthwise_conv.bias"))]:
        module = name.rsplit(".", 2)[0]
        if ".feed_forward" in name:
            _absorb(ours, name, module, SWOOSH_L)
        elif name.endswith(".depthwise_conv.bias"):
            _absorb(ours, name, module, SWOOSH_R)
    return ours


def _absorb(state: dict[str, Tensor], before: str, module: str, swoosh: tuple[float, float]) -> None:
    """Move an activation's shift into the bias before it and its offset into the bias of the projection after it."""
    shift, offset = swoosh
    weight, bias = state[f"{module}.out_proj.weight"], state[f"{module}.out_proj.bias"]
    state[before] = state[before] - shift
    state[f"{module}.out_proj.bias"] = bias - (SLOPE * shift + offset) * weight.sum(dim=1)
