"""Version 2's velocity estimator over blocks of many streams, on fused kernels: the hot path on a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cosyvoice.fused_kernels import EstimatorKernels
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.cosyvoice.unet import UNet, unet_inputs
from polyvox.models.paged_cache import PagedLayerCache


@dataclass(frozen=True, slots=True)
class _FusedConv:
    """A causal convolution as one matrix product."""

    weight: Tensor
    """[outputs, taps * channels]"""
    bias: Tensor
    taps: int

    def __call__(self, seen: Tensor) -> Tensor:
        """Of [n, taps, channels], all that the convolution sees at each position."""
        return functional.linear(seen.flatten(1), self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class _FusedTransformer:
    """One transformer block's weights, those with the same input concatenated."""

    norm: nn.LayerNorm
    projection: Tensor
    out: nn.Linear
    ff_norm: nn.LayerNorm
    ff_in: nn.Linear
    ff_out: nn.Linear


@dataclass(frozen=True, slots=True)
class _FusedLevel:
    """The layers of one level: two convolutions, what is added behind them, and transformers."""

    conv1: _FusedConv
    norm1: nn.LayerNorm
    conv2: _FusedConv
    norm2: nn.LayerNorm
    residual: _FusedConv
    transformers: list[_FusedTransformer]


Sum = tuple[Tensor, Tensor | None]
"""Rows and what is added to them, if anything: the kernel that reads them adds."""


class FusedUNet:
    """`UNet.forward` on a paged cache; the rows of a call are blocks of equal length, one behind the other."""

    def __init__(self, unet: UNet, kernels: EstimatorKernels) -> None:
        self._kernels = kernels
        self._down, *self._middle, self._up = [_fused_level(each) for each in (unet.down, *unet.middle, unet.up)]
        self._down_conv, self._up_conv = _fused_conv(unet.down_conv), _fused_conv(unet.up_conv)
        self._final, self._final_norm = _fused_conv(unet.final.conv), unet.final.norm
        self._final_proj = _fused_conv(unet.final_proj)

    def __call__(self, point: FlowPoint, time: Tensor, cache: PagedLayerCache) -> Tensor:
        """The velocity [batch, bins, frames]."""
        count = len(point.mel)
        given = unet_inputs(point).transpose(1, 2).flatten(0, 1)
        seen = self._seen(self._down.conv1, [(given, None)], cache)
        seen = self._seen(self._down_conv, [self._level(self._down, seen, time[0], cache, count)], cache)
        skip = seen[:, -1]
        rows: Sum = (self._down_conv(seen), None)
        for level, moment in zip(self._middle, time[1:-1], strict=True):
            rows = self._level(level, self._seen(level.conv1, [rows], cache), moment, cache, count)
        seen = self._seen(self._up.conv1, [rows, (skip, None)], cache)
        seen = self._seen(self._up_conv, [self._level(self._up, seen, time[-1], cache, count)], cache)
        seen = self._seen(self._final, [(self._up_conv(seen), None)], cache)
        active = functional.mish(self._final_norm(self._final(seen)))
        velocity = self._final_proj(active[:, None])
        return velocity.view(count, -1, velocity.shape[1]).transpose(1, 2)

    def _level(self, level: _FusedLevel, seen: Tensor, time: Tensor, cache: PagedLayerCache, count: int) -> Sum:
        """A residual block and its transformers, for so many blocks."""
        first = level.conv1(seen)
        seen_again = self._seen(level.conv2, [(first, time.expand_as(first))], cache, level.norm1)
        residual = level.residual(seen[:, -1:])
        transformers = level.transformers
        rows, normed = self._kernels.mish_and_norm(level.conv2(seen_again), level.norm2, residual, transformers[0].norm)
        for layer, after in zip(transformers, (*transformers[1:], None), strict=True):
            projected = functional.linear(normed, layer.projection).view(count, -1, len(layer.projection))
            attended = cache.attend_projected(projected, self._kernels.store_keys, None)
            normed = self._add_and_norm(rows, layer.out(attended.flatten(0, 1)), layer.ff_norm)
            added = layer.ff_out(functional.gelu(layer.ff_in(normed)))
            if after is not None:
                normed = self._add_and_norm(rows, added, after.norm)
        return rows, added

    def _add_and_norm(self, rows: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
        return self._kernels.add_and_norm(rows, added, None, norm.weight, norm.bias, norm.eps)

    def _seen(
        self, conv: _FusedConv, parts: Sequence[Sum], cache: PagedLayerCache, norm: nn.LayerNorm | None = None
    ) -> Tensor:
        """The inputs of a convolution at each position, [n, taps, channels], of parts that lie side by side.

        With a norm, rows are normed and activated before something is added.
        """
        first = parts[0][0]
        seen = first.new_empty(len(first), conv.taps, conv.weight.shape[1] // conv.taps)
        context, offset = cache.context_rows(conv.taps - 1), 0
        for rows, added in parts:
            self._kernels.conv_inputs(rows, norm, added, context, seen, offset)
            offset += rows.shape[1]
        return seen


def _fused_level(level: nn.Module) -> _FusedLevel:
    residual = cast("nn.Module", level.residual)
    block1, block2 = cast("nn.Module", residual.block1), cast("nn.Module", residual.block2)
    return _FusedLevel(
        _fused_conv(cast("nn.Module", block1.conv)),
        cast("nn.LayerNorm", block1.norm),
        _fused_conv(cast("nn.Module", block2.conv)),
        cast("nn.LayerNorm", block2.norm),
        _fused_conv(cast("nn.Module", residual.res_conv)),
        [_fused_transformer(each) for each in cast("nn.ModuleList", level.transformers)],
    )


def _fused_conv(conv: nn.Module) -> _FusedConv:
    """Of a causal convolution, or of one that sees a single position."""
    weight = cast("Tensor", conv.weight).detach()
    return _FusedConv(
        weight.transpose(1, 2).flatten(1).contiguous(), cast("Tensor", conv.bias).detach(), weight.shape[2]
    )


def _fused_transformer(transformer: nn.Module) -> _FusedTransformer:
    attention = cast("nn.Module", transformer.attn1)
    linears = [cast("nn.Linear", each) for each in (attention.to_q, attention.to_k, attention.to_v)]
    return _FusedTransformer(
        cast("nn.LayerNorm", transformer.norm1),
        torch.cat([linear.weight.detach() for linear in linears]),
        cast("nn.Linear", attention.to_out),
        cast("nn.LayerNorm", transformer.norm3),
        cast("nn.Linear", transformer.ff_in),
        cast("nn.Linear", transformer.ff_out),
    )
