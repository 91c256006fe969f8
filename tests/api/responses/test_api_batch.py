"""Batches of the OpenAI and the Ray Serve dialects: one file for each item, or an error of its own."""

import asyncio
import base64
import email
import io
import json
import wave
import zipfile
from typing import Any

import httpx
import pytest

from helpers.cloning import sample, studio_client
from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called, decoded_seconds, error_of, served, wait_for
from helpers.tables import each_row
from polyvox.api.responses import batch
from polyvox.api.responses.batch_archive import ZipArchive
from polyvox.errors import InvalidRequestError

pytestmark = pytest.mark.anyio

OPENAI, RAY = "/v1/audio/speech/batch", "/v1/model/cosyvoice/batch"


def unpacked(response: httpx.Response) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """The files of a zip and the rows of its results."""
    assert (response.status_code, response.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    return files, json.loads(files.pop("results.json"))["results"]


async def speaking(engine: ToneEngine, many: int) -> None:
    """Return when the engine has begun so many utterances."""
    async with asyncio.timeout(10):
        while engine.speaking < many:  # noqa: ASYNC110 - the engine of all tests has no event for it
            await asyncio.sleep(0.001)


async def test_each_item_is_a_file_and_a_bad_one_does_not_fail_its_neighbours():
    items = [
        {"input": "One."},
        {"input": "Two.", "voice": "nobody"},
        {"input": "Three.", "response_format": "mp3", "speed": 2.0},
        {"input": ""},
        {"voice": "low"},
        "no object",
        {"input": "Four.", "response_format": "tiff"},
        {"input": "Five.", "voice": None},
    ]
    async with called(tone_service()) as client:
        answer = await client.post(OPENAI, json={"voice": "high", "response_format": "wav", "items": items})
    files, results = unpacked(answer)
    assert [row["index"] for row in results] == list(range(8))
    assert [row["status"] for row in results] == [200, 400, 200, 400, 400, 400, 400, 200]
    assert set(files) == {"000.wav", "002.mp3", "007.wav"}
    assert [row["file"] for row in results if row["status"] == 200] == ["000.wav", "002.mp3", "007.wav"]
    assert [row["error"]["param"] for row in results if row["file"] is None] == [
        "voice",
        "input",
        "input",
        None,
        "response_format",
    ]
    assert all(set(row["error"]) == {"message", "type", "param", "code"} for row in results if row["file"] is None)
    assert [row["duration"] for row in results if row["file"]] == pytest.approx([0.3, 0.15, 0.3])
    assert decoded_seconds(files["000.wav"]) == pytest.approx(0.3)
    with wave.open(io.BytesIO(files["000.wav"])) as reader:
        assert reader.getnframes() == 7200
    assert results[0]["bytes"] == len(files["000.wav"])


async def test_multipart_by_the_accept_header_or_by_the_field():
    body = {"response_format": "pcm", "items": [{"input": "One."}, {"input": "Two.", "voice": "nobody"}]}
    async with called(tone_service()) as client:
        by_header = await client.post(OPENAI, json=body, headers={"Accept": "multipart/mixed, application/zip"})
        by_field = await client.post(OPENAI, json=body | {"archive": "multipart"})
        unpacked(await client.post(OPENAI, json=body | {"archive": "zip"}, headers={"Accept": "multipart/mixed"}))
    for answer in (by_header, by_field):
        kind = answer.headers["content-type"]
        assert kind.startswith("multipart/mixed; boundary=")
        message = email.message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + answer.content)
        audio, results = message.get_payload()
        assert (audio.get_content_type(), audio.get_filename(), results.get_filename()) == (
            "audio/pcm",
            "000.pcm",
            "results.json",
        )
        assert int(audio["content-length"]) == 2 * 7200
        rows = json.loads(results.get_payload(decode=True))["results"]
        assert [row["status"] for row in rows] == [200, 400]


async def test_the_ray_dialect_takes_all_its_modes_in_one_batch(tmp_path):
    carried = f"base64+{base64.b64encode(sample(1)).decode()}"
    items = [
        {"text": "One.", "speed": "2.0"},
        {"text": "Two.", "reference_audio": carried, "reference_text": "Some words."},
        {"text": "Three.", "reference_audio": carried},
        {"text": "Four.", "instruction": "Calm."},
        {"text": "Five.", "mode": "zero_shot", "reference_audio": carried},
        {"text": "Six.", "mode": "sing"},
        {"text": "Seven.", "reference_audio": "/etc/passwd"},
        {"text": "Eight.", "mode": "tts", "instruction": "Not looked at."},
    ]
    async with studio_client(tmp_path) as (studio, client):
        answer = await client.post(RAY, json={"items": items})
        heard = {spoken.text: spoken for spoken in studio.engine.heard}
    files, results = unpacked(answer)
    assert [row["status"] for row in results] == [200, 200, 200, 200, 400, 400, 400, 200]
    assert sorted(files) == ["000.mp3", "001.mp3", "002.mp3", "003.mp3", "007.mp3"]
    refused = [row for row in results if row["file"] is None]
    assert all(row["detail"] == row["error"] for row in refused)
    assert "reference_text" in refused[0]["detail"]
    assert heard["One."].speed == 2.0
    assert heard["Two."].tuning == {"zero_shot": 1.0}
    assert heard["Three."].tuning == {}


