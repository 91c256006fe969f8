"""The OpenAI services of LiveKit and Pipecat against a real server: they speak over HTTP, sentence by sentence."""

import pytest

from helpers.client_environment import run_client
from helpers.fakes import ToneEngine, tone_service
from helpers.serving import served, wait_for

KEY = "first-key"
TEXT = "The tide is out."
SECONDS = 0.3
VOICES = "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split()


@pytest.fixture(scope="module")
def endless():
    """A model whose speech lasts until it is stopped."""
    return ToneEngine("long", chunks=2_000, delay=0.005)


@pytest.fixture(scope="module")
def url(endless):
    tone = ToneEngine(chunks=3, chunk_seconds=SECONDS / 3)
    service = tone_service(
        factories={"tone": lambda _: tone, "long": lambda _: endless},
        models=["tone", "long"],
        api_keys=[KEY],
        openai_voices=[f"{name}={'high' if name == 'verse' else 'low'}" for name in VOICES],
    )
    with served(service) as address:
        yield f"{address}/v1"


def stopped(engine):
    """Whether an engine was stopped in the middle of its speech."""
    wait_for(lambda: engine.speaking == 0)
    return engine.closed == len(engine.heard) > 0


def test_livekit_speaks_is_interrupted_and_meets_errors(url, endless):
    result = run_client("livekit", "livekit_openai.py", url, KEY, TEXT)
    for way in (result["events"], result["audio"], result["arriving"], result["interrupted"]["after"]):
        assert way["seconds"] == pytest.approx(SECONDS, abs=0.06)
        assert way["rate"] == 24_000
        assert way["requests"] == 1
    assert result["interrupted"]["seconds"] < 1
    assert stopped(endless)
    assert result["voice"] == [400, False, "voice_not_found"]
    assert result["model"] == [404, False, "model_not_found"]
    assert result["key"] == [401, False, "invalid_api_key"]
    assert result["warnings"] == []


def test_pipecat_speaks_with_all_of_its_voices_is_interrupted_and_meets_errors(url, endless):
    result = run_client("pipecat", "pipecat_openai.py", url, KEY, TEXT)
    whole = round(2 * 24_000 * SECONDS)
    assert sorted(result["voices"]) == VOICES
    for name, hertz in result["voices"].items():
        assert hertz == pytest.approx(440 if name == "verse" else 220, abs=15)
    assert result["speak"]["bytes"] == whole // 2
    assert result["answer"]["bytes"] == 2 * whole
    assert result["after"]["bytes"] == whole
    for way in ("speak", "answer", "after"):
        assert result[way]["errors"] == []
        assert result[way]["stopped"] == 1
        assert result[way]["first"] < 3.0, "after that, Pipecat takes the text for spoken"
    assert 0 < result["interrupted"]["bytes"] < 24_000 * 2 * 100
    assert stopped(endless)
    assert "must be one of: alloy" in result["own_name"]["errors"][0], "the client's own rule, not the server's"
    assert "There is no model 'nothing'" in result["unknown_model"]["errors"][0]
    assert "401" in result["wrong_key"]["errors"][0]
