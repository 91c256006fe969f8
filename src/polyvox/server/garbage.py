"""Garbage collection around what stays until the process ends."""

import gc
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
