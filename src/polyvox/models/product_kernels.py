"""A Triton kernel for products with a weight, and what follows each of them. No row depends on the others in any bit.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_ROWS, _COLUMNS, _INNER = 128, 64, 32
_GROUP = 8
"""Blocks of rows that are computed beside each other for each block of columns: they share its weights in the cache."""
_WARPS, _STAGES = 4, 3


def dense(rows: Tensor, weight: Tensor, bias: Tensor, *, gelu: bool = False) -> Tensor:
    """Rows [..., inputs] times a weight [outputs, inputs], plus bias, through a GELU if asked for.

    Rows and weight are in one precision. A factor in single precision is split into two numbers of eleven bits, of
    which three products are summed: that keeps its error, on units for matrices.
    """
    return _product(rows, weight, bias, None, None, gelu=gelu)


def scaled_onto(origin: Tensor, rows: Tensor, weight: Tensor, bias: Tensor, scale: Tensor) -> Tensor:
    """`origin` plus `scale` [outputs] times the product of `dense`, in the precision of `origin`."""
    return _product(rows, weight, bias, origin.contiguous(), scale, gelu=False)


def _product(
    rows: Tensor, weight: Tensor, bias: Tensor, origin: Tensor | None, scale: Tensor | None, *, gelu: bool
) -> Tensor:
    outputs, inputs = weight.shape
    count = rows.numel() // inputs
    out = torch.empty(*rows.shape[:-1], outputs, dtype=(rows if origin is None else origin).dtype, device=rows.device)
    blocks = triton.cdiv(count, _ROWS) * triton.cdiv(outputs, _COLUMNS)
    _product_kernel[(blocks,)](
        rows.contiguous(),
        weight.contiguous(),
        bias,
        out if origin is None else origin,
        bias if scale is None else scale,
        out,
        count,
        INPUTS=inputs,
        OUTPUTS=outputs,
        GELU=gelu,
        ONTO=origin is not None,
        PRECISION="tf32x3" if rows.dtype == torch.float32 else "ieee",
        ROWS=_ROWS,
        COLUMNS=_COLUMNS,
        INNER=_INNER,
        GROUP=_GROUP,
        num_warps=_WARPS,
        num_stages=_STAGES,
    )
    return out


@triton.jit(do_not_specialize=["count"])
def _product_kernel(
    rows,
    weight,
    bias,
    origin,
    scale,
    out,
    count,
    INPUTS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    GELU: tl.constexpr,
    ONTO: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    INNER: tl.constexpr,
    GROUP: tl.constexpr,
):
    across: tl.constexpr = (OUTPUTS + COLUMNS - 1) // COLUMNS
    down = tl.cdiv(count, ROWS)
    first = tl.program_id(0) // (GROUP * across) * GROUP
    height = tl.minimum(down - first, GROUP)
    within = tl.program_id(0) % (GROUP * across)
    row = (first + within % height) * ROWS + tl.arange(0, ROWS)
    column = within // height * COLUMNS + tl.arange(0, COLUMNS)
    inner = tl.arange(0, INNER)
    # Beyond the ends the last ones are read again: without a mask whole blocks are copied ahead of their use.
    left = rows + tl.minimum(row, count - 1).to(tl.int64)[:, None] * INPUTS + inner[None, :]
    right = weight + tl.minimum(column, OUTPUTS - 1)[None, :] * INPUTS + inner[:, None]
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(0, INPUTS, INNER):
        if INPUTS % INNER == 0:
            one, other = tl.load(left), tl.load(right)
        else:
            one = tl.load(left, mask=inner[None, :] < INPUTS - start, other=0.0)
            other = tl.load(right, mask=inner[:, None] < INPUTS - start, other=0.0)
        total = tl.dot(one, other, total, input_precision=PRECISION)
        left += INNER
        right += INNER
    known = column < OUTPUTS
    total += tl.load(bias + column, mask=known, other=0.0)[None, :]
    if GELU:
        total = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
    place = row.to(tl.int64)[:, None] * OUTPUTS + column[None, :]
    stored = (row < count)[:, None] & known[None, :]
    if ONTO:
        total = total * tl.load(scale + column, mask=known, other=0.0)[None, :]
        total += tl.load(origin + place, mask=stored, other=0.0)
    tl.store(out + place, total.to(out.dtype.element_ty), mask=stored)
