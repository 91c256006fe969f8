from collections.abc import Iterator
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["test_lm_scheduler*", "test_sampling*", "test_remote_lm*"]


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Sums come out the same on every machine, and the other tests keep their cores."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
