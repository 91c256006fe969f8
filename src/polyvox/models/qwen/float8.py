"""Weights of linear layers in float8 (e4m3), and rows of activations rounded to it.

Activations have one fixed scale: a floating format needs none that follows the data, and so a row does not depend on
its batch.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

FLOAT8 = torch.float8_e4m3fn
FLOAT8_MOST = torch.finfo(FLOAT8).max
_SUPPORTED = (8, 9)


def supports_float8(device: torch.device) -> bool:
    """Return whether a GPU multiplies float8."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= _SUPPORTED


@dataclass(frozen=True, slots=True)
class Float8Weight:
    """A weight [outputs, inputs] in float8; `scale` [1] makes it what it was."""

    weight: Tensor
    scale: Tensor
    one: Tensor
    """The scale of activations, [1]."""

    @classmethod
    def of(cls, weight: Tensor) -> "Float8Weight":
        """Round a weight, its greatest value to the greatest of float8."""
        scale = weight.abs().max().float().clamp(min=torch.finfo(torch.float32).tiny) / FLOAT8_MOST
        return cls((weight.float() / scale).to(FLOAT8), scale.view(1), torch.ones_like(scale).view(1))

    def __len__(self) -> int:
        return len(self.weight)


Weight = Tensor | Float8Weight


def activation_dtype(weight: Weight, dtype: torch.dtype) -> torch.dtype:
    """The type that rows are rounded to before they are multiplied by a weight."""
    return dtype if isinstance(weight, Tensor) else FLOAT8


def project(rows: Tensor, weight: Weight, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    """Rows [n, inputs], in `activation_dtype`, times a weight: [n, outputs] in `dtype`."""
    if isinstance(weight, Tensor):
        return functional.linear(rows, weight, bias)
    if rows.device.type != "cuda":
        product = functional.linear(rows.float(), weight.weight.float()) * weight.scale
        return (product if bias is None else product + bias).to(dtype)
    out: Tensor = torch._scaled_mm(
        rows, weight.weight.t(), scale_a=weight.one, scale_b=weight.scale, bias=bias, out_dtype=dtype
    )
    return out
