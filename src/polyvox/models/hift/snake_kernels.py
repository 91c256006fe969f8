"""A fused Triton kernel for the snake activation, which PyTorch would compute in six passes over memory.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 1024


def snake(samples: Tensor, alpha: Tensor, eps: float) -> Tensor:
    """Implement `polyvox.models.hift.filter.SnakeKernel`: [batch, channels, time] with a frequency per channel."""
    samples = samples.contiguous()
    batch, channels, time = samples.shape
    out = torch.empty_like(samples)
    _snake_kernel[(batch * channels, triton.cdiv(time, _BLOCK))](
        samples,
        alpha,
        out,
        channels,
        time,
        EPS=eps,
        EXACT=tl.float64 if samples.dtype == torch.float64 else tl.float32,
        BLOCK=_BLOCK,
    )
    return out


@triton.jit(do_not_specialize=["channels", "time"])
def _snake_kernel(samples, alphas, out, channels, time, EPS: tl.constexpr, EXACT: tl.constexpr, BLOCK: tl.constexpr):
    line = tl.program_id(0)
    positions = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    within = positions < time
    start = line.to(tl.int64) * time
    alpha = tl.load(alphas + line % channels).to(EXACT)
    value = tl.load(samples + start + positions, mask=within, other=0.0).to(EXACT)
    wave = tl.sin(value * alpha)
    value += wave * wave / (alpha + EPS)
    tl.store(out + start + positions, value.to(out.dtype.element_ty), mask=within)
