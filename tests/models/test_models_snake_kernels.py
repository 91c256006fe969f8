"""The fused Triton kernel of the snake activation, interpreted, against PyTorch's operations."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers.tables import each_row  # noqa: E402
from polyvox.models.hift.snake_kernels import snake  # noqa: E402

CLOSE = {torch.float64: 1e-12, torch.float32: 1e-6, torch.float16: 2e-3}
EPS = 1e-9


@each_row("dtype", list(CLOSE))
@each_row("time", [3, 1_500])
def test_the_kernel_equals_the_activation(dtype, time):
    generator = torch.Generator().manual_seed(time)
    samples = (2 * torch.randn(2, 3, time, generator=generator)).to(dtype)
    alpha = torch.tensor([1.0, 0.3, 2.5], dtype=torch.promote_types(dtype, torch.float32))
    rate = alpha.double()[:, None]
    exact = samples.double() + (samples.double() * rate).sin().square() / (rate + EPS)
    ours = snake(samples, alpha, EPS)
    assert ours.dtype == dtype
    assert (ours - exact).abs().max() <= CLOSE[dtype] * exact.abs().max()


def test_rows_need_not_be_contiguous():
    samples = torch.randn(2, 7, 3).transpose(1, 2)
    alpha = torch.ones(3)
    assert torch.equal(snake(samples, alpha, EPS), snake(samples.contiguous(), alpha, EPS))
