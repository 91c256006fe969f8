"""Version 2's velocity estimator over blocks of many streams, on fused kernels: the hot path on a GPU."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cosyvoice.fused_kernels import EstimatorKernels
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.cosyvoice.unet import Level, UNet, unet_inputs
from polyvox.models.paged_cache import PagedLayerCache


@dataclass(frozen=True, slots=True)
class _FusedTransformer:
    """One transformer block's weights, those with the same input concatenated."""

    norm: nn.LayerNorm
    projection: Tensor
    out: nn.Linear
    ff_norm: nn.LayerNorm
    ff_in: nn.Linear
    ff_out: nn.Linear


class FusedUNet:
    """`UNet.forward` on a paged cache; the rows of a call are blocks of equal length."""

    def __init__(self, unet: UNet, kernels: EstimatorKernels) -> None:
        self._unet, self._kernels = unet, kernels
        levels = [unet.down, *unet.middle, unet.up]
        self._levels = [(level, [_fused(each) for each in cast("Level", level).transformers]) for level in levels]

    def __call__(self, point: FlowPoint, time: Tensor, cache: PagedLayerCache) -> Tensor:
        """The velocity [batch, bins, frames]."""
        unet, (down, *middle, up) = self._unet, self._levels
        skip = self._level(down, unet_inputs(point), time[0], cache)
        frames = unet.down_conv(skip, cache)
        for level, moment in zip(middle, time[1:-1], strict=True):
            frames = self._level(level, frames, moment, cache)
        frames = self._level(up, torch.cat((frames, skip), dim=1), time[-1], cache)
        velocity: Tensor = unet.final_proj(unet.final(unet.up_conv(frames, cache), cache))
        return velocity

    def _level(
        self, level: tuple[nn.Module, list[_FusedTransformer]], frames: Tensor, time: Tensor, cache: PagedLayerCache
    ) -> Tensor:
        network, transformers = level
        embedded: Tensor = cast("nn.Module", network.residual)(frames, time, cache).transpose(1, 2).contiguous()
        count, length, width = embedded.shape
        rows = embedded.view(-1, width)
        normed = transformers[0].norm(rows)
        for index, layer in enumerate(transformers):
            projected = functional.linear(normed, layer.projection).view(count, length, -1)
            attended = cache.attend_projected(projected, self._kernels.store_keys, None)
            normed = self._add_and_norm(rows, layer.out(attended.flatten(0, 1)), layer.ff_norm)
            added = layer.ff_out(functional.gelu(layer.ff_in(normed)))
            if index + 1 == len(transformers):
                rows = rows + added
            else:
                normed = self._add_and_norm(rows, added, transformers[index + 1].norm)
        return rows.view(embedded.shape).transpose(1, 2)

    def _add_and_norm(self, rows: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
        return self._kernels.add_and_norm(rows, added, None, norm.weight, norm.bias, norm.eps)


def _fused(transformer: nn.Module) -> _FusedTransformer:
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
