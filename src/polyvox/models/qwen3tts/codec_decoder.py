"""The tokenizer's decoder: frames of codes to samples, causal and without look-ahead, its state passed in and out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import CachedTensors, LayerCache
from polyvox.models.convolution import CausalConv
from polyvox.models.loading import StateDict, load, renamed, under
from polyvox.models.qwen3tts.codec_config import DecoderConfig, TransformerConfig
from polyvox.models.qwen3tts.codec_layers import LayerScale, RotaryAttention, Rotation, codebooks, rotation_at

SnakeKernel = Callable[[Tensor, Tensor, Tensor], Tensor]
"""`snake_kernels.snake_beta`."""
_DILATIONS = (1, 3, 9)
_CONVNEXT_EPS = 1e-6
_NAMES = (
    (r"\.conv\.(weight|bias)$", r".\1"),
    (r"^pre_transformer\.(input_proj|output_proj|norm)\.", r"\1."),
    (r"^pre_transformer\.", ""),
    (r"^decoder\.0\.", "waveform.enter."),
)


@dataclass(frozen=True, slots=True)
class CodecState:
    """State of streams: the number of frames so far [batch], and each layer's keys or last inputs.

    All shapes are fixed, so that streams of any age share a batch. Never written to.
    """

    frames: Tensor
    kept: CachedTensors


class CodecDecoder(nn.Module):
    """Each frame becomes `hop` samples at once; a stream in pieces equals the whole."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        hidden, latent = config.transformer.hidden, config.latent
        self.codebooks = nn.Parameter(torch.empty(config.groups, config.codebook, config.codebook_width))
        self.first = nn.Linear(config.codebook_width, config.quantized, bias=False)
        self.rest = nn.Linear(config.codebook_width, config.quantized, bias=False)
        self.pre_conv = CausalConv(config.quantized, latent, 3)
        self.input_proj = nn.Linear(latent, hidden)
        self.layers = nn.ModuleList(_Layer(config.transformer) for _ in range(config.transformer.layers))
        self.norm = nn.RMSNorm(hidden, config.transformer.norm_eps)
        self.output_proj = nn.Linear(hidden, latent)
        self.upsample = nn.ModuleList(_Upsample(latent, rate) for rate in config.upsampling)
        self.waveform = _Waveform(config)

    def use_kernel(self, kernel: SnakeKernel) -> None:
        """Compute the activations by a GPU's kernel."""
        for module in self.modules():
            if isinstance(module, SnakeBeta):
                module.kernel = kernel

    def begin(self, batch: int) -> CodecState:
        """The state of streams before their first frame."""
        device = self.codebooks.device
        kept = tuple(torch.zeros(batch, *shape, device=device) for shape in self.state_shapes())
        return CodecState(torch.zeros(batch, dtype=torch.long, device=device), kept)

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Shapes of a stream's kept tensors, in the order in which the layers run."""
        config = self.config
        keys = (config.transformer.heads, config.window - 1, config.transformer.head_width)
        shapes: list[tuple[int, ...]] = [(config.quantized, self.pre_conv.context)]
        shapes += [keys] * (2 * config.transformer.layers)
        shapes += [(config.latent, _Upsample.CONTEXT)] * len(config.upsampling)
        return shapes + self.waveform.state_shapes()

    def forward(self, codes: Tensor, state: CodecState) -> tuple[Tensor, CodecState]:
        """Samples [batch, frames * hop] of codes [batch, frames, groups], and the streams' next state."""
        cache = LayerCache(state.kept, window=self.config.window - 1)
        rows = self.pre_conv(self._quantized(codes), cache)
        rows = self._transform(rows.transpose(1, 2), cache, state.frames).transpose(1, 2)
        for upsample in self.upsample:
            rows = upsample(rows, cache)
        samples = self.waveform(rows, cache)[:, 0].clamp(-1.0, 1.0)
        return samples, CodecState(state.frames + codes.shape[1], cache.tensors())

    def _quantized(self, codes: Tensor) -> Tensor:
        """The vectors that codes stand for, [batch, channels, frames]."""
        groups = torch.arange(self.config.groups, device=codes.device)
        rows = self.codebooks[groups, codes]
        both: Tensor = self.first(rows[..., 0, :]) + self.rest(rows[..., 1:, :].sum(dim=-2))
        return both.transpose(1, 2)

    def _transform(self, rows: Tensor, cache: LayerCache, frames: Tensor) -> Tensor:
        count, past = rows.shape[1], self.config.window - 1
        offsets = torch.arange(count, device=rows.device)
        rotation = rotation_at(frames[:, None] + offsets, self.config.transformer)
        mask = _window_mask(offsets, torch.arange(past + count, device=rows.device), frames, past)
        rows = self.input_proj(rows)
        for layer in self.layers:
            rows = layer(rows, cache, rotation, mask)
        out: Tensor = self.output_proj(self.norm(rows))
        return out


