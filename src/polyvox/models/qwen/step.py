"""The Qwen decoders in few kernels, on keys and values that lie in slots: what a GPU does most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, merge_heads
from polyvox.models.qwen.model import Qwen, QwenConfig, rotary


class Arithmetic(Protocol):
    """What stands between two products with weights: `qwen_kernels` has it."""

    def add_and_norm(self, rows: Tensor, added: Tensor | None, scale: Tensor, eps: float) -> Tensor: ...

    def place(
        self,
        projected: Tensor,
        norms: tuple[Tensor, Tensor] | None,
        eps: float,
        rotation: tuple[Tensor, Tensor],
        memory: tuple[Tensor, Tensor],
        slots: Tensor,
        positions: Tensor,
    ) -> Tensor: ...

    def attend_slots(
        self, queries: Tensor, memory: tuple[Tensor, Tensor], slots: Tensor, positions: Tensor, extent: int
    ) -> Tensor: ...

    def gate(self, both: Tensor) -> Tensor: ...

    def norm_and_project(
        self, row: Tensor, added: Tensor | None, scale: Tensor, eps: float, weight: Tensor, bias: Tensor | None
    ) -> tuple[Tensor, Tensor]: ...

    def attend_in_parts(
        self, queries: Tensor, memory: tuple[Tensor, Tensor], slots: Tensor, positions: Tensor, extent: int
    ) -> tuple[Tensor, Tensor]: ...

    def merge_and_project(self, parts: tuple[Tensor, Tensor], weight: Tensor) -> Tensor: ...

    def gate_and_project(self, both: Tensor, weight: Tensor) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer's weights, those that meet the same input side by side, and its keys and values of all slots."""

    before: Tensor
    projection: Tensor
    bias: Tensor | None
    norms: tuple[Tensor, Tensor] | None
    out: Tensor
    behind: Tensor
    gate_and_up: Tensor
    down: Tensor
    memory: tuple[Tensor, Tensor]


