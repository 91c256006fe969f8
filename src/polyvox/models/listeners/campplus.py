"""CAM++, a speaker encoder, in PyTorch: differentiable, from filter banks to the embedding of their speaker.

The bundle's ONNX graph computes the same and measures similarities; this one gives gradients to optimise by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import StateDict, load

_EPS = 1e-5
_NORM = ".running_mean"
# A convolution and the batch norm right behind it, by the suffixes of their names.
_FOLLOWED = (
    ("conv1", "bn1"),
    ("conv2", "bn2"),
    ("shortcut.0", "shortcut.1"),
    ("tdnn.linear", "tdnn.nonlinear.batchnorm"),
    ("linear1", "nonlinear2.batchnorm"),
    ("dense.linear", "dense.nonlinear.batchnorm"),
)


@dataclass(frozen=True, slots=True)
class CampPlusConfig:
    """The sizes of the network; the defaults are those of the release."""

    bins: int = 80
    head: int = 32
    width: int = 128
    inner: int = 128
    growth: int = 32
    context: int = 64
    embedding: int = 192
    blocks: tuple[tuple[int, int], ...] = ((12, 1), (24, 2), (16, 2))
    """Layers of each dense block, and the dilation of their kernels."""
    segment: int = 100


class CampPlus(nn.Module):
    """Features [batch, frames, bins], less each bin's mean, to embeddings [batch, embedding] of unit length."""

    def __init__(self, config: CampPlusConfig) -> None:
        super().__init__()
        self.head = _Head(config.head)
        self.xvector = _Tdnn(config)

    def forward(self, features: Tensor) -> Tensor:
        rows = self.xvector(self.head(features.transpose(1, 2)[:, None]).flatten(1, 2))
        return functional.normalize(rows, dim=1)


class _Head(nn.Module):
    """2-D residual convolutions over the features as an image of one channel; halves its height three times."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.layer1, self.layer2 = (nn.ModuleList((_Residual(width, 2), _Residual(width, 1))) for _ in range(2))
        self.conv2 = nn.Conv2d(width, width, 3, stride=(2, 1), padding=1)

    def forward(self, image: Tensor) -> Tensor:
        image = self.conv1(image).relu()
        for block in (*self.layer1, *self.layer2):
            image = block(image)
        out: Tensor = self.conv2(image).relu()
        return out


class _Residual(nn.Module):
    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, stride=(stride, 1), padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.shortcut = nn.ModuleList([nn.Conv2d(width, width, 1, stride=(stride, 1))] if stride > 1 else [])

    def forward(self, image: Tensor) -> Tensor:
        inner = self.conv2(self.conv1(image).relu())
        for shortcut in self.shortcut:
            image = shortcut(image)
        return cast(Tensor, (inner + image).relu())


class _Tdnn(nn.Module):
    """Densely connected TDNN blocks, each closed by a transit layer that halves the channels; statistics pooling."""

    def __init__(self, config: CampPlusConfig) -> None:
        super().__init__()
        self.tdnn = nn.ModuleDict({"linear": nn.Conv1d(config.head * config.bins // 8, config.width, 5, 2, 2)})
        self.count = len(config.blocks)
        channels = config.width
        for number, (layers, dilation) in enumerate(config.blocks, start=1):
            grown = range(channels, channels + layers * config.growth, config.growth)
            self.add_module(f"block{number}", _Block([_Dense(inputs, config, dilation) for inputs in grown]))
            channels += layers * config.growth
            self.add_module(f"transit{number}", _Transit(channels, channels // 2))
            channels //= 2
        self.out_nonlinear = _Nonlinear(channels)
        self.dense = nn.ModuleDict({"linear": nn.Conv1d(2 * channels, config.embedding, 1)})

    def forward(self, rows: Tensor) -> Tensor:
        rows = self.tdnn["linear"](rows).relu()
        for number in range(1, self.count + 1):
            for part in (f"block{number}", f"transit{number}"):
                rows = self.get_submodule(part)(rows)
        rows = self.out_nonlinear(rows)
        statistics = torch.cat((rows.mean(dim=2), rows.std(dim=2)), dim=1)
        # As a convolution over one frame, the gradients would differ from run to run.
        dense = self.dense["linear"]
        return functional.linear(statistics, cast(Tensor, dense.weight)[:, :, 0], cast(Tensor, dense.bias))


class _Nonlinear(nn.Module):
    """A folded batch norm (scale and shift) and a ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.batchnorm = nn.ParameterDict({name: torch.empty(channels) for name in ("weight", "bias")})

    def forward(self, rows: Tensor) -> Tensor:
        return torch.addcmul(self.batchnorm["bias"][:, None], rows, self.batchnorm["weight"][:, None]).relu()


