"""The codec's encoder: a recording to the latents of a voice, in one pass."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.loading import StateDict, load, renamed
from polyvox.models.pockettts.codec_decoder import LAYER_NAMES
from polyvox.models.pockettts.codec_layers import Convolution, Residual, WindowedTransformer
from polyvox.models.pockettts.config import CodecConfig

_ENTRIES = 3
"""Entries of a stage in the published list: residual block, activation, convolution."""
_BLOCK = 2048
"""Columns of the transformer in one piece; the mask of a whole recording would be larger than all else."""


class CodecEncoder(nn.Module):
    """Convolutions, a transformer and one more convolution that makes frames of columns."""

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        self.config = config
        sizes, width = config.encoder, config.encoder.filters
        self.first = Convolution(1, width, sizes.kernel)
        self.stages = nn.ModuleList()
        for ratio in reversed(sizes.ratios):
            self.stages.append(_Stage(width, 2 * width, ratio, sizes.residual_kernel, sizes.compress))
            width *= 2
        self.last = Convolution(width, sizes.width, sizes.last_kernel)
        self.transformer = WindowedTransformer(config.encoder_transformer)
        stride = config.frame // sizes.hop
        self.stride = stride
        self.downsample = nn.Parameter(torch.empty(config.prompt_latent, sizes.width, 2 * stride))

    def forward(self, samples: Tensor) -> Tensor:
        """Latents [frames, width] of samples [n], which are padded with zeros to whole frames."""
        whole = functional.pad(samples, (0, -len(samples) % self.config.frame))[None, None]
        fresh = LayerCache(update=False)
        columns = self.first(whole, fresh)
        for stage in self.stages:
            columns = stage(columns, fresh)
        columns = self._transformed(self.last(functional.elu(columns), fresh))
        # The only convolution whose padding repeats the first column.
        padded = functional.pad(columns, (self.stride, 0), mode="replicate")
        return functional.conv1d(padded, self.downsample, stride=self.stride)[0].T

    def _transformed(self, columns: Tensor) -> Tensor:
        shapes = self.transformer.state_shapes
        kept = tuple(torch.zeros(1, *shape, device=columns.device) for shape in shapes)
        before, parts = torch.zeros(1, dtype=torch.long, device=columns.device), []
        for start in range(0, columns.shape[2], _BLOCK):
            part = columns[..., start : start + _BLOCK]
            cache = LayerCache(kept, window=self.transformer.past)
            parts.append(self.transformer(part, cache, before))
            before, kept = before + part.shape[2], cache.tensors()
        return torch.cat(parts, dim=2)


class _Stage(nn.Module):
    def __init__(self, inputs: int, outputs: int, rate: int, kernel: int, compress: int) -> None:
        super().__init__()
        self.residual = Residual(inputs, kernel, compress)
        self.shrink = Convolution(inputs, outputs, 2 * rate, rate)

    def forward(self, columns: Tensor, cache: LayerCache) -> Tensor:
        out: Tensor = self.shrink(functional.elu(self.residual(columns, cache)), cache)
        return out


def load_codec_encoder(config: CodecConfig, state: StateDict) -> CodecEncoder:
    """Load the encoder's side of a published state dict, in float32."""
    stages = len(config.encoder.ratios)
    numbered = [(r"^mimi\.encoder\.model\.0\.", "first.")]
    for index in range(stages):
        numbered.append((rf"^mimi\.encoder\.model\.{_ENTRIES * index + 1}\.", f"stages.{index}.residual."))
        numbered.append((rf"^mimi\.encoder\.model\.{_ENTRIES * index + 3}\.", f"stages.{index}.shrink."))
    numbered.append((rf"^mimi\.encoder\.model\.{_ENTRIES * stages + 2}\.", "last."))
    rules = (
        *numbered,
        (r"^mimi\.encoder_transformer\.transformer\.", "transformer."),
        (r"^mimi\.downsample\.conv\.conv\.weight$", "downsample"),
        *LAYER_NAMES,
    )
    sides = ("mimi.encoder.", "mimi.encoder_transformer.", "mimi.downsample.")
    weights = {name: tensor for name, tensor in state.items() if name.startswith(sides)}
    return load(lambda: CodecEncoder(config), renamed(rules, weights))
