"""The fused Triton kernel of the tokenizer's activation, interpreted, against PyTorch's operations."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from polyvox.models.qwen3tts import snake_kernels, waveform  # noqa: E402
from polyvox.models.qwen3tts.waveform import Sum  # noqa: E402

CHANNELS = 3


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_the_kernel_is_the_activation_with_and_without_what_is_added_and_what_came_before():
    alpha, beta = drawn(CHANNELS), drawn(CHANNELS)
    for time, context in ((1, 0), (5, 2), (700, 6)):
        before = drawn(2, context, CHANNELS) if context else None
        for added, bias in (
            (None, None),
            (drawn(2, time, CHANNELS), None),
            (drawn(2, time, CHANNELS), drawn(CHANNELS)),
        ):
            rows = drawn(2, time, CHANNELS) + 1.0
            wanted = waveform.activated(Sum(rows, added, bias), alpha, beta, before)
            got = snake_kernels.activated(Sum(rows.clone(), added, bias), alpha, beta, before)
            for ours, theirs in zip(got, wanted, strict=True):
                torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