@each_row("path", [OPENAI, RAY])
@each_row(
    ("body", "says"),
    [
        ({"items": []}, "empty"),
        ({"items": [{}] * 65}, "65 items; send 64"),
        ({"items": "text"}, "list"),
        ({}, "required"),
        ({"items": [{"input": "word " * 30, "text": "word " * 30}] * 2}, "300 characters"),
        ({"items": [{}], "archive": "rar"}, "archive"),
    ],
)
async def test_a_batch_over_its_limits_is_refused_as_a_whole(path, body, says):
    async with called(tone_service(batch_max_chars=200)) as client:
        refused = await client.post(path, json=body)
    assert refused.status_code == 400
    sentence = error_of(refused)["message"] if path == OPENAI else refused.json()["detail"]
    assert says in sentence


async def test_the_limits_of_single_requests_hold_for_each_item():
    async with called(tone_service(max_input_chars=10, max_pause_seconds=1)) as client:
        items = [{"input": "Short."}, {"input": "This is too long."}]
        _, results = unpacked(await client.post(OPENAI, json={"items": items}))
    assert [row["status"] for row in results] == [200, 400]


async def test_items_are_spoken_side_by_side_but_not_in_all_slots():
    engine = ToneEngine(delay=0.02)
    async with called(tone_service(engine, max_sessions=8, adaptive_sessions=False)) as client:
        unpacked(await client.post(OPENAI, json={"items": [{"input": "Word."}] * 12}))
    assert 2 <= engine.most_speaking <= 4


async def test_a_live_request_is_spoken_while_a_batch_waits():
    gate = asyncio.Event()
    engine = ToneEngine(gate=gate)
    async with called(tone_service(engine, max_sessions=2, max_queue=0, adaptive_sessions=False)) as client:
        many = asyncio.create_task(client.post(OPENAI, json={"items": [{"input": "Word."}] * 8}))
        await speaking(engine, 1)
        live = asyncio.create_task(client.post("/v1/audio/speech", json={"input": "Me first."}))
        await speaking(engine, 2)
        assert [spoken.text for spoken in engine.heard] == ["Word.", "Me first."]
        gate.set()
        assert (await live).status_code == 200
        unpacked(await many)


async def test_an_item_that_finds_no_memory_waits_for_it(monkeypatch):
    """Each WAV takes most of the memory of all batches, so only one of them fits at a time."""
    monkeypatch.setattr(batch, "_RETRY_SECONDS", (0.01, 0.01))
    engine = ToneEngine(chunks=4, chunk_seconds=4.0)
    service = tone_service(engine, batch_buffered_bytes=1_048_576, max_sessions=4)
    async with called(service) as client:
        files, results = unpacked(
            await client.post(OPENAI, json={"response_format": "wav", "items": [{"input": "Word."}] * 3})
        )
    assert [row["status"] for row in results] == [200] * 3
    assert {round(decoded_seconds(data), 6) for data in files.values()} == {16.0}


async def test_so_many_batches_at_once_and_half_of_them_for_one_client():
    gate = asyncio.Event()
    engine = ToneEngine(gate=gate)
    body = {"items": [{"input": "Word."}]}
    async with called(tone_service(engine, max_batches=2)) as client:
        first = asyncio.create_task(client.post(OPENAI, json=body))
        await speaking(engine, 1)
        refused = await client.post(OPENAI, json=body)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
        gate.set()
        unpacked(await first)
        unpacked(await client.post(OPENAI, json=body))
    async with called(tone_service(max_batches=0)) as client:
        assert (await client.post(OPENAI, json=body)).status_code == 403


async def test_what_is_not_spoken_in_time_is_an_error_of_its_item():
    engine = ToneEngine(gate=asyncio.Event())
    async with called(tone_service(engine, batch_deadline_seconds=0.05)) as client:
        _, results = unpacked(await client.post(OPENAI, json={"items": [{"input": "Word."}]}))
    assert [(row["status"], row["error"]["code"]) for row in results] == [(504, "deadline_exceeded")]


async def test_a_client_that_leaves_ends_all_items():
    engine = ToneEngine(chunks=1_000, delay=0.01)
    service = tone_service(engine)
    with served(service) as url:
        async with httpx.AsyncClient() as leaving:
            asked = asyncio.create_task(leaving.post(f"{url}{OPENAI}", json={"items": [{"input": "Word."}] * 40}))
            await speaking(engine, 1)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
        wait_for(lambda: not service.batches._held)
        spoken = len(engine.heard)
        async with httpx.AsyncClient() as client:
            engine.chunks = 1
            unpacked(await client.post(f"{url}{OPENAI}", json={"items": [{"input": "Again."}]}))
        assert len(engine.heard) == spoken + 1


def test_files_leave_before_the_batch_is_complete():
    class OneStops(ToneEngine):
        async def _work(self) -> None:
            if self.heard[-1].text == "Stop.":
                await asyncio.sleep(60)

    with (
        served(tone_service(OneStops())) as url,
        httpx.Client(timeout=10) as client,
        client.stream("POST", f"{url}{OPENAI}", json={"items": [{"input": "Go."}, {"input": "Stop."}]}) as answer,
    ):
        assert next(answer.iter_raw()).startswith(b"PK\x03\x04")


def test_an_archive_has_true_headers_and_keeps_to_32_bits():
    archive = ZipArchive()
    parts = [*archive.file("000.wav", "audio/wav", b"one"), *archive.file("héé.json", "application/json", b"{}")]
    data = b"".join(parts) + archive.end()
    with zipfile.ZipFile(io.BytesIO(data)) as read:
        assert read.namelist() == ["000.wav", "héé.json"]
        assert read.getinfo("000.wav").date_time > (2020, 1, 1, 0, 0, 0)
    with pytest.raises(InvalidRequestError, match="4 GB"):
        archive.check_room(0xF000_0000)
