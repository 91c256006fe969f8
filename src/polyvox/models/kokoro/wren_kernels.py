"""A Triton kernel for the first half of Wren's blocks: the depthwise convolution, the norm and its modulation.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from polyvox.models.kokoro.wren_blocks import ConvNeXtBlock
from polyvox.models.product_kernels import dense, scaled_onto

_FRAMES = 4
_WARPS = 4
_EPS = 1e-5


def fused_block(block: ConvNeXtBlock, hidden: Tensor, film: Tensor, mask: Tensor) -> Tensor:
    """Implement `polyvox.models.kokoro.wren_blocks.BlockKernel`."""
    hidden, expand, contract = hidden.contiguous(), block.expand, block.contract
    assert block.depthwise.bias is not None
    rows = modulated(hidden, mask, block.depthwise.weight, block.depthwise.bias, film, expand.weight.dtype)
    inner = dense(rows, expand.weight, expand.bias, gelu=True)
    return scaled_onto(hidden, inner, contract.weight, contract.bias, block.layer_scale)


def modulated(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, film: Tensor, dtype: torch.dtype) -> Tensor:
    """The normed and modulated convolution over what `mask` [batch, frames, 1] shows of `hidden`, in a precision.

    Takes hidden states [batch, frames, width], the convolution's weight [width, 1, taps] and bias, and scales beside
    shifts, `film` [batch, 1, 2 width].
    """
    batch, frames, width = hidden.shape
    out = torch.empty(batch, frames, width, dtype=dtype, device=hidden.device)
    _modulated_kernel[(triton.cdiv(frames, _FRAMES), batch)](
        hidden.contiguous(),
        mask.contiguous(),
        weight.contiguous(),
        bias,
        film.contiguous(),
        out,
        frames,
        EPS=_EPS,
        WIDTH=width,
        TAPS=weight.shape[2],
        FRAMES=_FRAMES,
        CHANNELS=triton.next_power_of_2(width),
        num_warps=_WARPS,
    )
    return out


@triton.jit(do_not_specialize=["frames"])
def _modulated_kernel(
    hidden,
    mask,
    weight,
    bias,
    film,
    out,
    frames,
    EPS: tl.constexpr,
    WIDTH: tl.constexpr,
    TAPS: tl.constexpr,
    FRAMES: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    row = tl.program_id(1).to(tl.int64)
    frame = tl.program_id(0) * FRAMES + tl.arange(0, FRAMES)
    channel = tl.arange(0, CHANNELS)
    known = channel < WIDTH
    total = tl.zeros([FRAMES, CHANNELS], tl.float32)
    for tap in tl.static_range(TAPS):
        at = frame + (tap - TAPS // 2)
        inside = (at >= 0) & (at < frames)
        shown = tl.load(mask + row * frames + at, mask=inside, other=0.0)
        place = (row * frames + at)[:, None] * WIDTH + channel[None, :]
        seen = tl.load(hidden + place, mask=inside[:, None] & known[None, :], other=0.0).to(tl.float32)
        factor = tl.load(weight + channel * TAPS + tap, mask=known, other=0.0).to(tl.float32)
        total += seen * shown[:, None] * factor[None, :]
    total += tl.load(bias + channel, mask=known, other=0.0).to(tl.float32)[None, :]
    mean = tl.sum(total, axis=1) / WIDTH
    centred = tl.where(known[None, :], total - mean[:, None], 0.0)
    spread = tl.sqrt(tl.sum(centred * centred, axis=1) / WIDTH + EPS)
    scale = tl.load(film + row * 2 * WIDTH + channel, mask=known, other=0.0).to(tl.float32)
    shift = tl.load(film + (row * 2 + 1) * WIDTH + channel, mask=known, other=0.0).to(tl.float32)
    value = centred / spread[:, None] * (1.0 + scale)[None, :] + shift[None, :]
    place = (row * frames + frame)[:, None] * WIDTH + channel[None, :]
    stored = (frame < frames)[:, None] & known[None, :]
    tl.store(out + place, value.to(out.dtype.element_ty), mask=stored)
