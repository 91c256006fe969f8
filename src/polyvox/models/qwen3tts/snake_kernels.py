"""A fused Triton kernel for the tokenizer's activation, which PyTorch would compute in five passes over memory.

Triton comes with PyTorch builds for a GPU; only code that has checked for it may import this file.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 1024


def snake_beta(samples: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """`SnakeBeta.forward` over [batch, channels, time] with a frequency and a magnitude per channel."""
    samples = samples.contiguous()
    batch, channels, time = samples.shape
    out = torch.empty_like(samples)
    block = min(_BLOCK, triton.next_power_of_2(time))
    _snake_beta[(batch * channels, triton.cdiv(time, block))](samples, alpha, beta, out, channels, time, BLOCK=block)
    return out


@triton.jit(do_not_specialize=["channels", "time"])
def _snake_beta(samples, alphas, betas, out, channels, time, BLOCK: tl.constexpr):
    line = tl.program_id(0)
    positions = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    within = positions < time
    start = line.to(tl.int64) * time
    alpha = tl.load(alphas + line % channels)
    beta = tl.load(betas + line % channels)
    value = tl.load(samples + start + positions, mask=within, other=0.0)
    wave = tl.sin(value * alpha)
    tl.store(out + start + positions, value + beta * wave * wave, mask=within)
