"""Cartesia's WebSocket: contexts, continuations, flushes, cancels, word times, and errors of one context."""

import base64
import json
import time

import numpy as np
import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from helpers.fakes import PlainToneEngine, tone_service
from helpers.slow_speech import SlowWordEngine
from polyvox.api.app import create_app
from polyvox.api.dialects.cartesia.failed_contexts import FailedContexts

KATIE = "f786b574-daa5-4673-aa0c-cbe3e8534c02"
PATH = "/tts/websocket"
RATE = 24_000
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE}
END = {"transcript": "", "continue": False}


class Server:
    """A server on a tone engine, and what the tests look at."""

    def __init__(self, allowed_hosts=None, **settings):
        self.engine = SlowWordEngine()
        self.service = tone_service(self.engine, cartesia_voices=[f"{KATIE}=high"], **settings)
        self.client = TestClient(create_app(self.service, allowed_hosts=allowed_hosts))

    def connect(self, path=PATH, **options):
        return self.client.websocket_connect(path, **options)

    def idle(self):
        """Wait until nothing is spoken and no slot is taken."""
        until = time.monotonic() + 5
        while self.engine.speaking or self.service._admission.active or self.service._sessions:
            assert time.monotonic() < until, "something is still spoken"
            time.sleep(0.005)


@pytest.fixture(scope="module")
def server():
    made = Server(max_contexts_per_connection=8, max_input_chars=400)
    with made.client:
        yield made


def say(socket, transcript, context_id="one", /, **fields):
    message = {
        "model_id": "sonic-3",
        "voice": {"mode": "id", "id": "low"},
        "output_format": RAW,
        "context_id": context_id,
        "transcript": transcript,
        "continue": True,
    }
    socket.send_json(message | fields)


def until(socket, count=1, kinds=("done", "error")):
    """Events up to the one that makes `count` of these kinds."""
    events = []
    while sum(event["type"] in kinds for event in events) < count:
        events.append(socket.receive_json())
    return events


def of(events, context_id="one", kind=None):
    return [event for event in events if event["context_id"] == context_id and kind in (None, event["type"])]


def audio(events):
    return b"".join(base64.b64decode(event["data"]) for event in events if event["type"] == "chunk")


def pitch(data):
    samples = np.frombuffer(data, "<i2").astype(float)
    return np.argmax(np.abs(np.fft.rfft(samples))) * RATE / len(samples)


def words(events):
    stamps = [event["word_timestamps"] for event in events if event["type"] == "timestamps"]
    return [word for stamp in stamps for word in zip(stamp["words"], stamp["start"], stamp["end"], strict=True)]


@pytest.mark.parametrize("path", [PATH, "/cartesia/tts/websocket"])
def test_one_message_is_one_context(server, path):
    with server.connect(path) as socket:
        say(socket, "Hello there.", **{"continue": False})
        events = until(socket)
    assert {event["context_id"] for event in events} == {"one"}
    assert [event["type"] for event in events] == ["chunk", "chunk", "chunk", "done"]
    assert [event["done"] for event in events] == [False, False, False, True]
    assert [event["status_code"] for event in events] == [206, 206, 206, 200]
    assert all(event["step_time"] >= 0 for event in events[:-1])
    assert len(audio(events)) == 2 * 7_200
    assert pitch(audio(events)) == pytest.approx(220, abs=5)


@pytest.mark.parametrize("end", ["", " "])
def test_continuations_are_one_text_whose_words_are_as_sent(server, end):
    with server.connect() as socket:
        for part in ("Well, (he", "llo) there: one-", "two three! And", " more. "):
            say(socket, part, add_timestamps=True)
        say(socket, end, voice="no-such-voice", output_format=None, **{"continue": False})
        events = until(socket)
    told = words(events)
    sentences = [utterance.text for utterance in server.engine.heard[-2:]]
    assert sentences == ["Well, (hello) there: one-two three!", "And more."]
    assert [word for word, _, _ in told] == ["Well,", "(hello)", "there:", "one-two", "three!", "And", "more."]
    starts = [start for _, start, _ in told]
    assert starts == sorted(starts)
    assert starts[0] == 0
    assert told[-1][2] == pytest.approx(0.6, abs=1e-3)
    assert len(audio(events)) == 2 * 2 * 7_200


