"""Causal convolutions of the codec, over [batch, channels, time]."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.pockettts.config import TransformerConfig
from polyvox.models.pockettts.transformer import Layer, rotation_at


class Convolution(nn.Module):
    """A convolution that sees the last `context` columns of the call before; zeros at the start."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.stride, self.context = stride, kernel - stride

    @property
    def state_shapes(self) -> list[tuple[int, ...]]:
        return [(self.weight.shape[1], self.context)] if self.context else []

    def forward(self, columns: Tensor, cache: LayerCache) -> Tensor:
        joined = cache.left_context(columns, self.context) if self.context else columns
        return functional.conv1d(joined, self.weight, self.bias, self.stride)


class Residual(nn.Module):
    """Two convolutions behind activations, added to what came in."""

    def __init__(self, width: int, kernel: int, compress: int) -> None:
        super().__init__()
        self.enter = Convolution(width, width // compress, kernel)
        self.leave = Convolution(width // compress, width, 1)

    @property
    def state_shapes(self) -> list[tuple[int, ...]]:
        return self.enter.state_shapes

    def forward(self, columns: Tensor, cache: LayerCache) -> Tensor:
        inner = self.enter(functional.elu(columns), cache)
        out: Tensor = columns + self.leave(functional.elu(inner), cache)
        return out


class Expansion(nn.Module):
    """A transposed convolution with a kernel of twice its rate, computed as an ordinary one over two columns.

    Each column becomes `rate` columns, from itself and the column before it; so its state is one column of its input,
    and the bias is added once.
    """

    def __init__(self, inputs: int, outputs: int, rate: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rate * outputs, inputs, 2))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.rate = rate

    @property
    def state_shapes(self) -> list[tuple[int, ...]]:
        return [(self.weight.shape[1], 1)]

    def forward(self, columns: Tensor, cache: LayerCache) -> Tensor:
        blocks = functional.conv1d(cache.left_context(columns, 1), self.weight)
        spread = blocks.view(len(blocks), self.rate, len(self.bias), -1).permute(0, 2, 3, 1).flatten(2)
        return spread + self.bias[:, None]


def as_expansion(weight: Tensor, rate: int) -> Tensor:
    """The weight [inputs, outputs, 2 * rate] of a transposed convolution as `Expansion` has it."""
    inputs, outputs, _ = weight.shape
    taps = weight.view(inputs, outputs, 2, rate).flip(2)
    return taps.permute(3, 1, 0, 2).reshape(rate * outputs, inputs, 2)


class WindowedTransformer(nn.Module):
    """Layers whose positions attend to a window of those before them, the last of which are kept."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(Layer(config, scaled=True) for _ in range(config.layers))

    @property
    def past(self) -> int:
        """Positions before itself that a query sees."""
        return (self.config.window or 1) - 1

    @property
    def state_shapes(self) -> list[tuple[int, ...]]:
        return [(self.config.heads, self.past, self.config.head_width)] * (2 * self.config.layers)

    def forward(self, columns: Tensor, cache: LayerCache, before: Tensor) -> Tensor:
        """Columns [batch, channels, time] of streams that had `before` [batch] columns."""
        rows = columns.transpose(1, 2)
        offsets = torch.arange(rows.shape[1], device=rows.device)
        rotation = rotation_at(before[:, None] + offsets, self.config)
        keys = torch.arange(self.past + rows.shape[1], device=rows.device)
        near = (keys >= offsets[:, None]) & (keys <= offsets[:, None] + self.past)
        mask = near & (keys >= self.past - before[:, None])[:, None, None]
        for layer in self.layers:
            assert isinstance(layer, Layer)
            query, key, value = layer.project(rows, rotation)
            rows = layer(rows, query, cache.append(key), cache.append(value), mask)
        return rows.transpose(1, 2)
