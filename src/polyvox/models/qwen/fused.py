"""The Qwen decoders on fused kernels and a KV cache in slots: the hot path on a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from polyvox.models.attention import attend
from polyvox.models.qwen.float8 import Float8Weight, Weight, activation_dtype, project
from polyvox.models.qwen.model import Qwen, QwenConfig

SHORT = 64
"""Positions of caches whose attention is one kernel with what stores them."""


class QwenKernels(Protocol):
    """The fused kernels between two matrix products; `qwen_kernels` implements them."""

    def add_and_norm(
        self, rows: Tensor, added: Tensor | None, scale: Tensor, eps: float, dtype: torch.dtype | None = None
    ) -> Tensor: ...

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

    def attend_short(
        self,
        projected: Tensor,
        norms: tuple[Tensor, Tensor] | None,
        eps: float,
        rotation: tuple[Tensor, Tensor],
        cache: tuple[Tensor, Tensor],
        slots: Tensor,
        positions: Tensor,
        dtype: torch.dtype | None = None,
    ) -> Tensor: ...

    def attend_slots(
        self,
        queries: Tensor,
        cache: tuple[Tensor, Tensor],
        slots: Tensor,
        positions: Tensor,
        extent: int,
        dtype: torch.dtype | None = None,
        prefixes: Tensor | None = None,
    ) -> Tensor: ...

    def gate(self, both: Tensor, dtype: torch.dtype | None = None) -> Tensor: ...

    def norm_and_project(
        self, row: Tensor, added: Tensor | None, scale: Tensor, eps: float, weight: Weight, bias: Tensor | None
    ) -> tuple[Tensor, Tensor]: ...

    def attend_split(
        self,
        queries: Tensor,
        cache: tuple[Tensor, Tensor],
        slots: Tensor,
        positions: Tensor,
        extent: int,
        prefixes: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]: ...

    def merge_and_project(self, parts: tuple[Tensor, Tensor], weight: Weight, dtype: torch.dtype) -> Tensor: ...

    def gate_and_project(self, both: Tensor, weight: Weight) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class _FusedLayer:
    """One layer's weights, those with the same input concatenated, and its keys and values of all slots."""

    input_norm: Tensor
    projection: Weight
    bias: Tensor | None
    qk_norms: tuple[Tensor, Tensor] | None
    out: Weight
    output_norm: Tensor
    gate_and_up: Weight
    down: Weight
    cache: tuple[Tensor, Tensor]


