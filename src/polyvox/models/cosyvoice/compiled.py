"""Optional `torch.compile` of the feed-forward parts of a network, which use no cache."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

FeedForward = Callable[..., Tensor]


class CompilableBlock(nn.Module):
    """A transformer block whose `feed_forward`, a pure function of tensors, runs eagerly or compiled."""

    def __init__(self, eager: FeedForward) -> None:
        super().__init__()
        self.eager = eager
        self.feed_forward = eager


def set_compiled(network: nn.Module, *, compiled: bool) -> None:
    """Switch all blocks; those of one kind share a compilation, which holds for all lengths."""
    functions: dict[FeedForward, FeedForward] = {}
    for block in network.modules():
        if isinstance(block, CompilableBlock):
            if compiled and block.eager not in functions:
                functions[block.eager] = torch.compile(block.eager, dynamic=True)
            block.feed_forward = functions[block.eager] if compiled else block.eager
