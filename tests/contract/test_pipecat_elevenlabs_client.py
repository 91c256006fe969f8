"""Pipecat's ElevenLabs services against a real server."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.client_environment import run_client
from helpers.fakes import ToneEngine, tone_service
from helpers.serving import served, wait_for

KEY = "a-long-enough-key"
WORDS = ["One", "two,", "three.", "Four", "five", "six."]
TIMES = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
TURN_BYTES = 28_800
"""Two sentences are two generations of the tone."""


class PacedEngine(ToneEngine):
    """A tone engine whose texts of the word `slow` take a while for each chunk."""

    async def speak(self, utterance):
        async for chunk in super().speak(utterance):
            await asyncio.sleep(0.15 if "slow" in utterance.text else 0.0)
            yield chunk


@pytest.fixture(scope="module")
def engine() -> PacedEngine:
    return PacedEngine()


@pytest.fixture(scope="module")
def seen(engine: PacedEngine) -> Iterator[dict[str, Any]]:
    with served(tone_service(engine, api_keys=[KEY])) as url:
        found = run_client("pipecat", "pipecat_elevenlabs.py", url, KEY, "low")
        wait_for(lambda: engine.speaking == 0)
        yield found


@pytest.mark.parametrize("service", ["tokens", "dialogue", "http", "interrupted", "reconnected"])
def test_each_service_hears_all_audio_and_words_at_their_times(seen, service):
    heard = seen[service]
    assert (heard["bytes"], heard["rate"], heard["stopped"]) == (TURN_BYTES, 24_000, 1)
    assert heard["words"] == WORDS
    assert heard["times"] == pytest.approx(TIMES, abs=0.002)
    assert heard["errors"] == []


def test_turns_follow_one_another_on_one_socket(seen):
    heard = seen["socket"]
    assert (heard["bytes"], heard["stopped"], heard["errors"]) == (2 * TURN_BYTES, 2, [])
    assert heard["words"] == WORDS * 2
    assert heard["times"] == sorted(heard["times"])


def test_an_interruption_stops_the_inference(seen, engine):
    spoken = [heard.text for heard in engine.heard if "slow" in heard.text]
    assert 0 < len(spoken) <= 3, "of six sentences, those behind the interruption are never begun"


def test_errors_reach_the_pipeline(seen):
    assert "voice_not_found" in seen["bad_voice"]["errors"][0]
    assert "401" in seen["bad_socket_key"]["errors"][0]
    assert "no audio" in seen["bad_socket_voice"]["errors"][0]
