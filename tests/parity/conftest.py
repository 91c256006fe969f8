from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Sums come out the same on every machine, and the other tests keep their cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def quick_flows(request: pytest.FixtureRequest) -> Iterator[None]:
    """CosyVoice's tiny flows meet ever new shapes."""
    if request.path.name not in ("test_cosyvoice_flow.py", "test_cosyvoice1_flow.py"):
        yield
        return
    from helpers.small_networks import without_onednn

    with without_onednn():
        yield