class FusedQwen:
    """`Qwen.decode` on a KV cache in slots: one new position a row, or chunks of prompts.

    `cache` holds each layer's keys and then its values, [slots, key heads, capacity, width]. Weights with the same
    input are concatenated; the model's own parameters become views of them, so that it goes on working. With `float8`,
    copies of the weights and the rows that meet them are rounded to it.
    """

    def __init__(self, model: Qwen, cache: Sequence[Tensor], kernels: QwenKernels, *, float8: bool = False) -> None:
        config = model.config
        if len(cache) != 2 * config.layers:
            raise ValueError("The cache must hold keys and values for each layer.")
        self._config, self._kernels = config, kernels
        pairs = zip(cache[::2], cache[1::2], strict=True)
        self._layers = [
            _fused_layer(layer, config, pair, float8=float8) for layer, pair in zip(model.layers, pairs, strict=True)
        ]
        self._final_norm = model.norm.weight
        self._rounded = activation_dtype(self._layers[0].out, self._final_norm.dtype)
        capacity = cache[0].shape[2]
        self._short = capacity <= SHORT
        self._whole = torch.zeros(2, 1, config.heads, 1, device=cache[0].device)
        """Maximum and total of a single split that is complete: nothing is left to merge."""
        self._whole[1] = 1.0
        positions = torch.arange(capacity, device=cache[0].device)
        half = config.head_width // 2
        cosines, sines = config.rotation(positions, self._final_norm.dtype)
        self._rotation = cosines[0, :, :half].contiguous(), sines[0, :, :half].contiguous()

    def decode(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        """Hidden states [n, hidden] for `rows` [n, hidden] at `positions` [n] of `slots` [n].

        All positions lie before `extent`. `rows` is overwritten.
        """
        return self.decode_shared(rows, slots, positions, extent, None)

    def decode_shared(
        self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int, prefixes: Tensor | None
    ) -> Tensor:
        """The same with a table of the prefixes that rows share; see `qwen_kernels.attend_split`."""
        if len(rows) == 1:
            return self._decode_single(rows, slots, positions, extent, prefixes)
        kernels, eps, kind, rounded = self._kernels, self._config.norm_eps, rows.dtype, self._rounded
        added: Tensor | None = None
        for layer in self._layers:
            normed = kernels.add_and_norm(rows, added, layer.input_norm, eps, rounded)
            projected = project(normed, layer.projection, layer.bias, kind)
            attended = self._attended(projected, layer, slots, positions, extent, prefixes)
            added = project(attended, layer.out, None, kind)
            added = self._feed_forward(rows, added, layer)
        return kernels.add_and_norm(rows, added, self._final_norm, eps)

    def _attended(
        self,
        projected: Tensor,
        layer: _FusedLayer,
        slots: Tensor,
        positions: Tensor,
        extent: int,
        prefixes: Tensor | None,
    ) -> Tensor:
        """Store the new keys and values, and attend to those of the rows' slots: [n, heads * width]."""
        kernels, eps = self._kernels, self._config.norm_eps
        given = projected, layer.qk_norms, eps, self._rotation, layer.cache, slots, positions
        if self._short:
            return kernels.attend_short(*given, self._rounded).flatten(1)
        queries = kernels.rotate_and_store(*given)
        return kernels.attend_slots(queries, layer.cache, slots, positions, extent, self._rounded, prefixes)

    def _attended_parts(
        self,
        projected: Tensor,
        layer: _FusedLayer,
        slots: Tensor,
        positions: Tensor,
        extent: int,
        prefixes: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """The same for a single row, before its splits are merged."""
        kernels, eps = self._kernels, self._config.norm_eps
        given = projected, layer.qk_norms, eps, self._rotation, layer.cache, slots, positions
        if self._short:
            return kernels.attend_short(*given, torch.float32)[:, :, None], self._whole
        return kernels.attend_split(kernels.rotate_and_store(*given), layer.cache, slots, positions, extent, prefixes)

    def _feed_forward(self, rows: Tensor, added: Tensor, layer: _FusedLayer) -> Tensor:
        """Add to `rows` in place, and return what the layer's second half adds."""
        kernels, kind, rounded = self._kernels, rows.dtype, self._rounded
        normed = kernels.add_and_norm(rows, added, layer.output_norm, self._config.norm_eps, rounded)
        return project(kernels.gate(project(normed, layer.gate_and_up, None, kind), rounded), layer.down, None, kind)

    def prefill(
        self, rows: Tensor, slots: Tensor, write_slots: Tensor, positions: Tensor, extent: int, mask: Tensor
    ) -> Tensor:
        """Hidden states for chunks `rows` [n, m, hidden] at `positions` [n, m], written to `write_slots` [n, m].

        They attend to the first `extent` positions of `slots` [n] under `mask` [n, 1, m, extent]. `rows` may be
        overwritten.
        """
        kernels, eps, kind, rounded = self._kernels, self._config.norm_eps, rows.dtype, self._rounded
        chunks, width, hidden = rows.shape
        rows, positions = rows.contiguous().view(-1, hidden), positions.reshape(-1)
        write_slots = write_slots.reshape(-1)
        bias = _grouped_bias(mask, self._config.heads // self._config.key_heads, kind)
        added: Tensor | None = None
        for layer in self._layers:
            normed = kernels.add_and_norm(rows, added, layer.input_norm, eps, rounded)
            projected = project(normed, layer.projection, layer.bias, kind)
            queries = kernels.rotate_and_store(
                projected, layer.qk_norms, eps, self._rotation, layer.cache, write_slots, positions
            )
            keys, values = (each[:, :, :extent].index_select(0, slots) for each in layer.cache)
            attended = _attend_grouped(queries.view(chunks, width, *queries.shape[1:]), keys, values, bias)
            added = project(attended.to(rounded), layer.out, None, kind)
            added = self._feed_forward(rows, added, layer)
        return kernels.add_and_norm(rows, added, self._final_norm, eps).view(chunks, width, hidden)

    def _decode_single(
        self, row: Tensor, slots: Tensor, positions: Tensor, extent: int, prefixes: Tensor | None
    ) -> Tensor:
        """One row is bound by the reading of weights, so each product is fused with what comes before it."""
        kernels, eps = self._kernels, self._config.norm_eps
        added: Tensor | None = None
        for layer in self._layers:
            row, projected = kernels.norm_and_project(row, added, layer.input_norm, eps, layer.projection, layer.bias)
            parts = self._attended_parts(projected, layer, slots, positions, extent, prefixes)
            added = kernels.merge_and_project(parts, layer.out, row.dtype)
            row, both = kernels.norm_and_project(row, added, layer.output_norm, eps, layer.gate_and_up, None)
            added = kernels.gate_and_project(both, layer.down)
        return kernels.add_and_norm(row, added, self._final_norm, eps)


def _grouped_bias(mask: Tensor, group: int, dtype: torch.dtype) -> Tensor:
    """A mask [n, 1, m, extent] as what is added to the scores of `_attend_grouped`, [n, 1, group * m, extent]."""
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, float("-inf"))
    return bias.repeat(1, 1, group, 1)


def _attend_grouped(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """Attention of `queries` [n, m, heads, width] to fewer key heads: [n * m, heads * width].

    Heads that share keys stand as positions of one head. With a mask, torch would otherwise repeat the keys for them,
    in float32.
    """
    chunks, length, heads, width = queries.shape
    key_heads = keys.shape[1]
    grouped = queries.view(chunks, length, key_heads, -1, width).permute(0, 2, 3, 1, 4)
    attended = attend(grouped.reshape(chunks, key_heads, -1, width), keys, values, bias)
    return attended.view(grouped.shape).permute(0, 3, 1, 2, 4).reshape(chunks * length, heads * width)


def _fused_layer(layer: nn.Module, config: QwenConfig, cache: tuple[Tensor, Tensor], *, float8: bool) -> _FusedLayer:
    attention = cast(nn.Module, layer.self_attn)
    forward = cast(nn.Module, layer.mlp)
    heads = ("q_proj", "k_proj", "v_proj")
    made = Float8Weight.of if float8 else _same
    return _FusedLayer(
        input_norm=_weight(layer.input_layernorm),
        projection=made(_concatenate(attention, heads, "weight")),
        bias=_concatenate(attention, heads, "bias") if config.qkv_bias else None,
        qk_norms=(_weight(attention.q_norm), _weight(attention.k_norm)) if config.qk_norm else None,
        out=made(_weight(attention.o_proj)),
        output_norm=_weight(layer.post_attention_layernorm),
        gate_and_up=made(_concatenate(forward, ("gate_proj", "up_proj"), "weight")),
        down=made(_weight(forward.down_proj)),
        cache=cache,
    )


def _same(weight: Tensor) -> Weight:
    return weight


def _weight(part: nn.Module | Tensor) -> Tensor:
    return cast(nn.Module, part).get_parameter("weight")


def _concatenate(module: nn.Module, names: Sequence[str], kind: str) -> Tensor:
    """The parameters of several linear layers as one tensor; each layer's own becomes a view of it."""
    linears = [module.get_submodule(name) for name in names]
    joined = torch.cat([linear.get_parameter(kind) for linear in linears])
    parts = torch.split(joined, [len(linear.get_parameter(kind)) for linear in linears])
    for linear, part in zip(linears, parts, strict=True):
        setattr(linear, kind, nn.Parameter(part, requires_grad=False))
    return joined
