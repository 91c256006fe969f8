"""The GPU's kernel for Kokoro's norms, interpreted: what the plain layers make of the same rows."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from polyvox.models.kokoro.adain import AdaIN  # noqa: E402
from polyvox.models.kokoro.adain_kernels import normed_and_bent  # noqa: E402
from polyvox.models.kokoro.ragged import Boxed, Ragged  # noqa: E402

CPU = torch.device("cpu")
CHANNELS, STYLE = 6, 8
CLOSE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}


def norms(dtype):
    """The same norm twice, as it is written and by the kernel; a style for three rows; and rates of a snake."""
    chance = torch.Generator().manual_seed(3)
    plain = AdaIN(STYLE, CHANNELS).requires_grad_(False)
    for parameter in plain.parameters():
        parameter.normal_(generator=chance)
    fused = AdaIN(STYLE, CHANNELS).requires_grad_(False)
    fused.load_state_dict(plain.state_dict())
    fused.kernel = normed_and_bent
    rates = torch.rand(1, CHANNELS, 1, generator=chance) + 0.5
    style = torch.randn(3, STYLE, generator=chance)
    return plain.to(dtype), fused.to(dtype), style.to(dtype), rates.to(dtype)


def rows_of(time, dtype):
    rows = torch.randn(3, CHANNELS, time, generator=torch.Generator().manual_seed(time)) * 3 + 1
    return rows.to(dtype)


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize("time", [5, 4_500], ids=["less than a step", "two steps"])
@pytest.mark.parametrize("bent", ["snake", "leaky"])
def test_the_kernel_is_the_norm_and_what_follows_it(dtype, time, bent):
    plain, fused, style, rates = norms(dtype)
    rows, box = rows_of(time, dtype), Boxed(torch.tensor([time, 1 + time // 2, 3]), time)
    bend = rates if bent == "snake" else 0.2
    ours, theirs = (norm.bent(rows, style, box, bend) for norm in (fused, plain))
    assert ours.dtype == dtype
    exact = plain.double().bent(rows.double(), style.double(), box, rates.double() if bent == "snake" else 0.2)
    spread = exact.std()
    assert (ours - exact).abs().max() <= CLOSE[dtype] * spread * 4
    assert (ours - theirs).abs().max() <= CLOSE[dtype] * spread * 8
    assert not ours[1, :, 1 + time // 2 :].any(), "nothing beyond a row's end"


def test_what_lies_beyond_a_rows_end_changes_nothing():
    _, fused, style, rates = norms(torch.float32)
    rows, box = rows_of(700, torch.float32), Boxed(torch.tensor([700, 90, 600]), 700)
    first = fused.bent(rows, style, box, rates)
    rows[1, :, 90:] = float("nan")
    assert torch.equal(fused.bent(rows, style, box, rates), first)


def test_rows_of_one_length_need_no_box():
    plain, fused, style, rates = norms(torch.float64)
    rows, even = rows_of(40, torch.float64), Ragged([40, 40, 40], CPU)
    torch.testing.assert_close(fused.bent(rows, style, even, rates), plain.bent(rows, style, even, rates))


def test_rows_that_are_not_in_one_piece_are_read_as_they_are():
    plain, fused, style, rates = norms(torch.float64)
    rows, even = rows_of(40, torch.float64).transpose(1, 2).contiguous().transpose(1, 2), Ragged([40, 40, 40], CPU)
    torch.testing.assert_close(fused.bent(rows, style, even, rates), plain.bent(rows, style, even, rates))
