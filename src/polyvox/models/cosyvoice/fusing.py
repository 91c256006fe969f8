"""Parts of a network that PyTorch may compile: pure functions of tensors between the layers that keep a memory."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

Part = Callable[..., Tensor]


class Fusible(nn.Module):
    """A block with such a part, `fused`: as it is written, or compiled."""

    def __init__(self, plain: Part) -> None:
        super().__init__()
        self.plain = plain
        self.fused = plain


def fuse(network: nn.Module, *, compiled: bool) -> None:
    """Take the compiled or the plain parts; blocks of a kind share one compilation, which holds for all lengths."""
    parts: dict[Part, Part] = {}
    for block in network.modules():
        if isinstance(block, Fusible):
            if compiled and block.plain not in parts:
                parts[block.plain] = torch.compile(block.plain, dynamic=True)
            block.fused = parts[block.plain] if compiled else block.plain
