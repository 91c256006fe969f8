"""The Zipformer's fused Triton kernels, interpreted, against PyTorch's layers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers import interpreted_triton  # noqa: E402
from polyvox.engines.zipvoice import fused_kernels  # noqa: E402
from polyvox.engines.zipvoice.fused_kernels import use_conv_kernel, use_kernels, use_products  # noqa: E402
from polyvox.models import product_kernels  # noqa: E402
from polyvox.models.zipvoice import zipformer_kernels  # noqa: E402
from polyvox.models.zipvoice.model import ZipVoice, ZipVoiceConfig  # noqa: E402
from polyvox.models.zipvoice.vocos import Vocos, VocosConfig  # noqa: E402
from polyvox.models.zipvoice.zipformer import (  # noqa: E402
    PaddingMask,
    Zipformer,
    ZipformerConfig,
    relative_positions,
)

CPU = torch.device("cpu")
FLOAT32, FLOAT16 = (torch.float32, 2e-5), (torch.float16, 2e-2)
"""With the greatest error, in standard deviations. bfloat16 is left out: Triton's interpreter truncates it."""
SIZES = ZipformerConfig(
    6, 5, 24, 32, 2, (1, 1), (7, 3), (1, 2), time=8, query_head=8, value_head=4, position_head=3, position=8
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks of queries, keys, frames and channels, all but one of them whole."""
    for name in ("_QUERIES", "_KEYS", "_FRAMES", "_CHANNELS"):
        monkeypatch.setattr(zipformer_kernels, name, 16)
    interpreted_triton.mend(monkeypatch)


def network(dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    model = Zipformer(SIZES).requires_grad_(False).eval()
    for parameter in model.parameters():
        parameter.normal_(std=parameter[0].numel() ** -0.5 if parameter.dim() > 1 else 0.3, generator=generator)
    return model.to(dtype)


def both(model, rows, padding, time):
    """What the network computes without and with the kernels."""
    plain = model(rows, padding, time)
    model.use_kernels(zipformer_kernels)
    fused = model(rows, padding, time)
    model.use_kernels(None)
    return plain, fused


@pytest.mark.long
@pytest.mark.parametrize(
    ("dtype", "most", "lengths"),
    [(*FLOAT32, (20, 20)), (*FLOAT32, (20, 9)), (*FLOAT32, (5, 1)), (*FLOAT16, (20, 9))],
    ids=["whole", "padded", "short", "half precision"],
)
def test_fused_kernels_compute_what_the_layers_compute(dtype, most, lengths):
    generator = torch.Generator().manual_seed(1)
    rows, time = (torch.randn(*sizes, generator=generator) for sizes in ((2, max(lengths), 6), (2, 8)))
    padding = PaddingMask.of(lengths, max(lengths), CPU)
    plain, fused = both(network(dtype), rows.to(dtype), padding, time.to(dtype))
    for row, other, length in zip(plain, fused, lengths, strict=True):
        error = (row[:length].float() - other[:length].float()).square().mean().sqrt()
        assert error <= most * plain.float().std()


@pytest.mark.long
def test_padding_does_not_reach_a_row_through_the_kernels():
    model, generator = network(), torch.Generator().manual_seed(2)
    model.use_kernels(zipformer_kernels)
    rows, time = (torch.randn(*sizes, generator=generator) for sizes in ((2, 20, 6), (2, 8)))
    padding = PaddingMask.static(torch.tensor([20, 9]), 20)
    before = model(rows, padding, time)[1, :9].clone()
    rows[1, 9:] = 1e3
    assert torch.allclose(model(rows, padding, time)[1, :9], before, atol=1e-6)


@pytest.mark.long
def test_attention_weights_are_those_of_the_layer_and_leave_padding_out():
    layer = network().stacks[0].layers[0].self_attn_weights
    rows = torch.randn(2, 40, 24, generator=torch.Generator().manual_seed(2)) * 20
    padding, positions = PaddingMask.static(torch.tensor([40, 9]), 40), relative_positions(40, 8, CPU)
    table = zipformer_kernels.relative_table(positions, layer.linear_pos.weight, layer.heads)
    given = (layer.in_proj(rows), table, padding.lengths, layer.heads, layer.sizes)
    weights = zipformer_kernels.attention_weights(*given, 1)
    exact = layer(rows, positions, padding.mask)[:, :1]
    assert weights.shape == (2, 1, 40, 40)
    for row, length in ((0, 40), (1, 9)):
        assert torch.allclose(weights[row, :, :length], exact[row, :, :length], atol=1e-5)
    assert torch.allclose(weights[1, :, :9].sum(dim=-1), torch.ones(1, 9), atol=1e-5)
    assert not weights[1, :, :, 9:].any()
    assert weights.isfinite().all(), "padding's own weights meet others in a product"


@pytest.mark.long
def test_attention_of_a_row_is_the_same_alone_and_beside_a_longer_one():
    layer = network().stacks[0].layers[0].self_attn_weights
    generator = torch.Generator().manual_seed(5)
    rows, values = (torch.randn(2, 40, width, generator=generator) for width in (24, 8))

    def attended(batch, frames, lengths):
        positions = relative_positions(frames, 8, CPU)
        table = zipformer_kernels.relative_table(positions, layer.linear_pos.weight, layer.heads)
        given = (layer.in_proj(rows[:batch, :frames]), table, values[:batch, :frames], torch.tensor(lengths))
        return zipformer_kernels.attention(*given, layer.heads, layer.sizes)

    together, alone = attended(2, 40, (18, 40)), attended(1, 18, (18,))
    assert torch.allclose(together[0, :18], alone[0], atol=1e-6)
    assert not together[0, 18:].any()
    exact = layer(rows, relative_positions(40, 8, CPU), PaddingMask.static(torch.tensor([18, 40]), 40).mask)
    plain = (exact @ values.view(2, 40, 2, 4).transpose(1, 2)).transpose(1, 2).flatten(2)
    assert torch.allclose(together[1], plain[1], atol=1e-5)
    assert torch.allclose(together[0, :18], plain[0, :18], atol=1e-5)


@pytest.mark.parametrize("width", [24, 21])
def test_what_stands_between_the_products_is_computed_as_by_pytorch(width):
    generator = torch.Generator().manual_seed(7)
    rows, out, more = (torch.randn(2, 13, width, generator=generator) * 4 for _ in range(3))
    time, bypass = torch.randn(2, 1, width, generator=generator), torch.rand(width, generator=generator)
    assert torch.allclose(zipformer_kernels.add_time(rows, None, time), rows + time, atol=1e-6)
    assert torch.allclose(zipformer_kernels.add_time(rows, more, time), rows + more + time, atol=1e-6)
    moved = zipformer_kernels.add_bypass(rows, out, more, bypass)
    assert torch.allclose(moved, rows.lerp(out + more, bypass), atol=1e-5)
    soft = torch.nn.functional.softplus(rows) - 0.08 * rows
    assert torch.allclose(zipformer_kernels.swoosh(rows.clone(), 0.08), soft, rtol=1e-6, atol=1e-6)


def test_the_gates_of_attention_are_exact_near_zero_and_far_from_it():
    steps = torch.cat((torch.logspace(-6, 1.7, 60), torch.tensor([0.0, 200.0])))
    gate = torch.cat((steps, -steps)).view(1, 4, 31)
    values, after = torch.randn(2, 1, 4, 31, generator=torch.Generator().manual_seed(8))
    projected = torch.cat((gate, values, after), dim=2)
    gated = zipformer_kernels.gated_values(projected)
    assert torch.allclose(gated, values * gate.tanh(), rtol=1e-6, atol=0)
    assert torch.equal(zipformer_kernels.gated_output(values, projected), values * after)


@pytest.mark.long
def test_kernels_that_err_or_do_not_build_are_not_used(monkeypatch):
    monkeypatch.setattr(fused_kernels, "_PROBE_LENGTHS", (10, 5))
    config = replace(SIZES, inputs=15, outputs=5)
    model = ZipVoice(ZipVoiceConfig(9, 5, replace(SIZES, outputs=5, time=None), config, distilled=True))
    for parameter in model.requires_grad_(False).parameters():
        parameter.normal_(std=parameter[0].numel() ** -0.5 if parameter.dim() > 1 else 0.3)
    layer = model.decoder.stacks[0].layers[0]

    def broken(*_: object) -> None:
        raise ValueError("no compiler")

    def wrong(rows, slope):
        return rows

    right = {name: each for name, each in vars(zipformer_kernels).items() if not name.startswith("_")}
    use_kernels(model, SimpleNamespace(**right | {"swoosh": broken}))
    assert layer.kernels is None
    use_kernels(model, SimpleNamespace(**right | {"swoosh": wrong}))
    assert layer.kernels is None
    use_kernels(model, zipformer_kernels)
    assert layer.kernels is layer.feed_forward2.kernels is zipformer_kernels
    assert model.text_encoder.stacks[0].layers[0].kernels is zipformer_kernels


def test_the_vocoder_s_convolutions_are_tried_first(monkeypatch):
    monkeypatch.setattr(fused_kernels, "_PROBE_LENGTHS", (9, 5))
    vocos = Vocos(VocosConfig(bins=3, width=8, hidden=8, blocks=1, fft=16, hop=4))
    for parameter in vocos.requires_grad_(False).parameters():
        parameter.normal_(std=0.5, generator=torch.Generator().manual_seed(1))
    block = vocos.blocks[0].dwconv
    use_conv_kernel(vocos, lambda rows, weight, bias: rows)
    assert block.kernel is None
    use_conv_kernel(vocos, zipformer_kernels.depthwise_conv)
    assert block.kernel is zipformer_kernels.depthwise_conv
    rows = torch.randn(2, 21, 8, generator=torch.Generator().manual_seed(2))
    fused = block(rows)
    block.kernel = None
    assert torch.allclose(fused, block(rows), atol=1e-5)


def test_the_vocoder_s_products_are_tried_first_and_keep_single_precision(monkeypatch):
    monkeypatch.setattr(fused_kernels, "_PROBE_LENGTHS", (9, 5))
    for name in ("_ROWS", "_COLUMNS", "_INNER"):
        monkeypatch.setattr(product_kernels, name, 16)
    vocos = Vocos(VocosConfig(bins=3, width=24, hidden=40, blocks=2, fft=16, hop=4))
    for parameter in vocos.requires_grad_(False).parameters():
        parameter.normal_(std=0.5, generator=torch.Generator().manual_seed(1))
    block = vocos.blocks[1]

    def rounded(rows, weight, bias, *, gelu=False):
        return product_kernels.dense(rows.half().float(), weight, bias, gelu=gelu)

    use_products(vocos, SimpleNamespace(dense=rounded, scaled_onto=product_kernels.scaled_onto))
    assert block.products is None, "half precision is not enough"
    use_products(vocos, product_kernels)
    assert block.products is product_kernels
    rows = torch.randn(2, 21, 24, generator=torch.Generator().manual_seed(2))
    fused, alone = block(rows, None), block(rows[1:, :20], None)
    assert torch.allclose(fused[1:, :17], alone[:, :17], atol=1e-5)
    block.products = None
    assert torch.allclose(fused, block(rows, None), rtol=1e-5, atol=1e-5)
