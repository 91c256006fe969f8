"""Streams over a real server, either of the two: early audio, clients that leave or stall, failures that show."""

import asyncio
import json
import socket
import threading
import time

import httpx
import pytest
from structlog.testing import capture_logs

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import error_of, raw_post, served_by_granian, served_by_uvicorn, wait_for

SPEECH = "/v1/audio/speech"
PCM = {"input": "One two three.", "response_format": "pcm"}
CHUNK_BYTES = 4_800


@pytest.fixture(params=[served_by_uvicorn, served_by_granian], ids=["uvicorn", "granian"])
def served(request):
    """Serves a service for as long as a block lasts, and gives its address."""
    return request.param


def read_into(pieces: list[bytes], url: str) -> None:
    with httpx.stream("POST", url, json=PCM) as response:
        assert response.status_code == 200
        for piece in response.iter_raw():
            pieces.append(piece)  # one by one: what came before a broken connection counts


@pytest.mark.alone
def test_audio_leaves_before_the_next_chunk_is_made(served):
    engine = ToneEngine(chunks=3, delay=0.3)
    with served(tone_service(engine)) as url, httpx.stream("POST", url + SPEECH, json=PCM) as response:
        began = time.monotonic()
        arrivals = [(time.monotonic() - began, len(piece)) for piece in response.iter_raw()]
    assert sum(size for _, size in arrivals) == 3 * CHUNK_BYTES
    assert arrivals[0][0] < 0.2
    assert arrivals[-1][0] > 0.4


@pytest.mark.long
@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_frees_its_session_within_a_chunk(served, stream):
    engine = ToneEngine(chunks=1_000, delay=0.05)
    body = json.dumps(PCM | {"stream": stream}).encode()
    with served(tone_service(engine)) as url:
        connection = raw_post(url, body)
        wait_for(lambda: engine.speaking == 1)
        connection.close()
        wait_for(lambda: engine.speaking == 0, seconds=1.0)
        metrics = httpx.get(url + "/metrics").text
    assert "polyvox_active_sessions 0.0" in metrics
    assert 'polyvox_session_seconds_count{state="cancelled"} 1.0' in metrics


@pytest.mark.long
def test_a_client_that_leaves_the_queue_gives_up_its_place(served):
    engine = ToneEngine(chunks=1_000, delay=0.05)
    body = json.dumps(PCM).encode()
    with served(tone_service(engine, max_sessions=1, max_queue=1)) as url:
        speaking = raw_post(url, body)
        wait_for(lambda: engine.speaking == 1)
        waiting = raw_post(url, body)
        wait_for(lambda: "polyvox_queue_depth 1.0" in httpx.get(url + "/metrics").text)
        refused = httpx.post(url + SPEECH, json=PCM)
        assert refused.status_code == 429
        assert error_of(refused)["code"] == "overloaded"
        assert int(refused.headers["retry-after"]) >= 1
        waiting.close()
        wait_for(lambda: "polyvox_queue_depth 0.0" in httpx.get(url + "/metrics").text)
        speaking.close()
        wait_for(lambda: engine.speaking == 0)
    assert len(engine.heard) == 1


@pytest.mark.long
def test_a_stream_that_fails_after_its_first_byte_is_cut_off(served):
    pieces: list[bytes] = []
    with served(tone_service(ToneEngine(chunks=3, delay=0.05, fail_at=2))) as url:
        with pytest.raises(httpx.RemoteProtocolError):
            read_into(pieces, url + SPEECH)
        metrics = httpx.get(url + "/metrics").text
    assert len(b"".join(pieces)) == 2 * CHUNK_BYTES
    assert 'polyvox_failures_total{kind="engine_failed"} 1.0' in metrics


@pytest.mark.long
def test_captions_that_fail_after_their_first_line_are_cut_off(served):
    pieces: list[bytes] = []
    engine = ToneEngine(chunks=2, delay=0.05, fail_at=1)
    with served(tone_service(engine)) as url, pytest.raises(httpx.RemoteProtocolError):
        read_into(pieces, url + "/dev/captioned_speech")
    assert b"".join(pieces).count(b"\n") == 1


