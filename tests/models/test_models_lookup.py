"""Tables that are filled in later cost nothing to make."""

import subprocess
import sys

import pytest
import torch

from polyvox.models.lookup import lookup


def test_a_table_in_memory_has_random_values_as_ever():
    torch.manual_seed(1)
    ours = lookup(3, 4).weight
    torch.manual_seed(1)
    assert torch.equal(ours, torch.nn.Embedding(3, 4).weight)


@pytest.mark.long
def test_a_table_without_memory_needs_nothing_that_draws_them():
    asked = (
        "import sys, torch\n"
        "from polyvox.models.lookup import lookup\n"
        "with torch.device('meta'): assert lookup(3, 4).weight.is_meta\n"
        "assert 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)