def _window_mask(queries: Tensor, keys: Tensor, frames: Tensor, past: int) -> Tensor:
    """Each frame attends to itself and the `past` before it, as far as its stream has had them: [batch, 1, n, keys]."""
    near = (keys >= queries[:, None]) & (keys <= queries[:, None] + past)
    present = keys >= past - frames[:, None]
    return near & present[:, None, None]


class _Layer(nn.Module):
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(config.hidden, config.norm_eps)
        self.self_attn = RotaryAttention(config)
        self.self_attn_layer_scale = LayerScale(config.hidden)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden, config.norm_eps)
        self.mlp = _FeedForward(config)
        self.mlp_layer_scale = LayerScale(config.hidden)

    def forward(self, rows: Tensor, cache: LayerCache, rotation: Rotation, mask: Tensor) -> Tensor:
        attended = self.self_attn(self.input_layernorm(rows), cache, rotation, mask)
        rows = rows + self.self_attn_layer_scale(attended)
        out: Tensor = rows + self.mlp_layer_scale(self.mlp(self.post_attention_layernorm(rows)))
        return out


class _FeedForward(nn.Module):
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, config.feed_forward, bias=False)
        self.up_proj = nn.Linear(config.hidden, config.feed_forward, bias=False)
        self.down_proj = nn.Linear(config.feed_forward, config.hidden, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(rows)) * self.up_proj(rows))
        return out


class _Upsample(nn.Module):
    """A transposed convolution whose columns do not overlap, and a ConvNeXt block."""

    CONTEXT = 6

    def __init__(self, width: int, rate: int) -> None:
        super().__init__()
        self.expand = _Expand(width, width, rate, 1)
        self.dwconv = CausalConv(width, width, self.CONTEXT + 1, groups=width)
        self.norm = nn.LayerNorm(width, _CONVNEXT_EPS)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor, cache: LayerCache) -> Tensor:
        rows = self.expand(rows, cache)
        inner = self.norm(self.dwconv(rows, cache).transpose(1, 2))
        inner = self.gamma * self.pwconv2(functional.gelu(self.pwconv1(inner)))
        out: Tensor = rows + inner.transpose(1, 2)
        return out


class _Expand(nn.Module):
    """A transposed convolution, `rate` columns for each: what a column gives to the next ones is summed up by taps.

    Published are weights [inputs, outputs, taps * rate]. As an ordinary convolution over `taps` columns with `rate`
    times as many outputs it runs on the fast kernels, and a stream needs no sums of its own.
    """

    def __init__(self, inputs: int, outputs: int, rate: int, taps: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rate * outputs, inputs, taps))
        self.bias = nn.Parameter(torch.empty(rate * outputs))
        self.rate, self.context = rate, taps - 1

    def forward(self, rows: Tensor, cache: LayerCache) -> Tensor:
        joined = cache.left_context(rows, self.context) if self.context else rows
        out = functional.conv1d(joined, self.weight, self.bias)
        return out.view(len(out), -1, self.rate, out.shape[2]).transpose(2, 3).flatten(2)


