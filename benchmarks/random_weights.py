"""Seeded random weights for networks whose speed is measured: the arithmetic takes the same time whatever they say."""

from typing import TypeVar

import torch
from torch import nn

Module = TypeVar("Module", bound=nn.Module)


def randomize(module: Module, dtype: torch.dtype) -> Module:
    """Freeze the module with weights of `dtype` that keep signals at about unit scale; buffers stay as they are."""
    for name, parameter in module.requires_grad_(False).named_parameters():
        if parameter.dim() > 1 and len(parameter):
            parameter.normal_(std=parameter[0].numel() ** -0.5)
        else:
            parameter.fill_(0.0 if name.endswith("bias") else 1.0)
        parameter.data = parameter.data.to(dtype)
    return module.eval()
