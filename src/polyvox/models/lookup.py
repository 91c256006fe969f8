"""Embedding tables that are not initialised where weights are loaded over them."""

import torch
from torch import nn


def lookup(rows: int, width: int) -> nn.Embedding:
    """An embedding. On the meta device it skips the random initialisation, which costs seconds of imports."""
    weight = torch.empty(rows, width)
    return nn.Embedding(rows, width, _weight=weight) if weight.is_meta else nn.Embedding(rows, width)
