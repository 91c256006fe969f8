"""Home Assistant's own Wyoming package against this server."""

import asyncio
import base64
import os
import re
import subprocess

import numpy as np
import pytest

from helpers.client_environment import run_client
from helpers.documented_server import SMALL_DECODER
from helpers.fakes import TONES, ToneEngine
from helpers.fork_server import forked_python
from helpers.wyoming import served_wyoming
from polyvox.audio.pcm import from_pcm16
from polyvox.evaluate.wer import word_error_rate

WHOLE = ["audio-start", "audio-chunk", "audio-stop"]


class PatientEngine(ToneEngine):
    """Speaks a long text for ten seconds."""

    async def speak(self, utterance):
        self.chunks, self.delay = (1_000, 0.01) if "long" in utterance.text else (3, 0.0)
        async for chunk in super().speak(utterance):
            yield chunk


@pytest.fixture(scope="module")
def found():
    engine = PatientEngine()

    async def run():
        async with served_wyoming(engine, max_sessions=2, max_queue=0) as served:
            found = await asyncio.to_thread(run_client, "sdks", "wyoming_speech.py", f"tcp://127.0.0.1:{served.port}")
            active = served.service.metrics.registry.get_sample_value("polyvox_active_sessions")
        return found | {"active": active, "speaking": engine.speaking, "texts": [each.text for each in engine.heard]}

    return asyncio.run(run())


def pcm(part):
    return from_pcm16(base64.b64decode(part["audio"]))


def pitch(part):
    samples = pcm(part)
    return np.abs(np.fft.rfft(samples)).argmax() * part["rate"] / len(samples)


def test_it_finds_the_voices_in_time(found):
    described = found["described"]
    assert described["seconds"] < 1.0
    assert described["pong"] == "hello"
    assert described["streaming"]
    assert described["installed"]
    assert described["voices"] == {"low": ["en-US"], "high": ["en-US"]}
    assert all(described["attribution"])


@pytest.mark.parametrize("way", ["said", "by_language", "afterwards"])
def test_it_speaks(found, way):
    assert found[way]["kinds"] == WHOLE
    assert found[way]["rate"] == 24_000
    assert len(pcm(found[way])) == 7_200


def test_it_speaks_a_text_that_arrives_in_parts_once(found):
    assert found["streamed"]["kinds"] == [*WHOLE, "synthesize-stopped"]
    assert len(pcm(found["streamed"])) > 0
    text = "The tide is out. The boats lie on the sand."
    start = found["texts"].index("The tide is out.")
    assert found["texts"][:start] == [text, text]
    assert found["texts"][start : start + 2] == ["The tide is out.", "The boats lie on the sand."]


def test_two_clients_at_once_hear_their_own_voice(found):
    assert [part["kinds"] for part in found["both"]] == [WHOLE, WHOLE]
    assert [round(pitch(part)) for part in found["both"]] == [round(TONES["low"]), round(TONES["high"])]


def test_a_client_that_leaves_in_the_middle_frees_its_slot(found):
    assert found["interrupted"] > 0
    assert found["active"] == 0
    assert found["speaking"] == 0


def test_errors_and_bad_frames_close_the_connection(found):
    assert found["refused"] == {
        "text": "There is no voice 'nobody'; use low or high.", "code": "voice_not_found", "then": None
    }  # fmt: skip
    assert found["bad_frame"] == ["error", True]


@pytest.mark.slow
def test_kokoro_is_understood_through_it_and_the_server_ends_well(models_dir, moonshine, tmp_path):
    text = "The boy was there when the sun rose. Come back to the house."
    command = [forked_python(), "-m", "polyvox", "serve", "--port", "0", "--wyoming-port", "0"]
    variables = {**SMALL_DECODER, "POLYVOX_MODELS_DIR": str(models_dir), "POLYVOX_DATA_DIR": str(tmp_path)}
    with subprocess.Popen(command, env=os.environ | variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            uri = re.search(r"Wyoming at (tcp://127\.0\.0\.1:\d+)", process.stdout.readline())[1]
            streamed = run_client("sdks", "wyoming_speech.py", uri, text)["streamed"]
        finally:
            process.terminate()
        assert process.wait(60) == 0
    print(f"\nfirst audio after {1000 * streamed['first']:.0f} ms, {len(pcm(streamed)) / 24_000:.1f} s of it")
    assert word_error_rate(text, moonshine.transcribe(pcm(streamed), 24_000)).errors <= 1
