"""The Triton kernels of Wren's blocks, interpreted, against PyTorch's layers."""

import copy

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers import interpreted_triton  # noqa: E402
from helpers.tables import each_row  # noqa: E402
from helpers.tiny_wren import tiny_wren  # noqa: E402
from polyvox.models import product_kernels  # noqa: E402
from polyvox.models.kokoro.wren_blocks import Condition  # noqa: E402
from polyvox.models.kokoro.wren_kernels import fused_block  # noqa: E402

FRAMES, WIDTH = 11, 16
CLOSE = {torch.float32: 1e-5, torch.float16: 5e-3}
"""Of the spread of what a block adds."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for name in ("_ROWS", "_COLUMNS", "_INNER"):
        monkeypatch.setattr(product_kernels, name, 16)
    interpreted_triton.mend(monkeypatch)


def blocks(dtype):
    """The same block without and with the kernel."""
    plain = tiny_wren().blocks[0]
    fused = copy.deepcopy(plain)
    fused.kernel = fused_block
    for product in (fused.expand, fused.contract):
        product.weight.data = product.weight.data.to(dtype)
    return plain, fused


def given():
    """Hidden states of two rows, the condition, and what is seen: not the ends of the second row."""
    generator = torch.Generator().manual_seed(2)
    hidden = torch.randn(2, FRAMES, WIDTH, generator=generator)
    condition = Condition(torch.randn(2, 1, 8, generator=generator), torch.randn(2, 1, 6, generator=generator))
    mask = torch.ones(2, FRAMES, 1)
    mask[1, :2] = mask[1, 8:] = 0
    return hidden, condition, mask


@each_row("dtype", list(CLOSE))
def test_a_block_adds_what_pytorch_s_layers_add(dtype):
    plain, fused = blocks(dtype)
    hidden, condition, mask = given()
    wanted, found = (block(hidden, condition, mask) for block in (plain, fused))
    assert found.dtype == torch.float32
    assert (found - wanted).abs().max() <= 4 * CLOSE[dtype] * (wanted - hidden).std()


def test_neither_the_other_row_nor_what_is_hidden_changes_a_bit():
    _, fused = blocks(torch.float16)
    hidden, condition, mask = given()
    together = fused(hidden, condition, mask)
    alone = fused(hidden[1:], Condition(*(part[1:] for part in condition)), mask[1:])
    assert torch.equal(alone[0], together[1])
    changed = hidden.clone()
    changed[1, 9] = 100.0
    assert torch.equal(fused(changed, condition, mask)[1, :8], together[1, :8])


def test_without_a_mask_a_block_is_pytorch_s():
    plain, fused = blocks(torch.float32)
    hidden, condition, _ = given()
    assert torch.equal(fused(hidden, condition, None), plain(hidden, condition, None))