def test_a_socket_stays_open_and_an_id_can_be_used_again(server):
    with server.connect() as socket:
        for voice, hertz in (("low", 220), (KATIE, 440)):
            say(socket, "Hello.", voice=voice, **{"continue": False})
            assert pitch(audio(until(socket))) == pytest.approx(hertz, abs=5)


def test_many_contexts_speak_at_once_each_with_its_own_voice(server):
    with server.connect() as socket:
        names = [f"context {number}" for number in range(8)]
        for number, name in enumerate(names):
            say(socket, "First part. ", name, voice=["low", "high"][number % 2])
        for name in names:
            say(socket, "Second part.", name)
            say(socket, "", name, **{"continue": False})
        events = until(socket, len(names))
    for number, name in enumerate(names):
        mine = of(events, name)
        assert mine[-1]["type"] == "done"
        assert len(audio(mine)) == 2 * 2 * 7_200
        assert pitch(audio(mine)[: 2 * 7_200]) == pytest.approx([220, 440][number % 2], abs=5)


def test_a_flush_is_reported_after_its_audio(server):
    with server.connect() as socket:
        say(socket, "No full stop", flush=True)
        first = until(socket, kinds=("flush_done",))
        assert len(audio(first)) == 2 * 7_200
        say(socket, "Next")
        say(socket, "", flush=True)
        second = until(socket, kinds=("flush_done",))
        say(socket, "Last.", **{"continue": False})
        third = until(socket)
    assert [event["flush_id"] for event in of(first + second, kind="flush_done")] == [1, 2]
    assert first[-1] | {"flush_id": 1} == {
        "type": "flush_done",
        "flush_done": True,
        "flush_id": 1,
        "done": False,
        "status_code": 206,
        "context_id": "one",
    }
    assert [{event["flush_id"] for event in of(each, kind="chunk")} for each in (first, second, third)] == [
        {1},
        {2},
        {3},
    ]


def test_without_buffering_each_message_is_spoken_at_once(server):
    with server.connect() as socket:
        say(socket, "One", max_buffer_delay_ms=0)
        assert len(audio([socket.receive_json() for _ in range(3)])) == 2 * 7_200
        say(socket, "Two", max_buffer_delay_ms=0, flush=True)
        assert [event["flush_id"] for event in of(until(socket, kinds=("flush_done",)), kind="flush_done")] == [1]
        say(socket, " ", **{"continue": False})
        assert [event["type"] for event in until(socket)] == ["done"]


def test_text_without_a_boundary_waits_no_longer_than_it_may(server):
    with server.connect() as socket:
        began = time.monotonic()
        say(socket, "There is no boundary in this", max_buffer_delay_ms=100)
        assert socket.receive_json()["type"] == "chunk"
        assert time.monotonic() - began < 2.0
        say(socket, "", **{"continue": False})
        until(socket)


def test_a_cancel_is_the_last_of_its_context_and_frees_the_slot(server):
    with server.connect() as socket:
        say(socket, "This goes on slowly.", "long", max_buffer_delay_ms=0)
        assert socket.receive_json()["context_id"] == "long"
        say(socket, "Another one.", "other", **{"continue": False})
        socket.send_json({"context_id": "long", "cancel": True})
        server_events = until(socket)
        server.idle()
        socket.send_json({"context_id": "long", "cancel": True})
        socket.send_json({"context_id": "never was", "cancel": True})
        say(socket, "Good.", "long", voice="high", **{"continue": False})
        again = until(socket)
    assert not of(server_events, "long", "done")
    assert of(server_events, "other")[-1]["type"] == "done"
    assert {event["context_id"] for event in again} == {"long"}
    assert len(audio(again)) == 2 * 7_200
    assert pitch(audio(again)) == pytest.approx(440, abs=5)


def test_a_client_that_leaves_frees_everything(server):
    with server.connect() as socket:
        for name in ("one", "two", "three"):
            say(socket, "This goes on slowly.", name, max_buffer_delay_ms=0)
        socket.receive_json()
    server.idle()


def test_an_end_without_a_text_is_an_end(server):
    with server.connect() as socket:
        say(socket, "", **{"continue": False})
        assert [event["type"] for event in until(socket)] == ["done"]
        say(socket, "... ", voice="low")
        say(socket, " ", **{"continue": False})
        assert [event["type"] for event in until(socket)] == ["done"]


def test_a_message_without_a_context_gets_one(server):
    with server.connect() as socket:
        say(socket, "Hello.", None, **{"continue": False})
        events = until(socket)
    assert len({event["context_id"] for event in events}) == 1
    assert len(events[0]["context_id"]) == 32


