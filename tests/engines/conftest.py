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
def quick_networks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tiny networks meet ever new shapes."""
    if not request.path.name.startswith(
        ("test_cosyvoice", "test_chatterbox", "test_cloning", "test_speechlm", "test_qwen3tts", "test_word")
    ):
        yield
        return
    from helpers.small_networks import without_onednn

    with without_onednn():
        yield


@pytest.fixture(autouse=True, scope="module")
def few_steps(request: pytest.FixtureRequest) -> Iterator[None]:
    """CosyVoice's tiny flows are solved in two steps: tests/parity holds each of the ten against the original.

    The noise that all requests share is drawn once, not with every model that is loaded.
    """
    if not request.path.name.startswith("test_cosyvoice"):
        yield
        return
    from functools import cache, partial

    from polyvox.engines.cosyvoice import model_config
    from polyvox.engines.cosyvoice.decoder import token2wav
    from polyvox.models.cosyvoice.flow import FlowConfig

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_config, "FlowConfig", partial(FlowConfig, steps=2))
        for noise in ("flow_noise", "source_noise"):
            patch.setattr(token2wav, noise, cache(getattr(token2wav, noise)))
        yield


@pytest.fixture
def all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flow is solved in as many steps as a server solves it in."""
    from polyvox.engines.cosyvoice import model_config
    from polyvox.models.cosyvoice.flow import FlowConfig

    monkeypatch.setattr(model_config, "FlowConfig", FlowConfig)


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
