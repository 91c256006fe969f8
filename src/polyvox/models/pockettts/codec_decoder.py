"""The codec's decoder: latents to samples, causal and without look-ahead, its state passed in and out."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.loading import StateDict, WeightsError, load, renamed
from polyvox.models.pockettts.codec_layers import Convolution, Expansion, Residual, WindowedTransformer, as_expansion
from polyvox.models.pockettts.config import CodecConfig
from polyvox.models.stream_state import StreamState

LAYER_NAMES = (
    (r"\.layer_scale_([12])\.scale$", r".scale\1"),
    (r"\.(?:conv|convtr)\.(weight|bias)$", r".\1"),
    (r"\.block\.1\.", ".enter."),
    (r"\.block\.3\.", ".leave."),
)
_ENTER = 3
"""Entries of a stage in the published list: activation, transposed convolution, residual block."""


class CodecDecoder(nn.Module):
    """Each latent becomes a frame of samples at once; a stream in pieces equals the whole."""

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        self.config = config
        sizes, outer = config.decoder, config.decoder_transformer.width
        width = sizes.filters << len(sizes.ratios)
        self.enter = nn.Linear(config.latent, outer, bias=False)
        self.upsample = nn.Parameter(torch.empty(outer, 2, config.columns))
        self.transformer = WindowedTransformer(config.decoder_transformer)
        self.first = Convolution(sizes.width, width, sizes.kernel)
        self.stages = nn.ModuleList()
        for ratio in sizes.ratios:
            width //= 2
            self.stages.append(_Stage(2 * width, width, ratio, sizes.residual_kernel, sizes.compress))
        self.last = Convolution(width, 1, sizes.last_kernel)

    def begin(self, batch: int) -> StreamState:
        """The state of streams before their first frame."""
        device = self.upsample.device
        kept = tuple(torch.zeros(batch, *shape, device=device) for shape in self.state_shapes())
        return StreamState(torch.zeros(batch, dtype=torch.long, device=device), kept)

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Shapes of a stream's kept tensors, in the order in which the layers run."""
        shapes: list[tuple[int, ...]] = [(self.upsample.shape[0], 1)]
        shapes += self.transformer.state_shapes + self.first.state_shapes
        for stage in self.stages:
            assert isinstance(stage, _Stage)
            shapes += stage.expand.state_shapes + stage.residual.state_shapes
        return shapes + self.last.state_shapes

    def forward(self, latents: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
        """Samples [batch, frames * frame] of latents [batch, frames, latent], and the streams' next state."""
        cache = LayerCache(state.kept, window=self.transformer.past)
        columns = self._upsampled(self.enter(latents).transpose(1, 2), cache)
        count = columns.shape[2]
        columns = self.first(self.transformer(columns, cache, state.positions), cache)
        for stage in self.stages:
            columns = stage(columns, cache)
        samples: Tensor = self.last(functional.elu(columns), cache)
        return samples[:, 0], StreamState(state.positions + count, cache.tensors())

    def _upsampled(self, frames: Tensor, cache: LayerCache) -> Tensor:
        """Columns of frames [batch, channels, frames]: each channel on its own, from a frame and the one before it."""
        joined = cache.left_context(frames, 1)
        now, before = self.upsample[:, 0, None], self.upsample[:, 1, None]
        return (joined[..., 1:, None] * now + joined[..., :-1, None] * before).flatten(2)


class _Stage(nn.Module):
    def __init__(self, inputs: int, outputs: int, rate: int, kernel: int, compress: int) -> None:
        super().__init__()
        self.expand = Expansion(inputs, outputs, rate)
        self.residual = Residual(outputs, kernel, compress)

    def forward(self, columns: Tensor, cache: LayerCache) -> Tensor:
        out: Tensor = self.residual(self.expand(functional.elu(columns), cache), cache)
        return out


def load_codec_decoder(config: CodecConfig, state: StateDict) -> CodecDecoder:
    """Load the decoder's side of a published state dict, in float32."""
    stages = len(config.decoder.ratios)
    numbered = [(r"^mimi\.decoder\.model\.0\.", "first.")]
    for index in range(stages):
        numbered.append((rf"^mimi\.decoder\.model\.{_ENTER * index + 2}\.", f"stages.{index}.expand."))
        numbered.append((rf"^mimi\.decoder\.model\.{_ENTER * index + 3}\.", f"stages.{index}.residual."))
    numbered.append((rf"^mimi\.decoder\.model\.{_ENTER * stages + 2}\.", "last."))
    sides = ("mimi.decoder.", "mimi.decoder_transformer.", "mimi.quantizer.", "mimi.upsample.")
    rules = (
        *numbered,
        (r"^mimi\.decoder_transformer\.transformer\.", "transformer."),
        (r"^mimi\.quantizer\.output_proj\.", "enter."),
        (r"^mimi\.upsample\.convtr\.convtr\.weight$", "upsample"),
        *LAYER_NAMES,
    )
    weights = renamed(rules, {name: tensor for name, tensor in state.items() if name.startswith(sides)})
    for index, ratio in enumerate(config.decoder.ratios):
        name = f"stages.{index}.expand.weight"
        if name in weights and weights[name].dim() == 3 and weights[name].shape[2] == 2 * ratio:
            weights[name] = as_expansion(weights[name], ratio)
    for name, shape in (("enter.weight", (-1, config.latent)), ("upsample", (-1, 2, config.columns))):
        if name not in weights or weights[name].numel() % (shape[-1] * (shape[1] if len(shape) > 2 else 1)):
            raise WeightsError(f"The weights of the codec's decoder lack {name}, or it has another shape.")
        weights[name] = weights[name].reshape(shape)
    return load(lambda: CodecDecoder(config), weights)
