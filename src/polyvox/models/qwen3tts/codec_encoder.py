"""The tokenizer's encoder: a recording to frames of codes; Mimi's, with attention to all frames before."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import causal_mask
from polyvox.models.cache import LayerCache
from polyvox.models.loading import StateDict, load, renamed, under
from polyvox.models.qwen3tts.codec_config import EncoderConfig, TransformerConfig
from polyvox.models.qwen3tts.codec_layers import LayerScale, RotaryAttention, Rotation, codebooks, rotation_at

_DOWNSAMPLING = 2
_NAMES = (
    (r"\.conv\.(weight|bias)$", r".\1"),
    (r"^encoder_transformer\.", ""),
)


class CodecEncoder(nn.Module):
    """One recording at a time: rows of a batch would differ from their own encoding in a partly filled last frame."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        width = config.transformer.hidden
        self.convolutions = _Seanet(config)
        self.layers = nn.ModuleList(_Layer(config.transformer) for _ in range(config.transformer.layers))
        self.downsample = _Conv(width, width, 2 * _DOWNSAMPLING, _DOWNSAMPLING, bias=False, mode="replicate")
        self.semantic = nn.Linear(width, config.codebook_width, bias=False)
        self.acoustic = nn.Linear(width, config.codebook_width, bias=False)
        self.codebooks = nn.Parameter(torch.empty(config.groups, config.codebook, config.codebook_width))

    def forward(self, samples: Tensor) -> Tensor:
        """Codes [frames, groups] of a recording [time] at 24 kHz."""
        rows = self.latents(samples)
        first, residual = self.semantic(rows), self.acoustic(rows)
        codes = [_nearest(first, self.codebooks[0])]
        for codebook in self.codebooks[1:]:
            code = _nearest(residual, codebook)
            residual = residual - functional.embedding(code, codebook)
            codes.append(code)
        return torch.stack(codes, dim=-1)

    def latents(self, samples: Tensor) -> Tensor:
        """The vectors [frames, width] that are quantized."""
        rows = self.transform(self.convolutions(samples[None, None]).transpose(1, 2))
        out: Tensor = self.downsample(rows.transpose(1, 2))
        return out[0].T

    def transform(self, rows: Tensor) -> Tensor:
        """Attend each of the rows [1, n, width] to itself and all before it."""
        rotation = rotation_at(torch.arange(rows.shape[1], device=rows.device), self.config.transformer)
        mask = causal_mask(rows.shape[1], rows.shape[1], rows.device)
        for layer in self.layers:
            rows = layer(rows, rotation, mask)
        return rows


def _nearest(rows: Tensor, codebook: Tensor) -> Tensor:
    return torch.cdist(rows, codebook).argmin(dim=-1)


class _Conv(nn.Module):
    """Causal convolution that fills the last, incomplete step by zeros, or by the last column."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, *, bias: bool = True, mode: str = "constant"
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, kernel))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None
        self.stride, self.mode = stride, mode
        self.left = kernel - stride

    def forward(self, rows: Tensor) -> Tensor:
        right = -rows.shape[-1] % self.stride
        padded = functional.pad(rows, (self.left, right), mode=self.mode)
        return functional.conv1d(padded, self.weight, self.bias, self.stride)


class _Residual(nn.Module):
    def __init__(self, width: int, config: EncoderConfig) -> None:
        super().__init__()
        inner = width // config.compress
        self.conv1 = _Conv(width, inner, config.residual_kernel)
        self.conv2 = _Conv(inner, width, 1)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = rows + self.conv2(functional.elu(self.conv1(functional.elu(rows))))
        return out


class _Seanet(nn.Module):
    """Strided convolutions of growing width: samples to 25 columns a second."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        width = config.filters
        self.enter = _Conv(1, width, config.kernel)
        residuals, strided = [], []
        for ratio in reversed(config.ratios):
            residuals.append(_Residual(width, config))
            strided.append(_Conv(width, 2 * width, 2 * ratio, ratio))
            width *= 2
        self.residuals, self.strided = nn.ModuleList(residuals), nn.ModuleList(strided)
        self.leave = _Conv(width, config.transformer.hidden, config.last_kernel)

    def forward(self, samples: Tensor) -> Tensor:
        rows = self.enter(samples)
        for residual, strided in zip(self.residuals, self.strided, strict=True):
            rows = strided(functional.elu(residual(rows)))
        out: Tensor = self.leave(functional.elu(rows))
        return out


class _Layer(nn.Module):
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.input_layernorm = nn.LayerNorm(config.hidden, config.norm_eps)
        self.self_attn = RotaryAttention(config)
        self.self_attn_layer_scale = LayerScale(config.hidden)
        self.post_attention_layernorm = nn.LayerNorm(config.hidden, config.norm_eps)
        self.mlp = _FeedForward(config)
        self.mlp_layer_scale = LayerScale(config.hidden)

    def forward(self, rows: Tensor, rotation: Rotation, mask: Tensor | None) -> Tensor:
        attended = self.self_attn(self.input_layernorm(rows), LayerCache(update=False), rotation, mask)
        rows = rows + self.self_attn_layer_scale(attended)
        out: Tensor = rows + self.mlp_layer_scale(self.mlp(self.post_attention_layernorm(rows)))
        return out


class _FeedForward(nn.Module):
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config.hidden, config.feed_forward, bias=False)
        self.fc2 = nn.Linear(config.feed_forward, config.hidden, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.fc2(functional.gelu(self.fc1(rows)))
        return out


def load_codec_encoder(config: EncoderConfig, state: StateDict) -> CodecEncoder:
    """Load the encoder's half of a published state dict, in float32; quantizers that are not used stay out."""
    given = under("encoder.", state)
    weights = {name: tensor for name, tensor in given.items() if not name.startswith("quantizer.")}
    weights = renamed((*_NAMES, *_seanet_names(len(config.ratios))), weights)
    kinds = ("semantic", "acoustic")
    books = [f"quantizer.{kinds[0]}_residual_vector_quantizer.layers.0.codebook"]
    books += [
        f"quantizer.{kinds[1]}_residual_vector_quantizer.layers.{index}.codebook" for index in range(config.groups - 1)
    ]
    weights["codebooks"] = codebooks(given, books, "embed_sum")
    for kind in kinds:
        projection = given.get(f"quantizer.{kind}_residual_vector_quantizer.input_proj.weight")
        if projection is not None:
            weights[f"{kind}.weight"] = projection[..., 0]
    return load(lambda: CodecEncoder(config), weights)


def _seanet_names(stages: int) -> list[tuple[str, str]]:
    """Published names count layers, activations included; ours say what they are."""
    names = [(r"^encoder\.layers\.0\.", "convolutions.enter.")]
    for stage in range(stages):
        block, strided = 1 + 3 * stage, 3 + 3 * stage
        names += [
            (rf"^encoder\.layers\.{block}\.block\.1\.", f"convolutions.residuals.{stage}.conv1."),
            (rf"^encoder\.layers\.{block}\.block\.3\.", f"convolutions.residuals.{stage}.conv2."),
            (rf"^encoder\.layers\.{strided}\.", f"convolutions.strided.{stage}."),
        ]
    return [*names, (rf"^encoder\.layers\.{2 + 3 * stages}\.", "convolutions.leave.")]
