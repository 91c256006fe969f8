"""ZipVoice's Zipformer: rows of many lengths in one batch, each computed as if it were alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import StateDict, renamed

_NAMES = (
    (r"^encoders\.(\d+)\.(?:encoder\.)?", r"stacks.\1."),
    (r"\.time_emb\.1\.", ".time."),
    (r"\.downsample\.bias$", ".pooling"),
    (r"\.out_combiner\.bypass_scale$", ".mixing"),
    (r"\.bypass(_mid)?\.bypass_scale$", r".bypass\1"),
)
SLOPE = 0.08
# Swoosh is softplus(x - shift) - 0.08 x - offset, with these pairs of shift and offset.
SWOOSH_L = (4.0, 0.035)
SWOOSH_R = (1.0, 0.313261687)
_STRAIGHT = 20.0
"""From here on softplus is its argument, to the last bit of single precision."""
_PIECE = 65_536
"""Values of an activation that a core's own cache holds along with their results."""


@dataclass(frozen=True, slots=True)
class ZipformerConfig:
    """The sizes of one network; `layers`, `kernels` and `rates` have an entry for each stack."""

    inputs: int
    outputs: int
    width: int
    feed_forward: int
    heads: int
    layers: tuple[int, ...]
    kernels: tuple[int, ...]
    rates: tuple[int, ...]
    time: int | None = None
    query_head: int = 32
    value_head: int = 12
    position_head: int = 4
    position: int = 48


