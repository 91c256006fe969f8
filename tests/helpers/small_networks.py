"""Networks of a few rows and columns, as the tests have them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def without_onednn() -> Iterator[None]:
    """Compute without oneDNN, which prepares each new shape for longer than a small network takes to compute it."""
    before = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = False
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = before


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Compute on one thread: several wait for each other for longer than a small network takes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
