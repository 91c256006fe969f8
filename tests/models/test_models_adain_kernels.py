"""The fused Triton kernel of AdaIN, interpreted, against PyTorch's layers."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers.tables import each_row  # noqa: E402
from polyvox.models.kokoro.adain import AdaIN  # noqa: E402
from polyvox.models.kokoro.adain_kernels import adain_activated  # noqa: E402
from polyvox.models.kokoro.ragged import Ragged, StaticRagged  # noqa: E402

CPU = torch.device("cpu")
CHANNELS, STYLE = 6, 8
CLOSE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}


def norms(dtype):
    """The same norm without and with the kernel; a style for three rows; and the alphas of a snake."""
    generator = torch.Generator().manual_seed(3)
    plain = AdaIN(STYLE, CHANNELS).requires_grad_(False)
    for parameter in plain.parameters():
        parameter.normal_(generator=generator)
    fused = AdaIN(STYLE, CHANNELS).requires_grad_(False)
    fused.load_state_dict(plain.state_dict())
    fused.kernel = adain_activated
    alphas = torch.rand(1, CHANNELS, 1, generator=generator) + 0.5
    style = torch.randn(3, STYLE, generator=generator)
    return plain.to(dtype), fused.to(dtype), style.to(dtype), alphas.to(dtype)


def rows_of(time, dtype):
    rows = torch.randn(3, CHANNELS, time, generator=torch.Generator().manual_seed(time)) * 3 + 1
    return rows.to(dtype)


@pytest.mark.long
@each_row("dtype", list(CLOSE))
@each_row("time", [5, 4_500])
@each_row("kind", ["snake", "leaky"])
def test_the_kernel_equals_norm_and_activation(dtype, time, kind):
    plain, fused, style, alphas = norms(dtype)
    rows, ragged = rows_of(time, dtype), StaticRagged(torch.tensor([time, 1 + time // 2, 3]), time)
    activation = alphas if kind == "snake" else 0.2
    ours, theirs = (norm.activated(rows, style, ragged, activation) for norm in (fused, plain))
    assert ours.dtype == dtype
    exact = plain.double().activated(rows.double(), style.double(), ragged, alphas.double() if kind == "snake" else 0.2)
    spread = exact.std()
    assert (ours - exact).abs().max() <= CLOSE[dtype] * spread * 4
    assert (ours - theirs).abs().max() <= CLOSE[dtype] * spread * 8
    assert not ours[1, :, 1 + time // 2 :].any(), "nothing beyond a row's end"


@pytest.mark.long
def test_what_lies_beyond_a_rows_end_changes_nothing():
    _, fused, style, alphas = norms(torch.float32)
    rows, ragged = rows_of(700, torch.float32), StaticRagged(torch.tensor([700, 90, 600]), 700)
    first = fused.activated(rows, style, ragged, alphas)
    rows[1, :, 90:] = float("nan")
    assert torch.equal(fused.activated(rows, style, ragged, alphas), first)


def test_rows_of_one_length_need_no_mask():
    plain, fused, style, alphas = norms(torch.float64)
    rows, even = rows_of(40, torch.float64), Ragged([40, 40, 40], CPU)
    torch.testing.assert_close(fused.activated(rows, style, even, alphas), plain.activated(rows, style, even, alphas))


def test_rows_that_are_not_in_one_piece_are_read_as_they_are():
    plain, fused, style, alphas = norms(torch.float64)
    rows, even = rows_of(40, torch.float64).transpose(1, 2).contiguous().transpose(1, 2), Ragged([40, 40, 40], CPU)
    torch.testing.assert_close(fused.activated(rows, style, even, alphas), plain.activated(rows, style, even, alphas))
