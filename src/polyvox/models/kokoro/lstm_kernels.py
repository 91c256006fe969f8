"""A Triton kernel for one step of a bidirectional LSTM; each row ends, and begins backwards, where it says.

cuDNN takes four kernels for a step, and both directions twice for rows of different lengths. Here no row depends on the
others in any bit: the same products are summed in the same order, however many rows there are.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor, nn
from torch.nn import functional

_ROWS, _UNITS, _INNER = 16, 4, 64
_WARPS, _STAGES = 2, 3


class FusedLstm:
    """Implements `polyvox.models.kokoro.lstm.LstmKernel`, in double precision whatever the LSTM's is: tensor cores
    multiply that as it is."""

    def __init__(self, lstm: nn.LSTM) -> None:
        if lstm.hidden_size % _INNER:
            raise ValueError(f"a width of {lstm.hidden_size} is no multiple of {_INNER}")
        inputs, hidden, input_bias, hidden_bias = zip(*lstm.all_weights, strict=True)  # each of both directions
        self._inputs, self._hidden = torch.cat(inputs).double(), torch.stack(hidden).double()
        self._bias = torch.cat(input_bias).double() + torch.cat(hidden_bias)

    def __call__(self, rows: Tensor, ends: Tensor) -> Tensor:
        """Rows [batch, time, inputs] to [batch, time, 2 width], zeros beyond each one's end."""
        projected = functional.linear(rows.double(), self._inputs, self._bias)
        return bidirectional_lstm(projected, self._hidden, ends).to(rows.dtype)


def bidirectional_lstm(projected: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    """Hidden states [batch, time, 2 width], zeros beyond each row's end.

    Takes the inputs' part of the gates with both biases, [batch, time, 8 width], forwards before backwards, gates in
    PyTorch's order; the hidden states' weights [2, 4 width, width]; and the rows' ends.
    """
    batch, time, _ = projected.shape
    width = weights.shape[2]
    projected, weights = projected.contiguous(), weights.contiguous()
    out = projected.new_empty(batch, time, 2 * width)
    cells = projected.new_zeros(2, batch, width)
    grid = (width // _UNITS, 2, triton.cdiv(batch, _ROWS))
    for step in range(time):
        _step_kernel[grid](
            projected,
            weights,
            ends,
            cells,
            out,
            step,
            batch,
            time,
            WIDTH=width,
            FIRST=step == 0,
            ROWS=_ROWS,
            UNITS=_UNITS,
            INNER=_INNER,
            num_warps=_WARPS,
            num_stages=_STAGES,
        )
    return out


@triton.jit(do_not_specialize=["step", "batch", "time"])
def _step_kernel(
    projected,
    weights,
    ends,
    cells,
    out,
    step,
    batch,
    time,
    WIDTH: tl.constexpr,
    FIRST: tl.constexpr,
    ROWS: tl.constexpr,
    UNITS: tl.constexpr,
    INNER: tl.constexpr,
):
    direction = tl.program_id(1)
    row = tl.program_id(2) * ROWS + tl.arange(0, ROWS)
    present = row < batch
    end = tl.load(ends + row, mask=present, other=0).to(tl.int32)
    inside = step < end
    backwards = direction == 1
    position = tl.where(backwards & inside, end - 1 - step, step)
    line = row.to(tl.int64) * time + position
    # Four gates of each unit lie beside each other.
    column = tl.arange(0, 4 * UNITS)
    gate = (column % 4) * WIDTH + tl.program_id(0) * UNITS + column // 4
    total = tl.load(
        projected + line[:, None] * (8 * WIDTH) + direction * 4 * WIDTH + gate[None, :],
        mask=inside[:, None],
        other=0.0,
    )
    if not FIRST:
        inner = tl.arange(0, INNER)
        last = line + tl.where(backwards, 1, -1)
        hidden = out + last[:, None] * (2 * WIDTH) + direction * WIDTH + inner[None, :]
        factor = weights + (direction * 4 * WIDTH + gate)[None, :] * WIDTH + inner[:, None]
        for _ in range(0, WIDTH, INNER):
            known = tl.load(hidden, mask=inside[:, None], other=0.0)
            total = tl.dot(known, tl.load(factor), total, out_dtype=tl.float64)
            hidden += INNER
            factor += INNER
    even, odd = tl.split(tl.reshape(total, [ROWS, UNITS, 2, 2]))
    take, new = tl.split(even)
    keep, show = tl.split(odd)
    unit = tl.program_id(0) * UNITS + tl.arange(0, UNITS)
    stored = present[:, None] & (unit < WIDTH)[None, :]
    place = cells + (direction * batch + row)[:, None] * WIDTH + unit[None, :]
    cell = _sigmoid(keep) * tl.load(place, mask=stored, other=0.0) + _sigmoid(take) * _tanh(new)
    tl.store(place, cell, mask=stored)
    shown = tl.where(inside[:, None], _sigmoid(show) * _tanh(cell), 0.0)
    tl.store(out + line[:, None] * (2 * WIDTH) + direction * WIDTH + unit[None, :], shown, mask=stored)


@triton.jit
def _sigmoid(value):
    return 1.0 / (1.0 + tl.exp(-value))


@triton.jit
def _tanh(value):
    return 2.0 / (1.0 + tl.exp(-2.0 * value)) - 1.0
