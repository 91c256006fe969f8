"""Version 3's velocity estimator over blocks of many streams, on fused kernels: the hot path on a GPU."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.convolution import CausalConv
from polyvox.models.cosyvoice.dit import EPS, DiT, modulate
from polyvox.models.cosyvoice.fused_kernels import EstimatorKernels
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.paged_cache import PagedLayerCache


@dataclass(frozen=True, slots=True)
class _FusedBlock:
    """One block's weights, those with the same input concatenated."""

    projection: Tensor
    projection_bias: Tensor
    out: nn.Linear
    ff_in: nn.Linear
    ff_out: nn.Linear


class FusedDiT:
    """`DiT.forward` on a paged cache; the rows of a call are blocks of equal length."""

    def __init__(self, dit: DiT, kernels: EstimatorKernels) -> None:
        self._dit, self._kernels = dit, kernels
        self._convs = [_by_tap(conv) for conv in (dit.input_conv1, dit.input_conv2)]
        self._blocks = [_fused_block(block) for block in dit.blocks]

    def rotation(self, first: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines of the positions of blocks that begin at `first` [n]."""
        positions = first[:, None] + torch.arange(length, device=first.device)
        angles = positions[..., None] * self._dit.rates.float()
        return angles.cos(), angles.sin()

    def __call__(
        self, point: FlowPoint, time: Tensor, cache: PagedLayerCache, rotation: tuple[Tensor, Tensor]
    ) -> Tensor:
        """The velocity [batch, bins, frames]."""
        embedded = self._embed(point, cache)
        count, length, width = embedded.shape
        rows = embedded.view(-1, width)
        moments = time[:-2].view(len(self._blocks), 6, -1)
        normed = modulate(rows, moments[0, 0], moments[0, 1])
        for index, block in enumerate(self._blocks):
            _, _, gate, ff_shift, ff_scale, ff_gate = moments[index]
            attended = cache.attend_projected(
                functional.linear(normed, block.projection, block.projection_bias).view(count, length, -1),
                self._kernels.store_keys,
                rotation,
            )
            normed = self._kernels.add_and_norm(
                rows, block.out(attended.view(rows.shape)), gate, ff_scale, ff_shift, EPS
            )
            inner = functional.gelu(block.ff_in(normed), approximate="tanh")
            last = index + 1 == len(self._blocks)
            shift, scale = (time[-1], time[-2]) if last else moments[index + 1, :2]
            normed = self._kernels.add_and_norm(rows, block.ff_out(inner), ff_gate, scale, shift, EPS)
        velocity: Tensor = self._dit.proj_out(normed)
        return velocity.view(count, length, -1).transpose(1, 2)

    def _embed(self, point: FlowPoint, cache: PagedLayerCache) -> Tensor:
        speaker = point.speaker[:, :, None].expand_as(point.mel)
        inputs = torch.cat((point.mel, point.condition, point.mu, speaker), dim=1)
        frames: Tensor = self._dit.input_proj(inputs.transpose(1, 2))
        inner = frames
        for conv, by_tap in zip((self._dit.input_conv1, self._dit.input_conv2), self._convs, strict=True):
            inner = self._kernels.grouped_conv_mish(cache.left_rows(inner, conv.context), by_tap, conv.bias)
        return frames + inner


def _by_tap(conv: CausalConv) -> Tensor:
    """A convolution's weight as [taps, groups, inputs of a group, outputs of a group]."""
    return conv.weight.detach().view(conv.groups, -1, *conv.weight.shape[1:]).permute(3, 0, 2, 1).contiguous()


def _fused_block(block: nn.Module) -> _FusedBlock:
    attention = cast("nn.Module", block.attn)
    linears = [cast("nn.Linear", each) for each in (attention.to_q, attention.to_k, attention.to_v)]
    return _FusedBlock(
        torch.cat([linear.weight.detach() for linear in linears]),
        torch.cat([linear.bias.detach() for linear in linears]),
        cast("nn.Linear", attention.to_out),
        cast("nn.Linear", block.ff_in),
        cast("nn.Linear", block.ff_out),
    )
