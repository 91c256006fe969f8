"""A table of rows to look up by number."""

import torch
from torch import nn


def lookup(rows: int, width: int) -> nn.Embedding:
    """An embedding. One that has no memory yet gets no random values either: drawing those takes seconds of imports."""
    weight = torch.empty(rows, width)
    return nn.Embedding(rows, width, _weight=weight) if weight.is_meta else nn.Embedding(rows, width)
