from collections.abc import Iterator
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["test_speechlm_*", "test_cosyvoice_*"]


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """The other tests keep their cores."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def quick_flows(request: pytest.FixtureRequest) -> Iterator[None]:
    """CosyVoice's tiny flows meet ever new shapes; those of real models keep what a server computes with."""
    if not request.path.name.startswith("test_cosyvoice") or request.node.get_closest_marker("slow"):
        yield
        return
    from helpers.small_networks import without_onednn

    with without_onednn():
        yield
