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


@pytest.fixture
def token_audio(monkeypatch: pytest.MonkeyPatch) -> None:
    """CosyVoice's tokens become samples by themselves: what is tested is which tokens there are and when."""
    import numpy as np

    from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav, Token2WavResult

    def step_batch(self, hops):
        return [
            Token2WavResult(np.repeat(np.array(hop.tokens, np.float32) / 6561, 960), 2 * len(hop.tokens), hop.state)
            for hop in hops
        ]

    monkeypatch.setattr(Token2Wav, "step_batch", step_batch)
