"""The flow of versions 2 and 3 over blocks of many streams in one call, with their caches in shared memory."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cosyvoice.dit import DiT
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow
from polyvox.models.cosyvoice.fused_dit import FusedDiT
from polyvox.models.cosyvoice.fused_kernels import EstimatorKernels
from polyvox.models.cosyvoice.fused_unet import FusedUNet
from polyvox.models.cosyvoice.ode_solver import FlowPoint, solve
from polyvox.models.cosyvoice.unet import UNet
from polyvox.models.paged_attention import BlockTable, PagedAttention
from polyvox.models.paged_cache import BlockLayout, LayoutTrace, PagedCache, PagedLayerCache


@dataclass(frozen=True, slots=True)
class FlowLayout:
    """Sizes of the state that the two halves of a flow keep of a block."""

    encoder: BlockLayout
    solver: BlockLayout

    @property
    def nbytes(self) -> int:
        return self.encoder.nbytes + self.solver.nbytes


@torch.inference_mode()
def flow_layout(flow: Flow) -> FlowLayout:
    """Found by computing one block."""
    config, weight = flow.config, flow.speaker.weight
    ids = torch.zeros(1, config.block + config.ahead, dtype=torch.long, device=weight.device)
    encoder, solver = LayoutTrace(), LayoutTrace()
    mask = BlockCausalMask(config.block, config.block)
    mu = flow.token_encoder(ids[:, : config.block], ids[:, config.block :], encoder, mask)
    flow.integrate(FlowPoint(mu.float(), mu, mu[:, :, 0], mu), solver, mask.scaled(FRAMES_PER_TOKEN))
    return FlowLayout(encoder.layout, solver.layout)


class PagedFlow:
    """Runs a flow over blocks: each row of a call is one block of some stream, wherever in it.

    A row's result depends on its stream alone. Padding rows fill the spare block.
    """

    def __init__(
        self,
        flow: Flow,
        layout: FlowLayout,
        blocks: int,
        attention: PagedAttention,
        kernels: EstimatorKernels | None = None,
    ) -> None:
        """With `kernels`, the estimator runs on them."""
        self.flow, self._fused = flow, _fused(flow, kernels)
        self.block_bytes = layout.nbytes
        device = flow.speaker.weight.device
        self._encoder_cache = PagedCache(layout.encoder, blocks, attention, device)
        self._solver_cache = PagedCache(layout.solver, blocks, attention, device)

    @property
    def memory(self) -> tuple[Tensor, ...]:
        """All tensors of the caches."""
        caches = (self._encoder_cache, self._solver_cache)
        return tuple(each for cache in caches for each in (*cache.contexts, *(half for kv in cache.kv for half in kv)))

    def encode(self, ids: Tensor, table: BlockTable, most: int) -> Tensor:
        """Encode the tokens of each block, [n, block + lookahead], as mu; `most` is the largest count in the table."""
        block = self.flow.config.block
        cache = PagedLayerCache(self._encoder_cache, table, most)
        mu: Tensor = self.flow.token_encoder(ids[:, :block], ids[:, block:], cache, BlockCausalMask(block, block))
        return mu

    def solve(self, point: FlowPoint, first: Tensor, table: BlockTable) -> Tensor:
        """Integrate each block to its mel, [n, bins, frames]; `first` [n] is its first frame."""
        frames = FRAMES_PER_TOKEN * self.flow.config.block
        cache = PagedLayerCache(self._solver_cache, table, 0)
        if self._fused is None:
            return self.flow.integrate(point, cache, _BlockPositions(first, frames))
        velocity, time = self._fused(first, frames), self.flow.time.to(point.mu.dtype)
        return solve(
            point, self.flow.deltas, self.flow.config.guidance, lambda step, at: velocity(at, time[step], cache)
        )


FusedVelocity = Callable[[FlowPoint, Tensor, PagedLayerCache], Tensor]
"""The velocity of blocks, given the time conditioning of a step."""


def _fused(flow: Flow, kernels: EstimatorKernels | None) -> Callable[[Tensor, int], FusedVelocity] | None:
    """Makes the velocity of blocks that begin at given frames and have a given length; None without kernels."""
    if kernels is None:
        return None
    if isinstance(flow.estimator, DiT):
        dit = FusedDiT(flow.estimator, kernels)
        return lambda first, frames: partial(dit, rotation=dit.rotation(first, frames))
    assert isinstance(flow.estimator, UNet)
    unet = FusedUNet(flow.estimator, kernels)
    return lambda first, frames: unet


class _BlockPositions(BlockCausalMask):
    """The positions of rows that are blocks of different streams; nothing within a block is masked."""

    def __init__(self, first: Tensor, block: int) -> None:
        super().__init__(block, block)
        self._first = first

    def positions(self, count: int, device: torch.device) -> Tensor:
        """[branches * n, 1, count], for rows of two branches."""
        first = torch.cat((self._first, self._first))
        return first[:, None, None] + torch.arange(count, device=device)
