"""Gives memory back that nothing refers to any more, to the system and to other processes on the GPU."""

import gc
import sys


def free_memory() -> None:
    """Collect cycles of objects, which may hold weights, and PyTorch's unused blocks on the GPU; blocks a moment."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