class _Block(nn.Module):
    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        for number, layer in enumerate(layers, start=1):
            self.add_module(f"tdnnd{number}", layer)

    def forward(self, rows: Tensor) -> Tensor:
        for layer in self.children():
            rows = torch.cat((rows, layer(rows)), dim=1)
        return rows


class _Dense(nn.Module):
    """One densely connected layer: bottleneck, and a context-aware mask over its output."""

    def __init__(self, inputs: int, config: CampPlusConfig, dilation: int) -> None:
        super().__init__()
        self.nonlinear1 = _Nonlinear(inputs)
        self.linear1 = nn.Conv1d(inputs, config.inner, 1)
        self.cam_layer = _ContextMask(config, dilation)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.cam_layer(self.linear1(self.nonlinear1(rows)).relu())
        return out


class _ContextMask(nn.Module):
    """Context-aware masking: the context is the mean over all time plus that of the frame's segment."""

    def __init__(self, config: CampPlusConfig, dilation: int) -> None:
        super().__init__()
        self.segment = config.segment
        self.linear_local = nn.Conv1d(config.inner, config.growth, 3, padding=dilation, dilation=dilation, bias=False)
        self.linear1 = nn.Conv1d(config.inner, config.context, 1)
        self.linear2 = nn.Conv1d(config.context, config.growth, 1)

    def forward(self, rows: Tensor) -> Tensor:
        segments = functional.avg_pool1d(rows, self.segment, ceil_mode=True)
        mask = self.linear2(self.linear1(rows.mean(dim=2, keepdim=True) + segments).relu()).sigmoid()
        upsampled = mask.repeat_interleave(self.segment, dim=2)[:, :, : rows.shape[2]]
        return cast(Tensor, self.linear_local(rows) * upsampled)


class _Transit(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.nonlinear = _Nonlinear(inputs)
        self.linear = nn.Conv1d(inputs, outputs, 1, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.linear(self.nonlinear(rows))
        return out


def load_campplus(config: CampPlusConfig, state: StateDict) -> CampPlus:
    """Load a published state dict, its batch norms folded."""
    return load(lambda: CampPlus(config), _fold_batch_norms(state))


def _fold_batch_norms(state: StateDict) -> dict[str, Tensor]:
    """Fold each batch norm to scale and shift, and into the convolution in front where there is one."""
    folded = {name: tensor for name, tensor in state.items() if not name.endswith((_NORM, ".running_var"))}
    for norm in [name.removesuffix(_NORM) for name in state if name.endswith(_NORM)]:
        mean = state[norm + _NORM]
        scale = folded.pop(f"{norm}.weight", torch.ones_like(mean)) * torch.rsqrt(state[f"{norm}.running_var"] + _EPS)
        shift = folded.pop(f"{norm}.bias", torch.zeros_like(mean)) - mean * scale
        convolution = _preceding(norm)
        if convolution is None:
            folded[f"{norm}.weight"], folded[f"{norm}.bias"] = scale, shift
        else:
            weight = folded[f"{convolution}.weight"]
            folded[f"{convolution}.weight"] = weight * scale.view(-1, *[1] * (weight.dim() - 1))
            folded[f"{convolution}.bias"] = shift
    return folded


def _preceding(norm: str) -> str | None:
    """The convolution whose only consumer is this batch norm."""
    for convolution, follower in _FOLLOWED:
        if norm == follower or norm.endswith(f".{follower}"):
            return norm.removesuffix(follower) + convolution
    return None