@pytest.mark.long
def test_a_whole_file_that_fails_late_still_has_its_status(served):
    engine = ToneEngine(chunks=3, fail_at=2)
    with served(tone_service(engine)) as url:
        response = httpx.post(url + SPEECH, json=PCM | {"stream": False})
    assert response.status_code == 500
    assert error_of(response)["code"] == "engine_failed"


@pytest.mark.long
def test_a_deadline_before_the_first_audio_has_a_status(served):
    with served(tone_service(ToneEngine(delay=5.0), deadline_seconds=0.2)) as url:
        response = httpx.post(url + SPEECH, json=PCM)
    assert response.status_code == 504
    assert error_of(response)["code"] == "deadline_exceeded"


@pytest.mark.long
def test_a_client_that_reads_nothing_is_dropped_and_others_are_not(served):
    engine = ToneEngine(chunks=400, chunk_seconds=2.0)
    with served(tone_service(engine, stall_seconds=0.5)) as url:
        stalled = raw_post(url, json.dumps(PCM).encode())
        wait_for(lambda: engine.speaking == 1)
        engine.chunks = 3
        assert httpx.post(url + SPEECH, json=PCM).status_code == 200
        wait_for(lambda: engine.speaking == 0, seconds=3.0)
        wait_for(lambda: 'kind="client_stalled"} 1.0' in httpx.get(url + "/metrics").text, seconds=3.0)
        stalled.close()


@pytest.mark.long
def test_a_slow_reader_gets_everything(served):
    engine = ToneEngine(chunks=20, chunk_seconds=1.0)
    with (
        served(tone_service(engine, stall_seconds=5.0, session_buffer=1)) as url,
        httpx.stream("POST", url + SPEECH, json=PCM) as response,
    ):
        total = 0
        for piece in response.iter_raw(65_536):
            total += len(piece)
            time.sleep(0.02)
    assert total == 20 * 48_000


@pytest.mark.long
@pytest.mark.anyio
async def test_many_streams_at_once_each_get_their_own_audio(served):
    engine = ToneEngine(chunks=5, delay=0.01)
    with served(tone_service(engine, max_sessions=32)) as url:
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            wishes = [PCM | {"voice": voice} for voice in ("low", "high") * 12]
            answers = await asyncio.gather(*(client.post(SPEECH, json=wish) for wish in wishes))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers[0::2]}) == 1
    assert len({answer.content for answer in answers[1::2]}) == 1
    assert answers[0].content != answers[1].content
    assert len({answer.headers["x-session-id"] for answer in answers}) == 24


@pytest.mark.long
def test_open_streams_finish_when_the_server_stops(served):
    engine = ToneEngine(chunks=5, delay=0.1)
    answers = []
    with served(tone_service(engine)) as url:
        reader = threading.Thread(target=lambda: answers.append(httpx.post(url + SPEECH, json=PCM)))
        reader.start()
        wait_for(lambda: engine.speaking == 1)
    reader.join()
    assert len(answers[0].content) == 5 * CHUNK_BYTES
    assert engine.is_closed


def test_a_body_without_end_is_refused_while_it_comes(served):
    head = b"POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with served(tone_service(max_body_bytes=2_048)) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b" " * 1_024 + b"\r\n")
            connection.sendall(b"600\r\n" + b" " * 1_536 + b"\r\n")
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        alive = httpx.post(url + SPEECH, json=PCM)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    assert b"request_too_large" in answer
    assert alive.status_code == 200


def test_a_client_that_leaves_while_it_sends_its_request_is_no_failure(served):
    head = b"POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    with capture_logs() as lines, served(tone_service()) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(head + b'{"input"')
        wait_for(lambda: any("client left" in line["event"] for line in lines))
        assert httpx.post(url + SPEECH, json=PCM).status_code == 200
    assert [line for line in lines if line["log_level"] == "error"] == []
