"""Our column of the README's comparison is true: each of its rows is exercised here."""

import asyncio
import base64
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from starlette.testclient import TestClient

from helpers.cloning import Studio, sample
from helpers.comparison import COLUMN, README, features, with_column
from helpers.documents import ROOT
from helpers.fakes import ToneEngine, tone_service
from helpers.grpc_clients import GrpcStudio, grpc_channel, speech_client
from helpers.serving import called, decoded_seconds, wait_for
from helpers.wyoming import audio_of, served_wyoming
from polyvox import Speaker
from polyvox.api.app import create_app

SPEECH = "/v1/audio/speech"
BROWSER = {"Accept": "text/html"}
MCP = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One application with all doors, on the tone engine."""
    folder = tmp_path_factory.mktemp("comparison")
    studio = Studio(folder, mcp=True, jobs_folder=folder / "jobs", job_min_free_bytes=0, allowed_hosts=["testserver"])
    with TestClient(create_app(studio.speech, studio.voices)) as client:
        yield client


PROVEN: set[str] = set()
Test = TypeVar("Test", bound=Callable[..., object])


def proves(*rows: str) -> Callable[[Test], Test]:
    """Note that a test exercises rows of the column."""

    def note(test: Test) -> Test:
        PROVEN.update(rows)
        return test

    return note


def test_every_row_is_exercised_here() -> None:
    assert COLUMN.keys() == PROVEN


def test_the_readme_has_the_column_and_each_of_its_rows() -> None:
    text = README.read_text(encoding="utf-8")
    assert features(text) == list(COLUMN)
    assert with_column(text) == text, "run python scripts/build_comparison.py"


@proves("mp3, opus, aac, flac, wav, pcm")
def test_every_format_is_audio_of_the_same_length(client: TestClient) -> None:
    for form in ("mp3", "opus", "aac", "flac", "wav"):
        answer = client.post(SPEECH, json={"input": "One two.", "response_format": form})
        assert decoded_seconds(answer.content) == pytest.approx(0.3, abs=0.1), form
    pcm = client.post(SPEECH, json={"input": "One two.", "response_format": "pcm"})
    assert len(pcm.content) == 2 * 7_200


@proves("OpenAI's server-sent events")
def test_speech_comes_as_events(client: TestClient) -> None:
    answer = client.post(SPEECH, json={"input": "One two.", "stream_format": "sse", "response_format": "pcm"})
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert {event["type"] for event in events[:-1]} == {"speech.audio.delta"}
    assert events[-1]["type"] == "speech.audio.done"
    assert sum(len(base64.b64decode(event["audio"])) for event in events[:-1]) == 2 * 7_200


@proves("text streamed in")
def test_text_is_spoken_as_it_arrives(client: TestClient) -> None:
    with client.websocket_connect("/v1/realtime/speech") as socket:
        socket.send_json({"type": "start"})
        socket.send_json({"type": "text", "text": "The first sen"})
        socket.send_json({"type": "text", "text": "tence. And", "flush": False})
        kinds = [socket.receive_json()["type"] for _ in range(2)]
        assert kinds == ["started", "audio"], "audio comes before the text ends"
        socket.send_json({"type": "end"})
        while (kind := socket.receive_json()["type"]) != "done":
            assert kind == "audio"


@proves("word timings")
def test_words_have_times(client: TestClient) -> None:
    answer = client.post("/dev/captioned_speech", json={"input": "One two.", "stream": False}).json()
    first, second = answer["timestamps"]
    assert (first["word"], second["word"]) == ("One", "two.")
    assert first["start_time"] < first["end_time"] <= second["start_time"] < second["end_time"]


@proves("registered voices")
def test_a_voice_is_registered_used_and_deleted(client: TestClient) -> None:
    recording = base64.b64encode(sample(1)).decode()
    voice = client.post("/v1/voices", json={"name": "Anna", "transcript": "Hello.", "audio": recording}).json()
    assert client.post(SPEECH, json={"input": "One.", "voice": voice["id"]}).status_code == 200
    assert client.delete(f"/v1/voices/{voice['id']}").is_success
    assert client.post(SPEECH, json={"input": "One.", "voice": voice["id"]}).status_code == 400


@proves("several speakers in one answer")
def test_two_voices_share_an_answer(client: TestClient) -> None:
    turns = [{"voice": "low", "text": "One."}, {"voice": "high", "text": "Two."}]
    answer = client.post("/v1/audio/dialogue", json={"turns": turns, "pause": 0, "response_format": "pcm"})
    both = np.frombuffer(answer.content, "<i2").reshape(2, -1)
    crossings = [int(np.count_nonzero(np.diff(np.sign(turn)))) for turn in both]
    assert crossings[1] == pytest.approx(2 * crossings[0], rel=0.05)


@proves("SSML")
def test_ssml_is_obeyed(client: TestClient) -> None:
    ssml = '<speak>One <break time="1s"/> two.</speak>'
    answers = [
        client.post(SPEECH, json={"input": text, "ssml": True, "response_format": "pcm"})
        for text in (ssml, "<speak>One two.</speak>")
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert len(answers[0].content) - len(answers[1].content) >= 2 * 24_000


@proves("long texts as jobs")
def test_a_job_becomes_a_file(client: TestClient) -> None:
    job = client.post("/v1/jobs", json={"text": "One. Two.", "output": ["mp3"]}).json()
    path = f"/v1/jobs/{job['id']}"
    wait_for(lambda: client.get(path).json()["status"] == "done", seconds=20.0)
    file = client.get(path).json()["files"][0]
    assert decoded_seconds(client.get(file["url"]).content) > 0.3


@proves("many texts in one request")
def test_a_batch_is_an_archive_of_its_items(client: TestClient) -> None:
    answer = client.post(f"{SPEECH}/batch", json={"items": [{"input": "One."}, {"input": "Two."}]})
    with zipfile.ZipFile(BytesIO(answer.content)) as archive:
        assert sorted(archive.namelist()) == ["000.mp3", "001.mp3", "results.json"]


@proves("web page")
def test_a_browser_gets_a_page_and_its_program(client: TestClient) -> None:
    page = client.get("/", headers=BROWSER)
    program = re.search(r'src="\./(web/assets/[^"]+\.js)"', page.text)
    assert program is not None
    assert client.get(f"/{program[1]}").headers["content-type"].startswith("text/javascript")


@proves("MCP")
def test_an_agent_finds_the_tool_that_speaks(client: TestClient) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    opened = client.post("/mcp", json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, headers=MCP)
    own = MCP | {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=own)
    listed = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=own)
    assert '"name":"speak"' in listed.text.replace(" ", "")


@proves("API keys")
def test_a_server_with_keys_asks_for_one() -> None:
    with TestClient(create_app(tone_service(api_keys=["secret"], allowed_hosts=["testserver"]))) as client:
        keys = ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer secret"})
        found = [client.post(SPEECH, json={"input": "One."}, headers=key).status_code for key in keys]
    assert found == [401, 401, 200]


@proves("bounded queue, 429 or 503")
@pytest.mark.anyio
async def test_a_full_queue_answers_429_with_a_time() -> None:
    engine = ToneEngine(gate=asyncio.Event())
    async with called(tone_service(engine, max_sessions=1, max_queue=0)) as client:
        first = asyncio.create_task(client.post(SPEECH, json={"input": "One."}))
        while not engine.speaking:  # noqa: ASYNC110 - the engine has no event for it
            await asyncio.sleep(0)
        refused = await client.post(SPEECH, json={"input": "Two."})
        assert engine.gate is not None
        engine.gate.set()
        assert (await first).status_code == 200
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0


@proves("public gRPC", "text streamed in")
@pytest.mark.anyio
async def test_a_compiled_client_is_spoken_to(tmp_path: Path) -> None:
    speech = speech_client()
    messages = [
        speech.ConverseRequest(config=speech.Config()),
        speech.ConverseRequest(text="One t"),
        speech.ConverseRequest(text="wo."),
        speech.ConverseRequest(end={}),
    ]
    async with grpc_channel(GrpcStudio(tmp_path)) as channel:
        answers = [answer async for answer in speech.stubs.SpeechStub(channel).Converse(iter(messages))]
    assert "audio" in {answer.WhichOneof("event") for answer in answers}


@proves("Wyoming (Home Assistant)")
@pytest.mark.anyio
async def test_a_wyoming_client_hears_speech() -> None:
    async with served_wyoming() as server, await server.connect() as client:
        await client.send("synthesize", text="One two.")
        assert len(audio_of(await client.read_until("audio-stop"))) == 2 * 7_200


@proves("continuous batching over requests")
@pytest.mark.long
@pytest.mark.anyio
async def test_a_sequence_joins_the_steps_of_one_that_has_begun() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from helpers.tiny_lm import tiny_lm
    from polyvox.runtime.device_executor import DeviceExecutor
    from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
    from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

    executor, steps = DeviceExecutor("comparison", 1), []
    config = LmSchedulerConfig(slots=4, capacity=256, prefill_rows=32)
    scheduler = LmScheduler(tiny_lm(), config, executor=executor, observer=steps.append)
    limits = GenerationLimits(max_tokens=60)
    greedy = SamplingParams(temperature=0.0)
    try:
        async with scheduler.generate(Prompt((1, 2, 3)), greedy, limits) as stream:
            first = aiter(stream)
            await anext(first)
            assert max(step.generated_tokens for step in steps) == 1
            async with scheduler.generate(Prompt((4, 5)), greedy, limits) as joining:
                assert len([token async for token in joining]) > 1
            assert max(step.generated_tokens for step in steps) == 2
    finally:
        await scheduler.close()
        await asyncio.to_thread(executor.close)


@proves("runs on a CPU", "weighted voice mixes")
@pytest.mark.slow
def test_a_mix_of_two_voices_is_spoken_without_a_gpu(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with Speaker("wren", voice="af_heart(2)+bf_emma(1)") as speaker:
        mixed = speaker.say("Good morning.").pcm
        alone = speaker.say("Good morning.", voice="af_heart").pcm
    assert len(mixed) > 24_000 / 2
    assert not np.array_equal(mixed, alone)


@proves("Docker image")
def test_the_dockerfile_has_both_images() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert {"cpu", "cuda"} <= set(re.findall(r"^FROM .* AS (\w+)$", text, re.MULTILINE | re.IGNORECASE))
