"""Word timings at every door that gives them, with a model that does not time its words."""

import json

import pytest

from helpers.fakes import PlainToneEngine, tone_service
from helpers.grpc_clients import GrpcStudio, grpc_channel, speech_client
from helpers.realtime_client import realtime_client
from helpers.serving import called, served
from helpers.untimed import UntimedToneEngine

pytestmark = pytest.mark.anyio

WISH = {"input": "One two, three. Four!", "response_format": "pcm"}
WORDS = ["One", "two", "three", "Four"]


@pytest.fixture
async def client(tmp_path):
    async with called(tone_service(UntimedToneEngine(), models_dir=tmp_path)) as client:
        yield client


def spoken(stamps):
    return [stamp["word"] for stamp in stamps]


async def test_captions_in_a_stream_follow_their_audio(client):
    answer = await client.post("/dev/captioned_speech", json=WISH)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert spoken(stamp for line in lines for stamp in line["timestamps"]) == WORDS
    assert [line.get("timing_source") for line in lines if line["timestamps"]] == ["estimate"]
    assert all("timing_source" not in line for line in lines if not line["timestamps"])


async def test_captions_as_a_file_and_times_alone_have_all_words(client):
    file = (await client.post("/dev/captioned_speech", json=WISH | {"stream": False})).json()
    alone = (await client.post("/dev/timestamp", json=WISH)).json()
    assert spoken(file["timestamps"]) == WORDS
    assert file["timing_source"] == "estimate"
    assert alone == {"timestamps": file["timestamps"], "timing_source": "estimate"}
    assert file["timestamps"][-1]["end_time"] <= 0.3


async def test_captions_without_timestamps_cost_nothing(client):
    answer = (
        await client.post("/dev/captioned_speech", json=WISH | {"stream": False, "return_timestamps": False})
    ).json()
    assert answer["timestamps"] is None
    metrics = (await client.get("/metrics")).text
    assert 'polyvox_timed_words_total{source="estimate"}' not in metrics


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/audio/speech", WISH),
        (
            "/v1/audio/dialogue",
            {"turns": [{"voice": "low", "text": "One two,"}, {"voice": "high", "text": "three. Four!"}]},
        ),
    ],
    ids=["speech", "dialogue"],
)
async def test_events_with_chunks_have_words(client, path, body):
    wish = {**body, "response_format": "pcm", "stream_format": "sse"}
    with_chunks = await client.post(path, json=wish, headers={"X-Polyvox-Chunks": "1"})
    events = [json.loads(line[6:]) for line in with_chunks.text.splitlines() if line.startswith("data: ")]
    chunks = [event["chunk"] for event in events if "chunk" in event]
    assert spoken(word for chunk in chunks for word in chunk["words"]) == WORDS
    assert {chunk["timing_source"] for chunk in chunks if chunk["words"]} == {"estimate"}
    starts = [word["start"] for chunk in chunks for word in chunk["words"]]
    assert starts == sorted(starts)


@pytest.mark.parametrize("stream", [True, False])
async def test_the_times_of_a_download_have_words(client, stream):
    wish = {**WISH, "return_download_link": True, "return_timing": True, "stream": stream}
    answer = await client.post("/v1/audio/speech", json=wish)
    times = (await client.get(f"/v1{answer.headers['x-timing-path']}")).json()
    (chunk,) = times["chunks"]
    assert spoken(chunk["words"]) == WORDS
    assert chunk["timing_source"] == "estimate"


async def test_cartesias_events_have_words(client):
    asked = {"transcript": WISH["input"], "voice": {"mode": "id", "id": "low"}, "add_timestamps": True}
    output = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}
    answer = await client.post("/tts/sse", json={**asked, "model_id": "sonic-3", "output_format": output})
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    stamps = [event["word_timestamps"] for event in events if event["type"] == "timestamps"]
    assert [word for stamp in stamps for word in stamp["words"]] == WISH["input"].split()


async def test_words_follow_on_the_realtime_socket(tmp_path):
    with served(tone_service(UntimedToneEngine(), models_dir=tmp_path)) as url:
        async with realtime_client(url) as client:
            heard = await client.speak("a", WISH["input"], word_timings=True)
    assert spoken(heard.words) == WORDS
    assert heard.timing_source == "estimate"
    assert heard.final["type"] == "done"


async def test_marks_of_ssml_keep_their_times(client):
    text = '<speak>One two. <mark name="here"/>Three.</speak>'
    answer = (await client.post("/dev/captioned_speech", json=WISH | {"input": text, "stream": False})).json()
    assert spoken(answer["timestamps"]) == ["One", "two", "Three"]
    (mark,) = answer["marks"]
    assert mark["name"] == "here"
    assert answer["timestamps"][1]["end_time"] <= mark["time"] <= answer["timestamps"][2]["start_time"]


@pytest.mark.parametrize(
    ("engine", "asked", "sources"),
    [
        (UntimedToneEngine, True, ["estimate"] * 4),
        (UntimedToneEngine, False, []),
        (PlainToneEngine, False, ["durations"] * 4),
    ],
    ids=["asked", "not asked", "own"],
)
async def test_words_over_grpc_say_where_their_times_come_from(tmp_path, engine, asked, sources):
    messages = speech_client()
    async with grpc_channel(GrpcStudio(tmp_path, engine(), word_timings="estimate")) as channel:
        stub = messages.stubs.SpeechStub(channel)
        config = messages.Config(voice="low", word_timings=asked)
        call = stub.Speak(messages.SpeakRequest(config=config, text=WISH["input"]))
        chunks = [answer.audio.chunk async for answer in call if answer.WhichOneof("event") == "audio"]
    assert [word.source for chunk in chunks for word in chunk.words] == sources
