"""Convolutions in the forms that a device computes quickly."""

import torch
from torch.nn import functional

from helpers.tables import each_row
from polyvox.models.convolution import as_product


@each_row("kernel", [1, 3, 4])
def test_a_matrix_product_equals_the_convolution(kernel):
    generator = torch.Generator().manual_seed(kernel)
    weight = torch.randn(7, 5, kernel, generator=generator, dtype=torch.float64)
    samples = torch.randn(2, 5, 11, generator=generator, dtype=torch.float64)
    exact = functional.conv1d(samples, weight)
    assert (as_product(weight, samples) - exact).abs().max() <= 1e-13
    alone = as_product(weight, samples[1:])
    assert (alone - exact[1:]).abs().max() <= 1e-13
