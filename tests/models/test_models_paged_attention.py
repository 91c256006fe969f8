"""The kernel of paged attention computes what plain PyTorch does, and reads nothing but its own stream's blocks."""

import pytest
import torch

from helpers.triton_loops import allow_loaded_bounds
from polyvox.models import paged_attention_kernels
from polyvox.models.paged_attention import BlockTable, paged_attention

BLOCKS, BRANCHES, HEADS, WIDTH, TOKENS = 9, 2, 2, 8, 5


def table():
    """Three blocks: the third of one stream, the first of another, and the short second one of a third."""
    return BlockTable(
        blocks=torch.tensor([4, 5, 7]),
        previous=torch.tensor([3, 0, 6]),
        history=torch.tensor([[2, 3, 4], [5, 0, 0], [6, 7, 0]], dtype=torch.int32),
        counts=torch.tensor([3, 1, 2]),
        valid=torch.tensor([5, 5, 3]),
        present=torch.tensor([7, 7, 3]),
        tokens=TOKENS,
    )


def memory(generator, length):
    """Keys and values with NaN wherever no stream has put something."""
    held = []
    for _ in range(2):
        each = torch.full((BLOCKS, BRANCHES, HEADS, length, WIDTH), float("nan"))
        for block in (2, 3, 4, 5, 6, 7):
            each[block] = torch.randn(BRANCHES, HEADS, length, WIDTH, generator=generator)
        each[7, :, :, 3 * length // TOKENS :] = float("nan")
        held.append(each)
    return held


@pytest.mark.long
@pytest.mark.parametrize("length", [5, 10, 20])
@pytest.mark.parametrize("biased", [False, True])
def test_the_kernel_agrees_with_plain_attention(monkeypatch, length, biased):
    allow_loaded_bounds(monkeypatch)
    generator = torch.Generator().manual_seed(length)
    keys, values = memory(generator, length)
    query = torch.randn(BRANCHES * 3, length, HEADS, WIDTH, generator=generator).transpose(1, 2)
    bias = torch.randn(BRANCHES * 3, HEADS, length, 4 * length - 1, generator=generator) if biased else None
    expected = paged_attention(query, keys, values, table(), bias)
    assert expected.isfinite().all()
    ours = paged_attention_kernels.paged_attention(query, keys, values, table(), bias)
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
