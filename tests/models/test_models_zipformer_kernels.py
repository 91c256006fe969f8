"""The Zipformer's fused Triton kernels, interpreted, against PyTorch's layers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from polyvox.engines.zipvoice import fused_kernels  # noqa: E402
from polyvox.engines.zipvoice.fused_kernels import use_conv_kernel, use_kernels  # noqa: E402
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
def test_attention_weights_sum_to_one_and_leave_padding_out():
    layer = network().stacks[0].layers[0].self_attn_weights
    layer.kernels = zipformer_kernels
    rows = torch.randn(2, 20, 24, generator=torch.Generator().manual_seed(2)) * 20
    padding = PaddingMask.static(torch.tensor([20, 9]), 20)
    weights = layer(rows, relative_positions(20, 8, CPU), padding.mask)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(2, 2, 20), atol=1e-5)
    assert not weights[1, :, :, 9:].any()


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

    right = {name: getattr(zipformer_kernels, name) for name in ("attention_weights", "gated_conv", "norm_bypass")}
    use_kernels(model, SimpleNamespace(swoosh=broken, **right))
    assert layer.kernels is None
    use_kernels(model, SimpleNamespace(swoosh=wrong, **right))
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
