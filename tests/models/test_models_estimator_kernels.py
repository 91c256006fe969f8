"""The kernels of CosyVoice's velocity estimators, interpreted, against plain PyTorch."""

from dataclasses import replace

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers import plain_kernels  # noqa: E402
from polyvox.models.attention import BlockCausalMask  # noqa: E402
from polyvox.models.cosyvoice import estimator_kernels  # noqa: E402
from polyvox.models.cosyvoice.fused_unet import FusedUNet  # noqa: E402
from polyvox.models.cosyvoice.ode_solver import FlowPoint  # noqa: E402
from polyvox.models.cosyvoice.unet import UNet, UNetConfig  # noqa: E402
from polyvox.models.paged_attention import BlockTable, paged_attention  # noqa: E402
from polyvox.models.paged_cache import (  # noqa: E402
    SPARE_BLOCK,
    ZERO_BLOCK,
    BlockLayout,
    LayoutTrace,
    PagedCache,
    PagedLayerCache,
)

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


def norm_of(width, dtype):
    norm = torch.nn.LayerNorm(width).to(dtype).requires_grad_(requires_grad=False)
    norm.weight.copy_(torch.linspace(0.5, 2.0, width))
    norm.bias.copy_(torch.linspace(-1.0, 1.0, width))
    return norm


@DTYPES
@pytest.mark.parametrize("width", [16, 20])
def test_activated_rows_are_normed_again(dtype, width):
    rows, added = draws((5, width), (5, width), dtype=dtype)
    given = rows, norm_of(width, dtype), added, norm_of(width, dtype)
    for ours, theirs in zip(estimator_kernels.mish_and_norm(*given), plain_kernels.mish_and_norm(*given), strict=True):
        assert_close(ours, theirs)


def test_an_activation_is_exact_far_from_zero():
    rows = torch.tensor([[-60.0, -9.0, -1e-4, 0.0, 1e-4, 30.0, 90.0, 5.0]])
    norm, zeros = torch.nn.LayerNorm(8), torch.zeros(1, 8)
    for factor in (1.0, 40.0):
        norm.weight.data.fill_(factor)
        ours, _ = estimator_kernels.mish_and_norm(rows, norm, zeros, norm)
        theirs, _ = plain_kernels.mish_and_norm(rows, norm, zeros, norm)
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-9)


def chain():
    """Rows of one call: two blocks of one stream, the second of another, the first of a third, and padding."""
    unused = torch.zeros(5, dtype=torch.long)
    blocks, previous = torch.tensor([4, 5, 7, 8, SPARE_BLOCK]), torch.tensor([3, 4, 6, ZERO_BLOCK, ZERO_BLOCK])
    return BlockTable(blocks, previous, unused[:, None], unused, unused, unused, 1)


@DTYPES
@pytest.mark.parametrize("kind", ["plain", "added", "activated"])
@pytest.mark.parametrize(("length", "before", "width"), [(2, 2, 16), (5, 2, 20), (7, 3, 8)])
def test_a_convolution_is_given_what_it_sees(dtype, kind, length, before, width):
    branches, table, offset = 2, chain(), 4
    layout = BlockLayout((torch.Size((branches, width + offset, before)),), (), dtype)
    rows, added = draws((branches * 5 * length, 3, width), (1, width), dtype=dtype)
    norm = norm_of(width, dtype) if kind == "activated" else None
    made = []
    for kernels in (estimator_kernels, plain_kernels):
        cache = PagedCache(layout, 9, paged_attention, torch.device("cpu"))
        generator = torch.Generator().manual_seed(2)
        cache.contexts[0][1:] = float("nan")
        for block in (3, 6):
            cache.contexts[0][block] = torch.randn(branches, width + offset, before, generator=generator)
        seen = torch.full((len(rows), before + 1, width + offset), float("nan"), dtype=dtype)
        context = PagedLayerCache(cache, table, 0).context_rows(before)
        strided = rows[:, 1]
        kernels.conv_inputs(strided, norm, None if kind == "plain" else added.expand_as(strided), context, seen, offset)
        assert seen[..., :offset].isnan().all()
        assert seen[..., offset:].isfinite().all()
        made.append((seen[..., offset:], context.held[[0, *table.blocks[:4]], ..., offset:]))
    for ours, theirs in zip(*made, strict=True):
        assert_close(ours, theirs)


def small_unet():
    network = UNet(UNetConfig(inputs=16, outputs=4, channels=8, heads=2, head_width=4, transformers=1, mid_blocks=1))
    generator = torch.Generator().manual_seed(3)
    for parameter in network.requires_grad_(requires_grad=False).parameters():
        parameter.copy_(torch.randn(parameter.shape, generator=generator) / parameter[0].numel() ** 0.5)
    return network


@pytest.mark.long
@pytest.mark.parametrize("kernels", [estimator_kernels, plain_kernels])
def test_an_estimator_on_kernels_is_the_plain_one(kernels):
    network, length = small_unet(), 3
    mel, mu, condition = draws(*[(10, 4, length)] * 3)
    point, time = FlowPoint(mel, mu, mu[..., 0], condition), draws((3, 8))[0]
    trace = LayoutTrace()
    network(
        FlowPoint(*(each[:2] for each in (mel, mu, mu[..., 0], condition))),
        time,
        trace,
        BlockCausalMask(length, length),
    )
    made = []
    for fused in (False, True):
        cache = PagedCache(trace.layout, 9, paged_attention, torch.device("cpu"))
        for memory in cache.contexts:
            memory[1:] = 0.5
        for memory in (each for pair in cache.kv for each in pair):
            memory.fill_(0.5)
        counts = torch.tensor([2, 3, 2, 1, 1])
        history = torch.tensor([[3, 4, 0], [3, 4, 5], [6, 7, 0], [8, 0, 0], [SPARE_BLOCK, 0, 0]])
        table = replace(chain(), counts=counts, history=history, valid=torch.ones(5, dtype=torch.long))
        layers = PagedLayerCache(cache, table, 3)
        made.append(FusedUNet(network, kernels)(point, time, layers) if fused else network(point, time, layers, None))
    torch.testing.assert_close(made[1], made[0], rtol=1e-4, atol=1e-4)
