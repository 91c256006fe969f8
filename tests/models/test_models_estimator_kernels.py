"""The kernels of CosyVoice's velocity estimators, interpreted, against plain PyTorch."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers import plain_kernels  # noqa: E402
from polyvox.models.cosyvoice import estimator_kernels  # noqa: E402
from polyvox.models.paged_attention import BlockTable  # noqa: E402

CLOSE = {torch.float32: 1e-5, torch.float16: 5e-3}
DTYPES = pytest.mark.parametrize("dtype", list(CLOSE))


def draws(*shapes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def assert_close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=CLOSE[ours.dtype], atol=CLOSE[ours.dtype])


@DTYPES
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("width", [16, 20])
def test_rows_are_added_and_normed(dtype, gated, width):
    rows, added, gate, scale, shift = draws((3, width), (3, width), width, width, width, dtype=dtype)
    ours, theirs = rows.clone(), rows.clone()
    given = added, gate if gated else None, scale, shift, 1e-5
    assert_close(estimator_kernels.add_and_norm(ours, *given), plain_kernels.add_and_norm(theirs, *given))
    assert_close(ours, theirs)
    assert not torch.equal(ours, rows)


@pytest.mark.long
@DTYPES
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("heads", [2, 3])
def test_keys_are_stored_in_their_own_blocks(dtype, rotated, heads):
    branches, count, length, width = 2, 3, 5, 8
    (projected,) = draws((branches * count, length, 3 * heads * width), dtype=dtype)
    angles = torch.rand(count, length, width // 2, generator=torch.Generator().manual_seed(1)) * 6
    rotation = (angles.cos(), angles.sin()) if rotated else None
    unused = torch.zeros(count, dtype=torch.long)
    table = BlockTable(torch.tensor([6, 2, 4]), unused, unused[:, None], unused, unused, unused, length)
    made = []
    for kernels in (estimator_kernels, plain_kernels):
        keys, values = torch.full((2, 7, branches, heads, length, width), float("nan"), dtype=dtype)
        query = kernels.store_keys(projected.clone(), keys, values, table, rotation)
        made.append((query, keys[table.blocks], values[table.blocks]))
        assert keys[[0, 1, 3, 5]].isnan().all()
        assert values[[0, 1, 3, 5]].isnan().all()
    for ours, theirs in zip(*made, strict=True):
        assert_close(ours, theirs)


@pytest.mark.long
@DTYPES
@pytest.mark.parametrize(("groups", "inputs", "length"), [(2, 4, 7), (3, 20, 18)])
def test_a_grouped_convolution_is_activated(dtype, groups, inputs, length):
    taps, channels = 5, groups * inputs
    padded, weight, bias = draws(
        (2, length + taps - 1, channels), (taps, groups, inputs, inputs), channels, dtype=dtype
    )
    # Beyond what an exponential of half precision holds.
    bias[0] = 40.0
    ours = estimator_kernels.grouped_conv_mish(padded, weight / inputs**0.5, bias)
    theirs = plain_kernels.grouped_conv_mish(*(each.float() for each in (padded, weight / inputs**0.5, bias)))
    assert ours.dtype == dtype
    assert_close(ours, theirs.to(dtype))