class QwenStep:
    """`Qwen.decode` for one new position a row, or for pieces of prompts, on keys and values that lie in slots.

    `memory` holds each layer's keys and then its values, [slots, key heads, capacity, width]. The model's weights are
    laid side by side where they are used together; the model goes on working, on the same memory.
    """

    def __init__(self, model: Qwen, memory: Sequence[Tensor], arithmetic: Arithmetic) -> None:
        config = model.config
        if len(memory) != 2 * config.layers:
            raise ValueError("There are keys and values for each layer.")
        self._config, self._arithmetic = config, arithmetic
        pairs = zip(memory[::2], memory[1::2], strict=True)
        self._layers = [_layer(layer, config, pair) for layer, pair in zip(model.layers, pairs, strict=True)]
        self._last = model.norm.weight
        positions = torch.arange(memory[0].shape[2], device=memory[0].device)
        half = config.head_width // 2
        cosines, sines = rotary(positions, config.head_width, config.rope_theta, self._last.dtype)
        self._rotation = cosines[0, :, :half].contiguous(), sines[0, :, :half].contiguous()

    def __call__(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        """The hidden states [n, hidden] behind `rows` [n, hidden], which stand at `positions` of `slots`, both [n].

        No position lies behind `extent`. What is in `rows` is lost.
        """
        if len(rows) == 1:
            return self._alone(rows, slots, positions, extent)
        do, eps = self._arithmetic, self._config.norm_eps
        added: Tensor | None = None
        for layer in self._layers:
            normed = do.add_and_norm(rows, added, layer.before, eps)
            projected = functional.linear(normed, layer.projection, layer.bias)
            queries = do.place(projected, layer.norms, eps, self._rotation, layer.memory, slots, positions)
            heard = do.attend_slots(queries, layer.memory, slots, positions, extent)
            added = functional.linear(heard, layer.out)
            normed = do.add_and_norm(rows, added, layer.behind, eps)
            added = functional.linear(do.gate(functional.linear(normed, layer.gate_and_up)), layer.down)
        return do.add_and_norm(rows, added, self._last, eps)

    def read(
        self, rows: Tensor, slots: Tensor, written: Tensor, positions: Tensor, extent: int, mask: Tensor
    ) -> Tensor:
        """The hidden states of pieces `rows` [n, m, hidden] of `slots` [n], at `positions` [n, m] of `written` [n, m].

        `mask` [n, 1, m, extent] says which of a slot's first positions each sees. What is in `rows` is lost.
        """
        do, eps = self._arithmetic, self._config.norm_eps
        pieces, width, hidden = rows.shape
        rows, written, positions = rows.contiguous().view(-1, hidden), written.reshape(-1), positions.reshape(-1)
        added: Tensor | None = None
        for layer in self._layers:
            normed = do.add_and_norm(rows, added, layer.before, eps)
            projected = functional.linear(normed, layer.projection, layer.bias)
            queries = do.place(projected, layer.norms, eps, self._rotation, layer.memory, written, positions)
            keys, values = (each[:, :, :extent].index_select(0, slots) for each in layer.memory)
            heard = attend(queries.view(pieces, width, *queries.shape[1:]).transpose(1, 2), keys, values, mask)
            added = functional.linear(merge_heads(heard).flatten(0, 1), layer.out)
            normed = do.add_and_norm(rows, added, layer.behind, eps)
            added = functional.linear(do.gate(functional.linear(normed, layer.gate_and_up)), layer.down)
        return do.add_and_norm(rows, added, self._last, eps).view(pieces, width, hidden)

    def _alone(self, row: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        """A single row takes as long as its weights take to be read, so whatever stands before one is done with it."""
        do, eps = self._arithmetic, self._config.norm_eps
        added: Tensor | None = None
        for layer in self._layers:
            row, projected = do.norm_and_project(row, added, layer.before, eps, layer.projection, layer.bias)
            queries = do.place(projected, layer.norms, eps, self._rotation, layer.memory, slots, positions)
            parts = do.attend_in_parts(queries, layer.memory, slots, positions, extent)
            added = do.merge_and_project(parts, layer.out)
            row, both = do.norm_and_project(row, added, layer.behind, eps, layer.gate_and_up, None)
            added = do.gate_and_project(both, layer.down)
        return do.add_and_norm(row, added, self._last, eps)


def _layer(layer: nn.Module, config: QwenConfig, memory: tuple[Tensor, Tensor]) -> _Layer:
    attention = cast(nn.Module, layer.self_attn)
    forward = cast(nn.Module, layer.mlp)
    heads = ("q_proj", "k_proj", "v_proj")
    return _Layer(
        before=_weight(layer.input_layernorm),
        projection=_side_by_side(attention, heads, "weight"),
        bias=_side_by_side(attention, heads, "bias") if config.qkv_bias else None,
        norms=(_weight(attention.q_norm), _weight(attention.k_norm)) if config.qk_norm else None,
        out=_weight(attention.o_proj),
        behind=_weight(layer.post_attention_layernorm),
        gate_and_up=_side_by_side(forward, ("gate_proj", "up_proj"), "weight"),
        down=_weight(forward.down_proj),
        memory=memory,
    )


def _weight(part: nn.Module | Tensor) -> Tensor:
    return cast(nn.Module, part).get_parameter("weight")


def _side_by_side(module: nn.Module, names: Sequence[str], kind: str) -> Tensor:
    """The parameters of several linear layers as one; each layer then has its part of it for its own."""
    linears = [module.get_submodule(name) for name in names]
    joined = torch.cat([linear.get_parameter(kind) for linear in linears])
    parts = torch.split(joined, [len(linear.get_parameter(kind)) for linear in linears])
    for linear, part in zip(linears, parts, strict=True):
        setattr(linear, kind, nn.Parameter(part, requires_grad=False))
    return joined
