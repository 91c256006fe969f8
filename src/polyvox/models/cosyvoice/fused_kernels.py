"""Kernels that the fused velocity estimators run between two matrix products."""

from typing import Protocol

from torch import Tensor, nn

from polyvox.models.paged_attention import BlockTable
from polyvox.models.paged_cache import ContextRows


class EstimatorKernels(Protocol):
    """The fused kernels between two matrix products; `estimator_kernels` implements them."""

    def add_and_norm(
        self, rows: Tensor, added: Tensor, gate: Tensor | None, scale: Tensor, shift: Tensor, eps: float
    ) -> Tensor: ...

    def store_keys(
        self, projected: Tensor, keys: Tensor, values: Tensor, table: BlockTable, rotation: tuple[Tensor, Tensor] | None
    ) -> Tensor: ...

    def grouped_conv_mish(self, padded: Tensor, weight: Tensor, bias: Tensor) -> Tensor: ...

    def mish_and_norm(
        self, rows: Tensor, norm: nn.LayerNorm, added: Tensor, next_norm: nn.LayerNorm
    ) -> tuple[Tensor, Tensor]: ...

    def conv_inputs(
        self,
        rows: Tensor,
        norm: nn.LayerNorm | None,
        added: Tensor | None,
        context: ContextRows,
        inputs: Tensor,
        offset: int,
    ) -> None: ...
