"""Load published state dicts into modules: names mapped, weight norm folded, every name and shape checked."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

StateDict = Mapping[str, Tensor]
Rules = Iterable[tuple[str, str]]
Module = TypeVar("Module", bound=nn.Module)

_NAMED = 3
_ALIGNMENT = 64
_NORMED = (
    (".parametrizations.weight.original0", ".parametrizations.weight.original1"),
    (".weight_g", ".weight_v"),
)


class WeightsError(ValueError):
    """A state dict does not fit its model; the message lists the differences."""


def under(prefix: str, state: StateDict) -> dict[str, Tensor]:
    """The entries whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}


def without_prefix(prefix: str, state: StateDict) -> dict[str, Tensor]:
    """All entries, with `prefix` removed where a name begins with it."""
    return {name.removeprefix(prefix): tensor for name, tensor in state.items()}


def renamed(rules: Rules, state: StateDict) -> dict[str, Tensor]:
    """All entries, each name put through the rules (pattern and replacement) in turn."""
    names = {name: name for name in state}
    for pattern, replacement in rules:
        names = {name: re.sub(pattern, replacement, new) for name, new in names.items()}
    return {names[name]: tensor for name, tensor in state.items()}


def fold_weight_norm(state: StateDict) -> dict[str, Tensor]:
    """Replace each weight-norm pair of gain and direction, under its old or new names, by the weight it stands for."""
    folded = dict(state)
    for gain_suffix, direction_suffix in _NORMED:
        for name in [name for name in folded if name.endswith(gain_suffix)]:
            base = name.removesuffix(gain_suffix)
            if base + direction_suffix not in folded:
                raise WeightsError(f"{name} has no {direction_suffix} beside it.")
            gain, direction = folded.pop(name), folded.pop(base + direction_suffix)
            length = direction.flatten(1).norm(dim=1).view(-1, *[1] * (direction.dim() - 1))
            folded[base + ".weight"] = direction * (gain / length)
    return folded


def aligned(rows: int) -> int:
    """Round up: a matrix product with an odd number of rows takes a GPU several times as long."""
    return -(-rows // _ALIGNMENT) * _ALIGNMENT


def with_aligned_rows(weight: Tensor) -> Tensor:
    """A matrix or vector with zeros behind it, up to an aligned number of rows."""
    rest = weight.new_zeros(aligned(len(weight)) - len(weight), *weight.shape[1:])
    return torch.cat((weight, rest))


def load(make: Callable[[], Module], state: StateDict, dtype: torch.dtype = torch.float32) -> Module:
    """Build the module on the meta device and load exactly `state` into it, frozen; buffers keep their precision."""
    with torch.device("meta"):
        module = make()
    _check(type(module).__name__, {name: tensor.shape for name, tensor in module.state_dict().items()}, state)
    learned = {name for name, _ in module.named_parameters()}
    cast = {name: tensor.to(dtype) if name in learned else tensor for name, tensor in state.items()}
    module.load_state_dict(cast, assign=True)
    return module.requires_grad_(False).eval()


def _check(model: str, wanted: Mapping[str, torch.Size], state: StateDict) -> None:
    faults = []
    if missing := [name for name in wanted if name not in state]:
        faults.append(f"lack {_some(missing)}")
    if surplus := [name for name in state if name not in wanted]:
        faults.append(f"hold {_some(surplus)} that the model does not have")
    wrong = [
        f"{name} ({tuple(state[name].shape)} for {tuple(shape)})"
        for name, shape in wanted.items()
        if name in state and state[name].shape != shape
    ]
    if wrong:
        faults.append(f"have the wrong shape at {_some(wrong)}")
    if faults:
        raise WeightsError(f"The weights of {model} {' and '.join(faults)}.")


def _some(names: list[str]) -> str:
    listed = ", ".join(names[:_NAMED])
    return listed if len(names) <= _NAMED else f"{listed} and {len(names) - _NAMED} more"
