"""The GPT-2 decoder on a KV cache in slots, which attention reads in place: the hot path on a GPU."""

from collections.abc import Callable, Sequence
from typing import Protocol, cast

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.chatterbox.gpt2 import Gpt2, Gpt2Layer

PrefillMemory = Callable[[Tensor, Tensor, Tensor, int], LayerCache]
"""The cache for chunks, by the slots that are read, those that are written, the positions and the extent."""


class SlotKernels(Protocol):
    """The kernels of `qwen_kernels` that know nothing of Qwen."""

    def rotate_and_store(
        self,
        projected: Tensor,
        norms: tuple[Tensor, Tensor] | None,
        eps: float,
        rotation: tuple[Tensor, Tensor],
        cache: tuple[Tensor, Tensor],
        slots: Tensor,
        positions: Tensor,
    ) -> Tensor: ...

    def attend_slots(
        self, queries: Tensor, cache: tuple[Tensor, Tensor], slots: Tensor, positions: Tensor, extent: int
    ) -> Tensor: ...


class FusedGpt2:
    """`Gpt2.decode` on a KV cache in slots; see `FusedBackbone`.

    `cache` holds each layer's keys and then its values, [slots, heads, capacity, width]. Chunks of prompts are computed
    by the plain network on the same cache, `memory`.
    """

    def __init__(self, model: Gpt2, cache: Sequence[Tensor], memory: PrefillMemory, kernels: SlotKernels) -> None:
        self._model, self._memory, self._kernels = model, memory, kernels
        if len(cache) != 2 * model.config.layers:
            raise ValueError("The cache must hold keys and values for each layer.")
        pairs = zip(cache[::2], cache[1::2], strict=True)
        self._layers = [(cast(Gpt2Layer, layer), pair) for layer, pair in zip(model.layers, pairs, strict=True)]
        whole = torch.ones(
            cache[0].shape[2], model.config.head_width // 2, dtype=cache[0].dtype, device=cache[0].device
        )
        self._unrotated = whole, torch.zeros_like(whole)

    def decode(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        """Hidden states [n, hidden] for `rows` [n, hidden] at `positions` [n] of `slots` [n], all before `extent`."""
        kernels, model = self._kernels, self._model
        rows = rows + functional.embedding(positions, model.wpe.weight)
        for layer, cache in self._layers:
            projected = layer.c_attn(layer.ln_1(rows))
            queries = kernels.rotate_and_store(projected, None, 0.0, self._unrotated, cache, slots, positions)
            rows = rows + layer.c_proj(kernels.attend_slots(queries, cache, slots, positions, extent))
            rows = rows + layer.feed_forward(rows)
        hidden: Tensor = model.norm(rows)
        return hidden

    def prefill(
        self, rows: Tensor, slots: Tensor, write_slots: Tensor, positions: Tensor, extent: int, mask: Tensor
    ) -> Tensor:
        """Hidden states for chunks `rows` [n, m, hidden] at `positions` [n, m], written to `write_slots` [n, m]."""
        return self._model.decode(rows, self._memory(slots, write_slots, positions, extent), positions, mask)
