"""The log of chunks: what a line holds, how much disk it takes, and that speech goes on without it."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from helpers.fakes import ToneEngine, running, tone_service
from helpers.serving import called
from polyvox.audio.pcm import to_pcm16
from polyvox.service.call_context import LOCAL_CALL, CallContext
from polyvox.service.chunk_summary import ChunkSummary
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.telemetry import chunk_log as module
from polyvox.service.telemetry.chunk_log import ChunkLog
from polyvox.service.telemetry.rotated_file import RotatedFile
from polyvox.types import AudioChunk, ChunkPolicy, Seconds, Span, StageSeconds, Utterance

pytestmark = pytest.mark.anyio

LOST = "polyvox_chunk_log_lost_total"


async def spoken(service: SpeechService, call: CallContext = LOCAL_CALL) -> list[AudioChunk]:
    request = SpeechRequest(Utterance("one two three", "low", seed=7), door="test")
    async with await service.open(request, call) as session:
        return [chunk async for chunk in session]


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def chunk(**fields: object) -> AudioChunk:
    return AudioChunk(np.zeros(100, np.float32), 24_000, 0, 0, **fields)


async def test_each_chunk_is_a_line_with_its_ranges_its_hash_and_its_session(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "chunks.jsonl"
    async with running(tone_service(ToneEngine(), chunk_log=path)) as service:
        chunks = await spoken(service, CallContext(request_id="caller-1"))
    first, *_ = lines = records(path)
    assert [line["index"] for line in lines] == [0, 1, 2]
    assert [line["samples"] for line in lines] == [[0, 2_400], [2_400, 4_800], [4_800, 7_200]]
    assert [line["tokens"] for line in lines] == [[0, 1], [1, 2], [2, 3]]
    assert [line["span"] for line in lines] == [[0, 3], [4, 7], [8, 13]]
    assert [line["sha256"] for line in lines] == [hashlib.sha256(to_pcm16(each.pcm)).hexdigest() for each in chunks]
    assert len({line["session"] for line in lines}) == 1
    assert (first["request"], first["door"], first["model"], first["seed"]) == ("caller-1", "test", "tone", 7)
    assert (first["sample_rate"], first["channels"]) == (24_000, 1)
    assert (first["frames"], first["policy"], first["lm"], first["flow"], first["vocoder"]) == (None,) * 5
    assert "one two three" not in path.read_text(), "what people say is not in it"


def test_the_times_of_every_stage_and_the_policy_are_in_it(tmp_path: Path) -> None:
    log = ChunkLog(RotatedFile(tmp_path / "log", 4096, 1), lambda: None)
    stages = StageSeconds(lm=Seconds(0.5, 0.25), flow=Seconds(0.125), vocoder=None)
    log.add({}, chunk(stages=stages, frames=Span(0, 50), policy=ChunkPolicy(25, 2.0, 100), wall_seconds=1.5))
    log.close()
    (line,) = records(tmp_path / "log")
    assert line["lm"] == {"wall_seconds": 0.5, "device_seconds": 0.25}
    assert line["flow"] == {"wall_seconds": 0.125, "device_seconds": None}
    assert line["vocoder"] is None
    assert line["policy"] == {"first": 25, "growth": 2.0, "maximum": 100, "whole_sentences": False}
    assert (line["frames"], line["wall_seconds"]) == ([0, 50], 1.5)


def test_times_of_chunks_that_become_one_add_up() -> None:
    both = StageSeconds(lm=Seconds(1.0, 0.5), flow=Seconds(1.0)) + StageSeconds(
        lm=Seconds(2.0, 0.25), vocoder=Seconds(3.0)
    )
    assert both == StageSeconds(Seconds(3.0, 0.75), Seconds(1.0), Seconds(3.0))
    assert Seconds(1.0, 0.5) + Seconds(1.0) == Seconds(2.0, None)


def test_the_file_rotates_and_never_takes_more_than_it_may(tmp_path: Path) -> None:
    file = RotatedFile(tmp_path / "log", 4096, 2)
    for number in range(300):
        file.append(json.dumps({"number": number, "pad": "x" * 80}).encode() + b"\n")
    file.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "log.1", "log.2"]
    assert all(path.stat().st_size <= 4096 for path in tmp_path.iterdir())
    numbers = [line["number"] for name in ("log.2", "log.1", "log") for line in records(tmp_path / name)]
    assert numbers == list(range(numbers[0], 300))


def test_a_line_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RotatedFile(tmp_path / "log", 4096, 1)
    file.append(b"whole\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    with pytest.raises(OSError, match="No space"):
        file.append(b"torn apart\n")
    monkeypatch.setattr(os, "write", write)
    file.append(b"next\n")
    file.close()
    assert (tmp_path / "log").read_bytes() == b"whole\nnext\n"


@pytest.mark.parametrize("place", ["a full disk", "a folder", "below a file"])
async def test_what_cannot_be_written_is_counted_and_speech_goes_on(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    path = {"a full disk": Path("/dev/full"), "a folder": tmp_path, "below a file": tmp_path / "file" / "log"}[place]
    with capture_logs() as logs:
        async with running(tone_service(ToneEngine(), chunk_log=path)) as service:
            assert len(await spoken(service)) == 3
        metrics = service.metrics.render().decode()
    assert f"{LOST} 3.0" in metrics
    warnings = [line for line in logs if line["log_level"] == "warning"]
    assert len(warnings) == 1, "one for the three"
    assert "chunk_log" in warnings[0]["event"]


def test_a_disk_that_has_room_again_is_written_to(tmp_path: Path) -> None:
    lost: list[None] = []
    target = tmp_path / "gone" / "log"
    (tmp_path / "gone").write_text("a file where the folder belongs")
    log = ChunkLog(RotatedFile(target, 4096, 1), lambda: lost.append(None))
    log.add({"session": "one"}, chunk())
    while not lost:
        pass
    (tmp_path / "gone").unlink()
    log.add({"session": "two"}, chunk())
    log.close()
    assert [line["session"] for line in records(target)] == ["two"]


def test_a_slow_disk_costs_records_and_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[None] = []
    monkeypatch.setattr(module, "_QUEUED_BYTES", 100)
    log = ChunkLog(RotatedFile(tmp_path / "log", 4096, 1), lambda: lost.append(None))
    log.add({}, chunk())
    log.close()
    assert len(lost) == 1
    assert not (tmp_path / "log").exists()


async def test_a_whole_answer_gives_the_ranges_to_those_who_ask() -> None:
    body = {"input": "one two three", "voice": "low", "stream": False, "response_format": "wav"}
    async with called(tone_service(ToneEngine())) as client:
        asked = await client.post("/v1/audio/speech", json=body, headers={"X-Polyvox-Chunks": "1"})
        plain = await client.post("/v1/audio/speech", json=body)
        stream = await client.post("/v1/audio/speech", json=body | {"stream": True}, headers={"X-Polyvox-Chunks": "1"})
    assert asked.headers["x-polyvox-chunks"] == "0-2400;tokens=0-1, 2400-4800;tokens=1-2, 4800-7200;tokens=2-3"
    assert asked.content == plain.content
    assert "x-polyvox-chunks" not in plain.headers
    assert "x-polyvox-chunks" not in stream.headers, "not known when a stream's header is sent"


async def test_a_callers_id_is_logged_where_it_is_acceptable(tmp_path: Path) -> None:
    path = tmp_path / "log"
    async with called(tone_service(ToneEngine(chunks=1), chunk_log=path)) as client:
        for given in ("order-5", "x\ty", "z" * 129, "z" * 128):
            await client.post(
                "/v1/audio/speech", json={"input": "one", "voice": "low"}, headers={"X-Request-Id": given}
            )
    assert [line["request"] for line in records(path)] == ["order-5", None, None, "z" * 128]


def test_the_header_stays_short() -> None:
    summary = ChunkSummary()
    for number in range(1_000):
        summary.add(AudioChunk(np.zeros(100, np.float32), 24_000, number, 100 * number, tokens=Span(0, number)))
    text = str(summary)
    assert len(text) < 2_200
    shown = text.count("tokens=")
    assert text.endswith(f", more={1_000 - shown}")
