"""`stream_format: sse`: the events, their usage, and where each chunk stands."""

import base64
import hashlib
import json

import pytest

from helpers.fakes import ToneEngine, tone, tone_service
from helpers.serving import called
from polyvox.audio.pcm import to_pcm16

pytestmark = pytest.mark.anyio

SPEECH = "/v1/audio/speech"
WISH = {"input": "One two three.", "response_format": "pcm", "stream_format": "sse"}


def events_of(text: str) -> list[dict]:
    blocks = text.removesuffix("\n\n").split("\n\n")
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


async def test_deltas_carry_the_audio_and_done_the_usage():
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, json=WISH)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    *deltas, done = events_of(response.text)
    assert all(set(delta) == {"type", "audio"} and delta["type"] == "speech.audio.delta" for delta in deltas)
    audio = b"".join(base64.b64decode(delta["audio"]) for delta in deltas)
    assert audio == to_pcm16(tone(220.0, 0, 7_200, 24_000))
    assert done == {
        "type": "speech.audio.done",
        "usage": {"input_tokens": 14, "output_tokens": 6, "total_tokens": 20},
    }


async def test_a_long_chunk_is_split_into_lines_that_any_reader_takes():
    async with called(tone_service(ToneEngine(chunks=1, chunk_seconds=4.0))) as client:
        response = await client.post(SPEECH, json=WISH)
    assert max(map(len, response.text.splitlines())) < 65_536
    *deltas, _ = events_of(response.text)
    joined = base64.b64decode("".join(delta["audio"] for delta in deltas))
    assert joined == to_pcm16(tone(220.0, 0, 96_000, 24_000))


async def test_with_the_header_each_delta_says_where_its_chunk_stands():
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, json=WISH, headers={"X-Polyvox-Chunks": "1"})
    *deltas, _ = events_of(response.text)
    assert [delta["chunk"]["index"] for delta in deltas] == [0, 1, 2]
    assert [(delta["chunk"]["start"], delta["chunk"]["end"]) for delta in deltas] == [
        (0, 2_400),
        (2_400, 4_800),
        (4_800, 7_200),
    ]
    for delta in deltas:
        assert delta["chunk"]["sha256"] == hashlib.sha256(base64.b64decode(delta["audio"])).hexdigest()
        assert delta["chunk"]["sample_rate"] == 24_000
    assert deltas[1]["chunk"]["text"] == "two"
    assert deltas[1]["chunk"]["words"] == [{"word": "two", "start": 0.1, "end": 0.2}]


async def test_chunk_hashes_do_not_depend_on_the_format():
    hashes = {}
    async with called(tone_service()) as client:
        for audio_format in ("pcm", "opus"):
            wish = WISH | {"response_format": audio_format}
            response = await client.post(SPEECH, json=wish, headers={"X-Polyvox-Chunks": "1"})
            events = events_of(response.text)
            hashes[audio_format] = [event["chunk"]["sha256"] for event in events if "chunk" in event]
    assert len(hashes["pcm"]) == 3
    assert hashes["pcm"] == hashes["opus"]


async def test_a_failure_after_the_first_event_is_an_event_of_its_own():
    service = tone_service(ToneEngine(fail_at=1))
    async with called(service) as client:
        response = await client.post(SPEECH, json=WISH)
        metrics = (await client.get("/metrics")).text
    assert response.status_code == 200
    delta, error = events_of(response.text)
    assert delta["type"] == "speech.audio.delta"
    assert error["type"] == "error"
    assert error["error"]["code"] == "engine_failed"
    assert response.headers["x-session-id"] in error["error"]["message"]
    assert 'polyvox_failures_total{kind="engine_failed"} 1.0' in metrics


async def test_a_failure_before_the_first_event_has_a_status():
    async with called(tone_service(ToneEngine(fail_at=0))) as client:
        response = await client.post(SPEECH, json=WISH)
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "engine_failed"
    assert response.headers["x-session-id"] in response.json()["error"]["message"]


async def test_with_the_header_each_delta_gives_tokens_frames_and_text():
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, json=WISH, headers={"X-Polyvox-Chunks": "1"})
    *deltas, _ = events_of(response.text)
    assert [delta["chunk"]["samples"] for delta in deltas] == [[0, 2_400], [2_400, 4_800], [4_800, 7_200]]
    assert [delta["chunk"]["tokens"] for delta in deltas] == [[0, 1], [1, 2], [2, 3]]
    assert [delta["chunk"]["frames"] for delta in deltas] == [None, None, None]
    assert [delta["chunk"]["span"] for delta in deltas] == [[0, 3], [4, 7], [8, 14]]


async def test_captions_give_the_chunks_of_each_line():
    wish = {"input": "One two three.", "response_format": "pcm", "voice": "low"}
    async with called(tone_service()) as client:
        asked = await client.post("/dev/captioned_speech", json=wish, headers={"X-Polyvox-Chunks": "1"})
        plain = await client.post("/dev/captioned_speech", json=wish)
    lines = [json.loads(line) for line in asked.text.splitlines()]
    for line in lines:
        (chunk,) = line.pop("chunks")
        assert chunk["sha256"] == hashlib.sha256(base64.b64decode(line["audio"])).hexdigest()
    assert lines == [json.loads(line) for line in plain.text.splitlines()]