def test_encodings_and_rates(server):
    with server.connect() as socket:
        for encoding, sample_bytes in (("pcm_f32le", 4), ("pcm_mulaw", 1), ("pcm_alaw", 1)):
            output = {"container": "raw", "encoding": encoding, "sample_rate": 8_000}
            say(socket, "Hello.", output_format=output, **{"continue": False})
            assert len(audio(until(socket))) == sample_bytes * 2_400


BAD = [
    ({"voice": "no-such-voice"}, 404, "voice_not_found"),
    ({"voice": {"mode": "embedding", "embedding": [0.1] * 192}}, 400, "invalid_value"),
    ({"model_id": "other"}, 404, "model_not_found"),
    ({"transcript": 7}, 400, "invalid_value"),
    ({"transcript": "bell \a"}, 400, "invalid_value"),
    ({"transcript": "long " * 100}, 400, "invalid_text"),
    ({"output_format": None}, 400, "invalid_value"),
    ({"output_format": RAW | {"container": "mp3"}}, 400, "invalid_value"),
    ({"output_format": RAW | {"encoding": "opus"}}, 400, "invalid_value"),
    ({"output_format": RAW | {"sample_rate": 96_000}}, 400, "invalid_value"),
    ({"max_buffer_delay_ms": 5_001}, 400, "invalid_value"),
    ({"continue": "perhaps"}, 400, "invalid_value"),
    ({"generation_config": {"speed": 9}}, 400, "invalid_value"),
]


def test_bad_messages_end_their_context_and_leave_the_others_speaking(server):
    with server.connect() as socket:
        say(socket, "This goes on slowly.", "long", max_buffer_delay_ms=0)
        socket.receive_json()
        for number, (fields, status, code) in enumerate(BAD):
            name = f"bad {number}"
            say(socket, "Hello.", name, **({"continue": False} | fields))
            error = until(socket, kinds=("error",))[-1]
            assert (error["context_id"], error["done"]) == (name, True), fields
            assert (error["status_code"], error["error_code"]) == (status, code), error
            assert error["title"]
            assert error["message"].endswith(".")
        for text in ("no json", "[]", '"text"'):
            socket.send_text(text)
            error = until(socket, kinds=("error",))[-1]
            assert (error["context_id"], error["done"], error["status_code"]) == (None, False, 400)
        socket.send_bytes(b"\x00\x01")
        assert until(socket, kinds=("error",))[-1]["context_id"] is None
        socket.send_json({"context_id": "x" * 201, "transcript": "Hello."})
        assert until(socket, kinds=("error",))[-1]["context_id"] is None
        assert of([socket.receive_json()], "long", "chunk"), "it still speaks"
    server.idle()


def test_a_bad_continuation_stops_what_it_continues(server):
    with server.connect() as socket:
        say(socket, "This goes on slowly.", "long", max_buffer_delay_ms=0)
        socket.receive_json()
        say(socket, "bell \a", "long")
        events = until(socket)
        assert events[-1]["type"] == "error"
        server.idle()
        say(socket, "Hello.", "other", **{"continue": False})
        assert {event["context_id"] for event in until(socket)} == {"other"}


def test_what_still_arrives_for_a_failed_context_is_not_spoken_from_its_middle(server):
    with server.connect() as socket:
        heard = len(server.engine.heard)
        say(socket, "Hello there. ", voice="nobody", max_buffer_delay_ms=0)
        assert until(socket)[-1]["error_code"] == "voice_not_found"
        say(socket, "And the rest. ", voice="low")
        assert until(socket)[-1]["error_code"] == "voice_not_found"
        say(socket, "", **{"continue": False})
        assert until(socket)[-1]["type"] == "done"
        assert len(server.engine.heard) == heard
        say(socket, "A fresh start.", **{"continue": False})
        assert until(socket)[-1]["type"] == "done"
        assert [utterance.text for utterance in server.engine.heard[heard:]] == ["A fresh start."]


def test_a_failed_context_is_opened_anew_once_it_is_cancelled(server):
    with server.connect() as socket:
        heard = len(server.engine.heard)
        say(socket, "Hello there. ", voice="nobody", max_buffer_delay_ms=0)
        assert until(socket)[-1]["error_code"] == "voice_not_found"
        socket.send_json({"context_id": "one", "cancel": True})
        say(socket, "Hello again. ", voice="low")
        say(socket, "", **{"continue": False})
        assert until(socket)[-1]["type"] == "done"
        assert [utterance.text for utterance in server.engine.heard[heard:]] == ["Hello again."]


