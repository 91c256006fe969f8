"""A block-causal attention mask over static buffers, whose contents are known only when a graph is replayed."""

import torch
from torch import Tensor

from polyvox.models.attention import BlockCausalMask


class StaticMask(BlockCausalMask):
    """The mask of the last `size` of `extent` positions, computed on the device.

    `bounds` holds the first of the `size` positions, the number of cached ones before it, and the number of the `size`
    that are not padding. The mask is boolean or, in another `dtype`, additive.
    """

    def __init__(self, bounds: Tensor, size: int, extent: int, block: int, dtype: torch.dtype) -> None:
        self._arguments = bounds, size, extent, block, dtype
        first, cached, valid = bounds.unbind()
        self._positions = first + torch.arange(size - extent, size, device=bounds.device)
        blocks = self._positions // block
        filled = (self._positions >= first - cached) & (self._positions < first + valid)
        self._mask: Tensor = filled & (blocks <= blocks[extent - size :, None])
        if dtype != torch.bool:
            zeros = torch.zeros(size, extent, dtype=dtype, device=bounds.device)
            self._mask = zeros.masked_fill(~self._mask, float("-inf"))

    def scaled(self, rate: int) -> "StaticMask":
        bounds, size, extent, block, dtype = self._arguments
        return StaticMask(rate * bounds, rate * size, rate * extent, rate * block, dtype)

    def positions(self, count: int, device: torch.device) -> Tensor:
        last: Tensor = self._positions[len(self._positions) - count :]
        return last

    def tensor(self, query: Tensor, key: Tensor) -> Tensor:
        assert (query.shape[-2], key.shape[-2]) == self._mask.shape
        return self._mask
