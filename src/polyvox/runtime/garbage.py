"""Garbage collection around what stays: imports until the process ends, a model until it is unloaded."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Import without collections, of which each walks through all that is there, and let later ones pass over it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def keep_loaded() -> None:
    """Let collections pass over all that is there: to walk through a model's parts and dictionaries takes a tenth of a
    second, in which every stream waits."""
    gc.freeze()


def free_memory() -> None:
    """Collect cycles of objects, which may hold weights, and PyTorch's unused blocks on the GPU; blocks a moment."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