def test_a_failed_context_is_opened_anew_when_its_client_must_have_heard_of_it():
    now = [0.0]
    failed = FailedContexts(lambda: now[0])
    failed.add("a", {"type": "error"})
    now[0] = 4.9
    assert failed.answer("a", goes_on=True) == {"type": "error"}
    now[0] = 5.0
    assert failed.answer("a", goes_on=True) is None
    now[0] = 0.0
    assert failed.answer("a", goes_on=True) is None, "it is forgotten"


def test_text_after_the_end_is_refused_while_the_rest_is_spoken(server):
    with server.connect() as socket:
        say(socket, "This is spoken slowly.", **{"continue": False})
        say(socket, "Late.")
        error = until(socket, kinds=("error",))[-1]
        assert (error["done"], error["status_code"]) == (False, 400)
        assert socket.receive_json()["type"] == "chunk"


def test_a_socket_has_only_so_many_contexts(server):
    with server.connect() as socket:
        for number in range(9):
            say(socket, "Waits", f"context {number}")
        error = until(socket)[-1]
        assert (error["context_id"], error["status_code"]) == ("context 8", 429)


@pytest.mark.long
def test_an_engine_that_fails_ends_only_its_context(server, monkeypatch):
    real = PlainToneEngine._chunk

    def broken(self, utterance, index, *rest):
        if "break" in utterance.text and index == 1:
            raise RuntimeError("secret")
        return real(self, utterance, index, *rest)

    monkeypatch.setattr(PlainToneEngine, "_chunk", broken)
    with server.connect() as socket:
        say(socket, "This will break.", "bad", **{"continue": False})
        say(socket, "Hello.", "good", **{"continue": False})
        events = until(socket, 2)
    error = of(events, "bad")[-1]
    assert (error["type"], error["status_code"], error["done"]) == ("error", 500, True)
    assert "secret" not in json.dumps(events)
    assert of(events, "good")[-1]["type"] == "done"


@pytest.mark.long
def test_a_socket_that_nobody_uses_is_closed():
    server = Server(socket_idle_seconds=0.2)
    with server.client, server.connect() as socket:
        say(socket, "This goes on slowly.", "long", max_buffer_delay_ms=0)
        began = time.monotonic()
        while time.monotonic() - began < 0.5:
            assert socket.receive_json()["type"] == "chunk"
        socket.send_json({"context_id": "long", "cancel": True})
        with pytest.raises(WebSocketDisconnect) as end:
            until(socket)
    assert end.value.code == 1000


def denied(server, path=PATH, **options):
    with pytest.raises(WebSocketDenialResponse) as refusal, server.connect(path, **options):
        pass
    return refusal.value


def test_keys_hosts_origins_and_sizes_hold_on_the_socket():
    server = Server(api_keys=["secret"], max_body_bytes=2_048, allowed_hosts=["testserver"])
    with server.client:
        refused = denied(server, headers={"X-API-Key": "secret", "Host": "elsewhere.example"})
        assert refused.json()["status_code"] == refused.status_code == 403
        for prefix in ("", "/cartesia"):
            path = f"{prefix}{PATH}"
            for given in ({}, {"headers": {"X-API-Key": "wrong"}}):
                response = denied(server, path, **given)
                assert response.status_code == 401
                assert response.json()["error_code"] == "invalid_api_key"
            assert denied(server, f"{path}?api_key=wrong").status_code == 401
            for query, headers in (
                ("", {"X-API-Key": "secret"}),
                ("", {"Authorization": "Bearer secret"}),
                ("?api_key=secret&cartesia_version=2025-04-16", {}),
                ("?cartesia_version=2025-04-16&access_token=secret", {}),
            ):
                with server.connect(path + query, headers=headers) as socket:
                    say(socket, "Hello.", **{"continue": False})
                    assert until(socket)[-1]["type"] == "done"
        foreign = denied(server, headers={"X-API-Key": "secret", "Origin": "http://elsewhere.example"})
        assert foreign.status_code == 403
        with server.connect(headers={"X-API-Key": "secret"}) as socket:
            say(socket, "long " * 1_000)
            with pytest.raises(WebSocketDisconnect) as end:
                until(socket)
        assert end.value.code == 1009
