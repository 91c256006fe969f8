"""The tokenizer's decoder: frames of codes to samples, causal and without look-ahead, its state passed in and out."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.loading import StateDict, load, renamed, under
from polyvox.models.qwen3tts.codec_config import DecoderConfig, TransformerConfig
from polyvox.models.qwen3tts.codec_layers import LayerScale, RotaryAttention, Rotation, codebooks, rotation_at
from polyvox.models.qwen3tts.waveform import Activation, BiasedConv, Expand, SnakeBeta, Waveform
from polyvox.models.stream_state import StreamState

_CONVNEXT_EPS = 1e-6
_TAPPED = 3
"""Dimensions of a convolution's weight."""
_NAMES = (
    (r"\.conv\.(weight|bias)$", r".\1"),
    (r"^pre_transformer\.(input_proj|output_proj|norm)\.", r"\1."),
    (r"^pre_transformer\.", ""),
    (r"^decoder\.0\.", "waveform.enter."),
    (r"\.conv([12])\.bias$", r".bias\1"),
)


class CodecDecoder(nn.Module):
    """Each frame becomes `hop` samples at once; a stream in pieces equals the whole."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        hidden, latent = config.transformer.hidden, config.latent
        self.codebooks = nn.Parameter(torch.empty(config.groups, config.codebook, config.codebook_width))
        self.first = nn.Linear(config.codebook_width, config.quantized, bias=False)
        self.rest = nn.Linear(config.codebook_width, config.quantized, bias=False)
        self.pre_conv = BiasedConv(config.quantized, latent, 3)
        self.input_proj = nn.Linear(latent, hidden)
        self.layers = nn.ModuleList(_Layer(config.transformer) for _ in range(config.transformer.layers))
        self.norm = nn.RMSNorm(hidden, config.transformer.norm_eps)
        self.output_proj = nn.Linear(hidden, latent)
        self.upsample = nn.ModuleList(_Upsample(latent, rate) for rate in config.upsampling)
        self.waveform = Waveform(config)

    def use_kernel(self, kernel: Activation) -> None:
        """Compute the activations by a GPU's kernel."""
        for module in self.modules():
            if isinstance(module, SnakeBeta):
                module.kernel = kernel

    def begin(self, batch: int) -> StreamState:
        """The state of streams before their first frame."""
        device = self.codebooks.device
        kept = tuple(torch.zeros(batch, *shape, device=device) for shape in self.state_shapes())
        return StreamState(torch.zeros(batch, dtype=torch.long, device=device), kept)

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Shapes of a stream's kept tensors, in the order in which the layers run."""
        config = self.config
        keys = (config.transformer.heads, config.window - 1, config.transformer.head_width)
        shapes: list[tuple[int, ...]] = [self.pre_conv.state_shape]
        shapes += [keys] * (2 * config.transformer.layers)
        shapes += [each.dwconv.state_shape for each in self.upsample if isinstance(each, _Upsample)]
        return shapes + self.waveform.state_shapes()

    def forward(self, codes: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
        """Samples [batch, frames * hop] of codes [batch, frames, groups], and the streams' next state."""
        cache = LayerCache(state.kept, window=self.config.window - 1)
        rows = self.pre_conv.behind(self._quantized(codes), cache)
        rows = self._transform(rows, cache, state.positions)
        for upsample in self.upsample:
            rows = upsample(rows, cache)
        samples = self.waveform(rows, cache).clamp(-1.0, 1.0)
        return samples, StreamState(state.positions + codes.shape[1], cache.tensors())

    def _quantized(self, codes: Tensor) -> Tensor:
        """The vectors that codes stand for, [batch, frames, channels]."""
        groups = torch.arange(self.config.groups, device=codes.device)
        rows = self.codebooks[groups, codes]
        both: Tensor = self.first(rows[..., 0, :]) + self.rest(rows[..., 1:, :].sum(dim=-2))
        return both

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

    def __init__(self, width: int, rate: int) -> None:
        super().__init__()
        self.expand = Expand(width, width, rate, 1)
        self.dwconv = BiasedConv(width, width, 7, groups=width)
        self.norm = nn.LayerNorm(width, _CONVNEXT_EPS)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, rows: Tensor, cache: LayerCache) -> Tensor:
        rows = self.expand(rows) + self.expand.bias
        inner = self.norm(self.dwconv.behind(rows, cache))
        out: Tensor = rows + self.gamma * self.pwconv2(functional.gelu(self.pwconv1(inner)))
        return out


def load_codec_decoder(config: DecoderConfig, state: StateDict) -> CodecDecoder:
    """Load the decoder's half of a published state dict, in float32."""
    given = under("decoder.", state)
    weights = {name: tensor for name, tensor in given.items() if not name.startswith("quantizer.")}
    weights = renamed((*_NAMES, *_waveform_names(len(config.rates))), weights)
    weights |= {
        name: _published(name, tensor) for name, tensor in weights.items() if name.endswith((".alpha", ".beta"))
    }
    weights = _expansions(config, weights)
    weights |= {name: _channels_last(tensor) for name, tensor in weights.items() if tensor.dim() == _TAPPED}
    books = ["quantizer.rvq_first.vq.layers.0._codebook"]
    books += [f"quantizer.rvq_rest.vq.layers.{index}._codebook" for index in range(config.groups - 1)]
    weights["codebooks"] = codebooks(given, books, "embedding_sum")
    for name in ("first", "rest"):
        projection = given.get(f"quantizer.rvq_{name}.output_proj.weight")
        if projection is not None:
            weights[f"{name}.weight"] = projection[..., 0]
    return load(lambda: CodecDecoder(config), weights)


def _expansions(config: DecoderConfig, weights: StateDict) -> dict[str, Tensor]:
    """All weights, the transposed convolutions among them as ordinary ones."""
    expansions = {f"upsample.{index}.expand": rate for index, rate in enumerate(config.upsampling)}
    expansions |= {f"waveform.blocks.{index}.expand": rate for index, rate in enumerate(config.rates)}
    found = dict(weights)
    for name, rate in expansions.items():
        given = found.get(f"{name}.weight")
        if given is not None and given.shape[2] % rate == 0:
            found[f"{name}.conv.weight"] = _as_convolution(found.pop(f"{name}.weight"), rate)
    return found


def _as_convolution(weight: Tensor, rate: int) -> Tensor:
    """A transposed convolution's weight as `Expand` has it."""
    inputs, outputs, width = weight.shape
    taps = weight.view(inputs, outputs, width // rate, rate).flip(2)
    return taps.permute(3, 1, 0, 2).reshape(rate * outputs, inputs, width // rate)


def _channels_last(weight: Tensor) -> Tensor:
    """A convolution's weight over one line of an image, its inputs last in memory."""
    return weight.unsqueeze(2).contiguous(memory_format=torch.channels_last)


def _published(name: str, logarithm: Tensor) -> Tensor:
    """Published are the logarithms of a frequency and of the inverse of a magnitude."""
    value = logarithm.exp()
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