@dataclass(frozen=True, slots=True)
class Extent:
    """How far each row of a batch reaches: `lengths` [batch], and where all rows are full no mask at all."""

    frames: int
    lengths: Tensor
    padding: Tensor | None

    @classmethod
    def of(cls, lengths: Sequence[int], frames: int, device: torch.device) -> "Extent":
        tensor = torch.tensor(lengths, device=device)
        if min(lengths) == frames:
            return cls(frames, tensor, None)
        return cls(frames, tensor, torch.arange(frames, device=device) >= tensor[:, None])

    def pooled(self, rate: int) -> "Extent":
        """The extent once every `rate` frames have become one; the last ones of a row may be fewer."""
        padding = None if self.padding is None else self.padding[:, ::rate]
        return Extent(-(-self.frames // rate), -(-self.lengths // rate), padding)

    def extended(self, rows: Tensor, frames: int) -> Tensor:
        """Rows of `frames` frames in which each row's last frame of its own is repeated to the end."""
        if self.padding is None and frames == self.frames:
            return rows
        places = torch.arange(frames, device=rows.device).minimum(self.lengths[:, None] - 1)
        return rows.gather(1, places[:, :, None].expand(-1, -1, rows.shape[2]))


class Zipformer(nn.Module):
    """A row of stacks, of which the middle ones see a shortened time."""

    def __init__(self, config: ZipformerConfig) -> None:
        super().__init__()
        self.in_proj = nn.Linear(config.inputs, config.width)
        self.stacks = nn.ModuleList(Stack(config, index) for index in range(len(config.layers)))
        self.out_proj = nn.Linear(config.width, config.outputs)

    def forward(self, rows: Tensor, extent: Extent, time: Tensor | None = None) -> Tensor:
        """Rows [batch, frames, inputs] and, where the network knows time, `time` [batch, width]: [..., outputs].

        What stands beyond a row's length has no influence on the row; the result there means nothing.
        """
        rows = self.in_proj(rows)
        for stack in self.stacks:
            rows = stack(rows, extent, time)
        out: Tensor = self.out_proj(rows)
        return out


class Stack(nn.Module):
    """Layers at one rate. At a rate above 1 the frames are pooled before them and repeated after them."""

    def __init__(self, config: ZipformerConfig, index: int) -> None:
        super().__init__()
        self.rate = config.rates[index]
        self.position = config.position
        self.layers = nn.ModuleList(Layer(config, config.kernels[index]) for _ in range(config.layers[index]))
        if config.time is not None:
            self.time = nn.Linear(config.time, config.width)
        if self.rate > 1:
            self.pooling = nn.Parameter(torch.empty(self.rate))
            self.mixing = nn.Parameter(torch.empty(config.width))

    def forward(self, rows: Tensor, extent: Extent, time: Tensor | None) -> Tensor:
        moment = None if time is None else self.time(swoosh_r(time))[:, None]
        if self.rate == 1:
            return self.deepened(rows, extent, moment)
        pooled = self.deepened(self.pooled(rows, extent), extent.pooled(self.rate), moment)
        repeated = pooled.repeat_interleave(self.rate, dim=1)[:, : extent.frames]
        return rows.lerp(repeated, self.mixing)

    def pooled(self, rows: Tensor, extent: Extent) -> Tensor:
        """A weighted mean of every `rate` frames."""
        groups = -(-extent.frames // self.rate)
        full = extent.extended(rows, groups * self.rate)
        weights = self.pooling.softmax(dim=0)[:, None]
        return (full.view(len(rows), groups, self.rate, -1) * weights).sum(dim=2)

    def deepened(self, rows: Tensor, extent: Extent, moment: Tensor | None) -> Tensor:
        """The rows after all layers."""
        distances = distance_code(extent.frames, self.position, rows.device).to(rows.dtype)
        for layer in self.layers:
            rows = layer(rows, distances, extent.padding, moment)
        return rows


class Layer(nn.Module):
    """Attention is weighed once, and used three times between feed-forwards and convolutions."""

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

    def forward(self, rows: Tensor, distances: Tensor, padding: Tensor | None, moment: Tensor | None) -> Tensor:
        weights = self.self_attn_weights(rows, distances, padding)
        out = self.timed(rows, moment)
        out = out + self.feed_forward1(out)
        out = out + self.nonlin_attention(out, weights[:, 0])
        out = out + self.self_attn1(out, weights)
        out = self.timed(out, moment)
        out = out + self.conv_module1(out, padding)
        out = out + self.feed_forward2(out)
        out = rows.lerp(out, self.bypass_mid)
        out = out + self.self_attn2(out, weights)
        out = self.timed(out, moment)
        out = out + self.conv_module2(out, padding)
        out = out + self.feed_forward3(out)
        return rows.lerp(self.norm(out), self.bypass)

    @staticmethod
    def timed(rows: Tensor, moment: Tensor | None) -> Tensor:
        """The rows, told what time it is where there is one."""
        return rows if moment is None else rows + moment


class AttentionWeights(nn.Module):
    """How much each frame heeds each other: by what both hold and, apart from that, by how far they are apart."""

    def __init__(self, config: ZipformerConfig) -> None:
        super().__init__()
        self.sizes = (config.query_head, config.query_head, config.position_head)
        self.heads = config.heads
        self.in_proj = nn.Linear(config.width, config.heads * sum(self.sizes))
        self.linear_pos = nn.Linear(config.position, config.heads * config.position_head, bias=False)

    def forward(self, rows: Tensor, distances: Tensor, padding: Tensor | None) -> Tensor:
        """[batch, heads, frames, frames], adding up to 1 over the last."""
        batch, frames, _ = rows.shape
        parts = self.in_proj(rows).split([self.heads * size for size in self.sizes], dim=2)
        query, key, place = (part.view(batch, frames, self.heads, -1).transpose(1, 2) for part in parts)
        far = self.linear_pos(distances).view(2 * frames - 1, self.heads, -1).permute(1, 2, 0)
        weights = rows.new_empty(batch, self.heads, frames, frames)
        # On a CPU row by row: the scores of several fit no cache, and the system hands out their memory anew each time.
        rows_at_once = 1 if rows.device.type == "cpu" else batch
        for first in range(0, batch, rows_at_once):
            some = slice(first, first + rows_at_once)
            by_distance = _by_key(place[some] @ far).flatten(0, 1)
            scores = torch.baddbmm(by_distance, query[some].flatten(0, 1), key[some].transpose(2, 3).flatten(0, 1))
            scores = scores.view(-1, self.heads, frames, frames)
            if padding is not None:
                scores.masked_fill_(padding[some, None, None], -math.inf)
            torch.softmax(scores, dim=-1, out=weights[some])
        return weights


def _by_key(by_distance: Tensor) -> Tensor:
    """Scores by distance, [..., frames, 2 * frames - 1] from the farthest before to the farthest after, by key."""
    batch, heads, frames, columns = by_distance.shape
    strides = (heads * frames * columns, frames * columns, columns - 1, 1)
    return by_distance.contiguous().as_strided((batch, heads, frames, frames), strides, frames - 1)


class Attention(nn.Module):
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
    """What the first head gathers, gated before and after."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, 3 * hidden)
        self.out_proj = nn.Linear(hidden, width)

    def forward(self, rows: Tensor, weights: Tensor) -> Tensor:
        gate, values, after = self.in_proj(rows).chunk(3, dim=2)
        out: Tensor = self.out_proj(weights @ (values * gate.tanh()) * after)
        return out


class FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, hidden)
        self.out_proj = nn.Linear(hidden, width)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.out_proj(_shifted_swoosh(self.in_proj(rows)))
        return out


class Convolution(nn.Module):
    """Each channel by itself over neighbouring frames; beyond a row's ends there is nothing."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, 2 * width)
        self.depthwise_conv = ChannelConv(width, kernel)
        self.out_proj = nn.Linear(width, width)

    def forward(self, rows: Tensor, padding: Tensor | None) -> Tensor:
        gated = functional.glu(self.in_proj(rows), dim=2)
        if padding is not None:
            gated = gated.masked_fill(padding[:, :, None], 0.0)
        out: Tensor = self.out_proj(_shifted_swoosh(self.depthwise_conv(gated)))
        return out


class ChannelConv(nn.Module):
    """A centred convolution over time for each channel by itself, of rows [batch, frames, channels]."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, 1, kernel))
        self.bias = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor) -> Tensor:
        """As many frames as came in."""
        # As a picture one pixel high whose channels lie last, the rows need no turning: 30 times as fast on a CPU.
        width, _, kernel = self.weight.shape
        picture = rows[:, None].permute(0, 3, 1, 2)
        near = functional.conv2d(picture, self.weight[:, :, None], self.bias, padding=(0, kernel // 2), groups=width)
        return near.permute(0, 2, 3, 1)[:, 0]


class BiasNorm(nn.Module):
    """Brings each frame to a learned loudness, measured against a learned bias."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.empty(()))
        self.bias = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor) -> Tensor:
        power = (rows - self.bias).square().mean(dim=-1, keepdim=True)
        return rows * (power.rsqrt() * self.log_scale.exp())


def distance_code(frames: int, width: int, device: torch.device) -> Tensor:
    """Every distance from -(frames - 1) to frames - 1 as cosines and sines, [2 * frames - 1, width].

    Distances are bent by a logarithm and an arc tangent, so that near ones differ most; the last column is 1.
    """
    distance = torch.arange(1 - frames, frames, device=device, dtype=torch.float32)
    scale = math.sqrt(width)
    bent = scale * distance.sign() * ((distance.abs() + scale).log() - math.log(scale))
    angles = (bent * (2 * math.pi / width)).atan()[:, None] * torch.arange(1, width // 2 + 1, device=device)
    code = torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(1)
    code[:, -1] = 1.0
    return code


def swoosh_r(rows: Tensor) -> Tensor:
    """The milder of the two activations."""
    shift, offset = SWOOSH_R
    return _shifted_swoosh(rows - shift) - (SLOPE * shift + offset)


def _shifted_swoosh(rows: Tensor) -> Tensor:
    """Both activations but for their shift and offset, which `zipformer_state` moves into the layers around them."""
    if rows.device.type != "cpu" or torch.get_num_threads() > 1:
        return functional.softplus(rows).add_(rows, alpha=-SLOPE)
    # A single thread is twice as fast with the vector library's exponentials and logarithms, as long as what they work
    # on stays in its cache. Threads that share the work would have to wait for each other after each operation.
    rows = rows.contiguous()
    out = torch.empty_like(rows)
    for given, soft in zip(_in_pieces(rows), _in_pieces(out), strict=True):
        torch.clamp(given, max=_STRAIGHT, out=soft).exp_().add_(1.0).log_()
        torch.maximum(soft, given, out=soft).add_(given, alpha=-SLOPE)
    return out


def _in_pieces(rows: Tensor) -> Sequence[Tensor]:
    return torch.split(rows.view(-1), _PIECE)


def zipformer_state(state: StateDict) -> dict[str, Tensor]:
    """A published state dict under our names."""
    ours = renamed(_NAMES, state)
    for name in [name for name in ours if name.endswith((".in_proj.bias", ".depthwise_conv.bias"))]:
        module = name.rsplit(".", 2)[0]
        if ".feed_forward" in name:
            _absorb(ours, name, module, SWOOSH_L)
        elif name.endswith(".depthwise_conv.bias"):
            _absorb(ours, name, module, SWOOSH_R)
    return ours


def _absorb(state: dict[str, Tensor], before: str, module: str, swoosh: tuple[float, float]) -> None:
    """Give an activation's shift to the bias before it and its offset to the bias of the projection after it."""
    shift, offset = swoosh
    weight, bias = state[f"{module}.out_proj.weight"], state[f"{module}.out_proj.bias"]
    state[before] = state[before] - shift
    state[f"{module}.out_proj.bias"] = bias - (SLOPE * shift + offset) * weight.sum(dim=1)