def _as_convolution(weight: Tensor, bias: Tensor, rate: int) -> tuple[Tensor, Tensor]:
    """A transposed convolution's weights as `_Expand` has them."""
    inputs, outputs, width = weight.shape
    taps = weight.view(inputs, outputs, width // rate, rate).flip(2)
    return taps.permute(1, 3, 0, 2).reshape(outputs * rate, inputs, width // rate), bias.repeat_interleave(rate)


class _Waveform(nn.Module):
    """Upsampling blocks of falling width, from the latent to samples."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.enter = CausalConv(config.latent, config.channels, 7)
        widths = [config.channels >> index for index in range(len(config.rates) + 1)]
        self.blocks = nn.ModuleList(
            _WaveformBlock(inputs, outputs, rate)
            for inputs, outputs, rate in zip(widths, widths[1:], config.rates, strict=False)
        )
        self.act = SnakeBeta(widths[-1])
        self.leave = CausalConv(widths[-1], 1, 7)

    def state_shapes(self) -> list[tuple[int, ...]]:
        shapes: list[tuple[int, ...]] = [_context(self.enter)]
        for block in self.blocks:
            assert isinstance(block, _WaveformBlock)
            shapes += block.state_shapes()
        return [*shapes, _context(self.leave)]

    def forward(self, rows: Tensor, cache: LayerCache) -> Tensor:
        rows = self.enter(rows, cache)
        for block in self.blocks:
            rows = block(rows, cache)
        samples: Tensor = self.leave(self.act(rows), cache)
        return samples


class _WaveformBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, rate: int) -> None:
        super().__init__()
        self.inputs = inputs
        self.act = SnakeBeta(inputs)
        self.expand = _Expand(inputs, outputs, rate, 2)
        self.units = nn.ModuleList(_ResidualUnit(outputs, dilation) for dilation in _DILATIONS)

    def state_shapes(self) -> list[tuple[int, ...]]:
        return [(self.inputs, 1), *(_context(unit.get_submodule("conv1")) for unit in self.units)]

    def forward(self, rows: Tensor, cache: LayerCache) -> Tensor:
        rows = self.expand(self.act(rows), cache)
        for unit in self.units:
            rows = unit(rows, cache)
        return rows


class _ResidualUnit(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.act1, self.act2 = SnakeBeta(width), SnakeBeta(width)
        self.conv1 = CausalConv(width, width, 7, dilation=dilation)
        self.conv2 = CausalConv(width, width, 1)

    def forward(self, rows: Tensor, cache: LayerCache) -> Tensor:
        out: Tensor = rows + self.conv2(self.act2(self.conv1(self.act1(rows), cache)), cache)
        return out


class SnakeBeta(nn.Module):
    """x + sin²(alpha · x) · beta, with a frequency and a magnitude for each channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.kernel: SnakeKernel | None = None
        self.alpha = nn.Parameter(torch.empty(width, 1))
        self.beta = nn.Parameter(torch.empty(width, 1))

    def forward(self, rows: Tensor) -> Tensor:
        if self.kernel is not None:
            return self.kernel(rows, self.alpha, self.beta)
        return rows + self.beta * (self.alpha * rows).sin().square()


def _context(conv: nn.Module) -> tuple[int, ...]:
    assert isinstance(conv, CausalConv)
    return conv.weight.shape[1] * conv.groups, conv.context


def load_codec_decoder(config: DecoderConfig, state: StateDict) -> CodecDecoder:
    """Load the decoder's half of a published state dict, in float32."""
    given = under("decoder.", state)
    weights = {name: tensor for name, tensor in given.items() if not name.startswith("quantizer.")}
    weights = renamed((*_NAMES, *_waveform_names(len(config.rates))), weights)
    weights |= {
        name: _published(name, tensor) for name, tensor in weights.items() if name.endswith((".alpha", ".beta"))
    }
    weights |= _expansions(config, weights)
    books = ["quantizer.rvq_first.vq.layers.0._codebook"]
    books += [f"quantizer.rvq_rest.vq.layers.{index}._codebook" for index in range(config.groups - 1)]
    weights["codebooks"] = codebooks(given, books, "embedding_sum")
    for name in ("first", "rest"):
        projection = given.get(f"quantizer.rvq_{name}.output_proj.weight")
        if projection is not None:
            weights[f"{name}.weight"] = projection[..., 0]
    return load(lambda: CodecDecoder(config), weights)


def _expansions(config: DecoderConfig, weights: StateDict) -> dict[str, Tensor]:
    """The transposed convolutions among the weights, as ordinary ones."""
    expansions = {f"upsample.{index}.expand": rate for index, rate in enumerate(config.upsampling)}
    expansions |= {f"waveform.blocks.{index}.expand": rate for index, rate in enumerate(config.rates)}
    found: dict[str, Tensor] = {}
    for name, rate in expansions.items():
        given = weights.get(f"{name}.weight"), weights.get(f"{name}.bias")
        if given[0] is not None and given[1] is not None and given[0].shape[2] % rate == 0:
            found[f"{name}.weight"], found[f"{name}.bias"] = _as_convolution(given[0], given[1], rate)
    return found


def _published(name: str, logarithm: Tensor) -> Tensor:
    """Published are the logarithms of a frequency and of the inverse of a magnitude."""
    value = logarithm.exp()[:, None]
    return value if name.endswith(".alpha") else 1 / (value + 1e-9)


def _waveform_names(blocks: int) -> Sequence[tuple[str, str]]:
    """Published names count layers; ours say what they are."""
    units = [(rf"^decoder\.(\d+)\.block\.{index + 2}\.", rf"decoder.\1.units.{index}.") for index in range(3)]
    counted = [(rf"^decoder\.{index + 1}\.", f"waveform.blocks.{index}.") for index in range(blocks)]
    return (
        *units,
        (r"^decoder\.(\d+)\.block\.0\.", r"decoder.\1.act."),
        (r"^decoder\.(\d+)\.block\.1\.", r"decoder.\1.expand."),
        *counted,
        (rf"^decoder\.{blocks + 1}\.", "waveform.act."),
        (rf"^decoder\.{blocks + 2}\.", "waveform.leave."),
        (r"^upsample\.(\d+)\.0\.", r"upsample.\1.expand."),
        (r"^upsample\.(\d+)\.1\.", r"upsample.\1."),
    )
