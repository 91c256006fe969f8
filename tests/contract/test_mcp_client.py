"""The MCP project's own client against `polyvox mcp` and against `/mcp`."""

import base64
import json
import os
from pathlib import Path

import pytest

from helpers.agent_engine import ENDED, AgentEngine
from helpers.client_environment import run_client
from helpers.cloning import Studio, sample
from helpers.documented_server import SMALL_DECODER
from helpers.fork_server import forked_python
from helpers.serving import decoded_seconds, served, wait_for
from polyvox.audio.decode import decode
from polyvox.evaluate.wer import word_error_rate

KEY = "an-agent's-key"
TESTS = Path(__file__).parents[1]
RECORDING = TESTS / "recordings" / "librivox_a.flac"
MODES = ["legacy", "auto"]


def in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def stdio(*command: str, **variables: str) -> dict:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"command": forked_python(), "args": list(command), "env": {"PYTHONPATH": path, **variables}}


@pytest.fixture(scope="module")
def over_http(tmp_path_factory):
    folder = tmp_path_factory.mktemp("http")
    engine = AgentEngine(folder / "ended")
    studio = Studio(folder / "voices", engine, mcp=True, api_keys=[KEY])
    with served(studio.speech, studio.voices) as url:
        target = {"url": f"{url}/mcp", "key": KEY, "recording": in_base64(sample(1)), "ended": str(folder / "ended")}
        found = run_client("sdks", "mcp_tools.py", json.dumps(target))
        wait_for(lambda: engine.speaking == 0)
        assert studio.speech.metrics.registry.get_sample_value("polyvox_active_sessions") == 0
    return found


@pytest.fixture(scope="module")
def over_stdio(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agent")
    variables = {
        ENDED: str(folder / "ended"),
        "HOME": str(folder),
        "POLYVOX_MODELS": "tone",
        "POLYVOX_DEFAULT_MODEL": "tone",
        "POLYVOX_DEFAULT_VOICE": "low",
    }
    target = stdio("-m", "helpers.agent_engine", "--folder", str(folder), **variables)
    target |= {"recording": in_base64(RECORDING.read_bytes()), "ended": str(folder / "ended")}
    return run_client("sdks", "mcp_tools.py", json.dumps(target))


@pytest.fixture(scope="module")
def through_a_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("through")
    engine = AgentEngine(folder / "ended")
    studio = Studio(folder / "voices", engine, api_keys=[KEY])
    with served(studio.speech, studio.voices) as url:
        target = stdio("-m", "polyvox", "mcp", "--server", url, HOME=str(folder), POLYVOX_API_KEY=KEY)
        target |= {"recording": in_base64(sample(1)), "ended": str(folder / "ended")}
        found = run_client("sdks", "mcp_tools.py", json.dumps(target))
        wait_for(lambda: engine.speaking == 0)
    return found


@pytest.fixture(params=["over_http", "over_stdio", "through_a_server"])
def found(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("mode", MODES)
def test_the_client_finds_the_tools_by_both_generations_of_the_protocol(found, mode):
    assert found[mode]["server"] == "polyvox"
    assert set(found[mode]["tools"]) == {"speak", "voices", "clone"}
    assert found["legacy"]["version"] < found["auto"]["version"]


def test_only_the_users_own_machine_plays_and_writes_files(over_http, over_stdio):
    assert not {"play", "save"} & set(over_http["auto"]["tools"]["speak"]["properties"])
    assert {"play", "save"} < set(over_stdio["auto"]["tools"]["speak"]["properties"])
    assert "file" not in over_http["auto"]["tools"]["clone"]["properties"]
    assert "file" in over_stdio["auto"]["tools"]["clone"]["properties"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("audio_format", "media_type", "seconds"), [("mp3", "audio/mpeg", 0.3), ("wav", "audio/wav", 0.15)]
)
def test_speech_comes_back_as_audio(found, mode, audio_format, media_type, seconds):
    answer = found[mode][audio_format]
    assert not answer["error"]
    ((kind, data),) = answer["audio"]
    assert kind == media_type
    assert decoded_seconds(base64.b64decode(data)) == pytest.approx(seconds, abs=0.06)


@pytest.mark.parametrize("mode", MODES)
def test_voices_are_listed_by_a_filter(found, mode):
    assert found[mode]["voices"]["structured"] == {
        "voices": [{"id": "high", "name": "High", "language": "en-us"}],
        "found": 1,
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("call", "fix"),
    [
        ("unknown_voice", "use one of low, high"),
        ("without_text", "'text' is required."),
        ("unknown_argument", "'tempo' is not an argument of this tool; use text, voice,"),
        ("long_text", "the audio of at most 800 is returned; speak it in parts"),
        ("without_consent", "set 'consent' to true if the answer is yes"),
    ],
)
def test_an_error_is_a_result_that_says_what_to_do(found, mode, call, fix):
    answer = found[mode][call]
    assert answer["error"]
    assert fix in answer["words"][0]


@pytest.mark.parametrize("mode", MODES)
def test_a_recording_becomes_a_voice_with_consent(found, mode):
    clone = found[mode]["clone"]
    assert not clone["error"], clone["words"]
    assert clone["structured"]["name"] == f"Anna {mode}"
    assert clone["structured"]["transcript"] == "A few words."
    ((_, data),) = found[mode]["cloned"]["audio"]
    assert decoded_seconds(base64.b64decode(data)) == pytest.approx(0.3, abs=0.06)


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_is_stopped_and_the_session_goes_on(found, mode):
    assert found[mode]["stopped_after"] < 5.0


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_an_error_of_the_protocol(found, mode):
    assert found[mode]["unknown_tool"] == [-32602, "There is no tool 'sing'; use speak, voices or clone."]


@pytest.mark.parametrize("mode", MODES)
def test_sixteen_calls_at_once(found, mode):
    assert found[mode]["at_once"] == [False] * 16


def test_a_client_that_comes_back_is_served(found):
    assert not found["reconnected"]["error"]


@pytest.mark.slow
def test_what_an_agent_says_is_what_it_was_asked_to_say(models_dir, moonshine, tmp_path):
    text = "The boy was there when the sun rose."
    variables = {**SMALL_DECODER, "POLYVOX_MODELS_DIR": str(models_dir), "OMP_NUM_THREADS": "1"}
    target = stdio("-m", "polyvox", "mcp", HOME=str(tmp_path), **variables)
    spoken = run_client("sdks", "mcp_speech.py", json.dumps(target | {"text": text}))
    pcm, rate = decode(base64.b64decode(spoken["audio"]), max_seconds=60, max_samples=60 * 48_000)
    assert word_error_rate(text, moonshine.transcribe(pcm, rate)).errors == 0
