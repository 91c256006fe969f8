"""Sessions of OpenAI's Realtime API that listen: turns, transcripts, interruptions and their limits."""

import base64
from threading import Event

import numpy as np
import pytest
from starlette.testclient import WebSocketDenialResponse

from helpers.fakes import ToneEngine, tone_service
from helpers.listening import SPEECH, ScriptedRecogniser, listening_with
from helpers.openai_realtime_client import BETA, SOCKET, connected, message, names, realtime_app
from polyvox.api.dialects.openai_realtime.wire_format import WireFormat
from polyvox.audio.decode import decode
from polyvox.audio.resample import resampled
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore

ITEM = ["conversation.item.added", "conversation.item.done"]
TRANSCRIPT = [f"conversation.item.input_audio_transcription.{name}" for name in ("delta", "completed")]
TURN = [f"input_audio_buffer.{name}" for name in ("speech_started", "speech_stopped", "committed")]
COMPLETED = TRANSCRIPT[1]
LISTENS = {"transcription": {"language": "en"}}
MANUAL = {**LISTENS, "turn_detection": None}


@pytest.fixture(scope="module")
def recogniser():
    return ScriptedRecogniser()


@pytest.fixture(scope="module")
def engine():
    return ToneEngine(chunks=400, chunk_seconds=0.1, delay=0.002)


@pytest.fixture(scope="module")
def app(engine, recogniser):
    service = listening_with(tone_service(engine, listen_max_seconds=30), any=recogniser)
    with realtime_app(service) as client:
        yield client


@pytest.fixture
def client(app):
    with connected(app) as client:
        yield client


def sound(seconds_of_silence=0.8, wire=WireFormat.PCM):
    """A sentence between silences, in events of 100 ms."""
    pcm, rate = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    quiet = np.zeros(round(seconds_of_silence * wire.sample_rate), np.float32)
    pcm = np.concatenate([quiet, resampled(pcm, rate, wire.sample_rate), quiet])
    step = wire.sample_rate // 10
    return [wire.base64(pcm[start : start + step]) for start in range(0, len(pcm), step)]


SENTENCE = sound()


def append(client, audio):
    for part in audio:
        client.send("input_audio_buffer.append", audio=part)


def test_a_sentence_is_heard_as_a_turn_and_transcribed(client):
    session = client.update(audio={"input": LISTENS})
    assert session["audio"]["input"]["turn_detection"]["type"] == "server_vad"
    append(client, SENTENCE)
    events = client.until(COMPLETED)
    assert names(events) == [*TURN, *ITEM, *TRANSCRIPT]
    started, stopped, committed, added, *_, completed = events
    assert 400 < started["audio_start_ms"] < 900
    assert 2_500 < stopped["audio_end_ms"] - started["audio_start_ms"] < 4_500
    assert len({event.get("item_id") or event["item"]["id"] for event in events}) == 1
    assert (committed["previous_item_id"], added["item"]["role"]) == (None, "user")
    assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]
    assert (completed["transcript"], completed["content_index"]) == ("Hello there.", 0)
    assert completed["usage"]["type"] == "duration"
    retrieved = client.ask("conversation.item.retrieve", item_id=completed["item_id"])["item"]
    assert retrieved["content"] == [{"type": "input_audio", "transcript": "Hello there."}]


def test_without_turn_detection_the_client_commits(client, recogniser):
    client.update(audio={"input": {**MANUAL, "format": {"type": "audio/pcmu"}}})
    append(client, sound(wire=WireFormat.PCMU))
    client.send("input_audio_buffer.commit")
    events = client.until(COMPLETED)
    assert names(events) == [TURN[2], *ITEM, *TRANSCRIPT]
    assert recogniser.tasks[-1].language == "en"
    append(client, SENTENCE[:5])
    assert client.ask("input_audio_buffer.clear")["type"] == "input_audio_buffer.cleared"
    assert client.refused("input_audio_buffer.commit")["code"] == "input_audio_buffer_commit_empty"


def test_the_beta_version_listens_in_its_own_shapes(app):
    with connected(app, headers=BETA) as client:
        session = client.update(
            input_audio_format="g711_alaw",
            input_audio_transcription={"model": "whisper-1"},
            turn_detection={"type": "server_vad", "silence_duration_ms": 400, "create_response": False},
        )
        assert session["input_audio_format"] == "g711_alaw"
        assert session["turn_detection"]["silence_duration_ms"] == 400
        append(client, sound(wire=WireFormat.PCMA))
        assert names(client.until(COMPLETED)) == [*TURN, "conversation.item.created", *TRANSCRIPT]
        assert client.update(turn_detection=None)["turn_detection"] is None


def test_a_session_for_transcription_listens_alone(app):
    with app.websocket_connect("/v1/realtime?intent=transcription") as socket:
        created = socket.receive_json()
    assert created["type"] == "session.created"
    assert created["session"]["object"] == "realtime.transcription_session"
    assert "output" not in created["session"]["audio"]
    with connected(app, "?intent=transcription&model=gpt-4o-transcribe") as client:
        session = client.update(type="transcription", audio={"input": {"transcription": {"prompt": "Wren"}}})
        assert session["audio"]["input"]["transcription"]["prompt"] == "Wren"
        append(client, SENTENCE)
        assert client.until(COMPLETED)[-1]["transcript"] == "Hello there."
        assert client.refused("response.create")["code"] == "not_supported"
        assert client.refused("session.update", session={"audio": {"input": {"transcription": {"model": "nova"}}}})
    with app.websocket_connect("/v1/realtime?intent=transcription", headers=BETA) as socket:
        assert socket.receive_json()["type"] == "transcription_session.created"
        socket.send_json({"type": "transcription_session.update", "session": {"turn_detection": None}})
        updated = socket.receive_json()
    assert (updated["type"], updated["session"]["turn_detection"]) == ("transcription_session.updated", None)


def test_who_begins_to_speak_interrupts_the_response(client, engine):
    client.send("response.create", response={"input": [message("A long story.")]})
    client.until("response.output_audio.delta")
    append(client, SENTENCE)
    done = client.until("response.done")[-1]["response"]
    assert done["status"] == "cancelled"
    assert done["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    client.until("conversation.item.done")


def test_who_may_not_interrupt_is_heard_beside_the_response(client):
    client.update(audio={"input": {**LISTENS, "turn_detection": {"interrupt_response": False}}})
    client.send("response.create", response={"input": [message("A long story.")]})
    append(client, SENTENCE)
    heard = client.until(COMPLETED)
    assert "response.done" not in {event["type"] for event in heard}
    client.send("response.cancel")
    assert client.until("response.done")[-1]["response"]["status_details"]["reason"] == "client_cancelled"


def test_what_was_heard_is_not_answered_without_a_language_model(client):
    client.update(audio={"input": MANUAL})
    append(client, SENTENCE)
    client.send("input_audio_buffer.commit")
    heard = client.until(COMPLETED)[-1]["item_id"]
    for response in ({}, {"input": [{"type": "item_reference", "id": heard}]}):
        error = client.refused("response.create", response=response)
        assert error["code"] == "not_supported"
        assert "no language model here that would answer" in error["message"]
    client.ask("conversation.item.create", item=message("The answer.", "assistant"))
    client.until("conversation.item.done")
    client.send("response.create")
    assert client.until("response.output_audio_transcript.delta")[-1]["delta"]
    client.send("response.cancel")
    client.until("response.done")


def test_a_stock_agents_wishes_are_kept_as_far_as_they_go_and_the_rest_is_said(client):
    heard = {
        "format": {"type": "audio/pcm", "rate": 24_000},
        "noise_reduction": {"type": "near_field"},
        "transcription": {"model": "gpt-4o-mini-transcribe"},
        "turn_detection": {"type": "semantic_vad", "eagerness": "low"},
    }
    event = client.ask("session.update", session={"audio": {"input": heard, "output": {"voice": "high"}}})
    shown = event["session"]["audio"]
    assert shown["output"]["voice"] == "high"
    assert shown["input"]["transcription"]["model"] == "gpt-4o-mini-transcribe"
    assert (shown["input"]["turn_detection"]["type"], shown["input"]["noise_reduction"]) == ("server_vad", None)
    assert shown["input"]["turn_detection"]["create_response"] is False
    said = ["'semantic_vad' is taken", "No response is created", "'noise_reduction' is ignored"]
    assert [sentence.startswith(start) for sentence, start in zip(event["warnings"], said, strict=True)] == [True] * 3
    unknown = client.ask("session.update", session={"audio": {"input": {"transcription": {"model": "nova"}}}})
    assert unknown["session"]["audio"]["input"]["transcription"] is None
    assert unknown["warnings"][0].startswith("There will be no transcripts: There is no model 'nova'")


def test_recorded_turns_are_items_too(client):
    client.update(audio={"input": MANUAL})
    audio = base64.b64encode(b"".join(map(base64.b64decode, SENTENCE))).decode()
    part = {"type": "input_audio", "audio": audio}
    client.send("conversation.item.create", item={"type": "message", "role": "user", "content": [part]})
    assert names(client.until(COMPLETED)) == [*ITEM, *TRANSCRIPT]
    part = {"type": "input_audio", "transcript": "Known."}
    added = client.ask(
        "conversation.item.create", item={"id": "known", "type": "message", "role": "user", "content": [part]}
    )
    assert added["item"]["content"] == [part]
    client.until("conversation.item.done")
    assert client.ask("conversation.item.delete", item_id="known")["type"] == "conversation.item.deleted"


def test_sound_that_cannot_be_taken_is_an_error_and_changes_nothing(client):
    client.update(audio={"input": MANUAL})
    second = WireFormat.PCM.base64(np.zeros(24_000, np.float32))
    for audio in ("no base64!", "AA==", "AAAAA", "ÄÖ==", 7, None):
        assert client.refused("input_audio_buffer.append", audio=audio)["param"] == "audio"
    append(client, [second] * 30)
    assert client.refused("input_audio_buffer.append", audio=second)["code"] == "input_audio_buffer_full"
    client.send("input_audio_buffer.commit")
    assert client.until(COMPLETED)[-1]["transcript"] == ""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("turn_detection", {"type": "magic"}),
        ("turn_detection", {"threshold": 1.5}),
        ("turn_detection", {"silence_duration_ms": -1}),
        ("transcription", {"language": "klingon"}),
        ("format", {"type": "audio/pcm", "rate": 16_000}),
    ],
)
def test_wishes_that_make_no_sense_are_refused_by_name(client, field, value):
    assert field in client.refused("session.update", session={"audio": {"input": {field: value}}})["param"]


def test_a_long_silence_is_told_once(client):
    client.update(audio={"input": {**LISTENS, "turn_detection": {"idle_timeout_ms": 2_000}}})
    append(client, SENTENCE)
    client.until(COMPLETED)
    append(client, [WireFormat.PCM.base64(np.zeros(24_000, np.float32))] * 6)
    client.send("input_audio_buffer.clear")
    events = client.until("input_audio_buffer.cleared")
    assert names(events) == ["input_audio_buffer.timeout_triggered", TURN[2], *ITEM, "input_audio_buffer.cleared"]
    assert events[0]["audio_end_ms"] - events[0]["audio_start_ms"] >= 2_000
    assert events[2]["item"]["content"] == [{"type": "input_audio", "transcript": ""}]


def test_limits_of_a_session_and_of_what_waits_are_told(recogniser):
    held = ScriptedRecogniser(held=Event())
    service = listening_with(tone_service(listen_session_seconds=12.0), any=held)
    second = WireFormat.PCM.base64(np.concatenate([sentence_pcm()[:12_000]] * 2))
    with realtime_app(service) as app, connected(app) as client:
        client.update(audio={"input": MANUAL})
        part = {"type": "input_audio", "audio": second}
        for _ in range(10):
            client.send("conversation.item.create", item={"type": "message", "role": "user", "content": [part]})
        failed = client.until("conversation.item.input_audio_transcription.failed")[-1]
        assert failed["error"]["code"] == "overloaded"
        held.held.set()
        append(client, [second] * 9)
        assert client.until("error")[-1]["error"]["code"] == "session_audio_limit"
        client.send("conversation.item.create", item={"type": "message", "role": "user", "content": [part]})
        assert client.until("error")[-1]["error"]["code"] == "session_audio_limit"
    assert service.bodies.used == 0


def test_a_recorded_turn_is_no_longer_than_the_buffer(client):
    part = {"type": "input_audio", "audio": WireFormat.PCM.base64(np.zeros(31 * 24_000, np.float32))}
    item = {"type": "message", "role": "user", "content": [part]}
    assert client.refused("conversation.item.create", item=item)["code"] == "input_audio_buffer_full"


def sentence_pcm():
    pcm, rate = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    return resampled(pcm, rate, 24_000)[12_000:]


def test_a_transcript_does_not_depend_on_the_events_that_its_sound_comes_in(client):
    client.update(audio={"input": LISTENS})
    whole = b"".join(map(base64.b64decode, SENTENCE))
    lengths, texts = [], set()
    for step in (480, 9_600, len(whole)):
        append(client, [base64.b64encode(whole[at : at + step]).decode() for at in range(0, len(whole), step)])
        started, stopped, *_, completed = client.until(COMPLETED)
        lengths.append(stopped["audio_end_ms"] - started["audio_start_ms"])
        texts.add(completed["transcript"])
    assert max(lengths) - min(lengths) <= 64, "the three lie differently on the grid of windows"
    assert texts == {"Hello there."}


def test_a_key_needs_a_scope_for_each_of_speaking_and_listening(tmp_path):
    service = listening_with(tone_service(data_dir=tmp_path, api_keys=["x" * 20]), any=ScriptedRecogniser())
    store = KeyStore(tmp_path / "keys.sqlite")
    keys = {scope: store.create(scope, [scope], Limits()).secret for scope in ("speak", "listen")}
    service.accounts.keyring.read()
    headers = {scope: {"headers": {"Authorization": f"Bearer {key}"}} for scope, key in keys.items()}
    with realtime_app(service) as app:
        with connected(app, **headers["speak"]) as client:
            assert client.refused("input_audio_buffer.append", audio="AAAA")["code"] == "missing_scope"
            assert client.refused("session.update", session={"type": "transcription"})["code"] == "missing_scope"
        with connected(app, "?intent=transcription", **headers["listen"]) as client:
            append(client, SENTENCE)
            assert client.until(COMPLETED)[-1]["transcript"] == "Hello there."
            assert client.refused("session.update", session={"type": "realtime"})["code"] == "missing_scope"
        for scope, query in (("listen", ""), ("speak", "?intent=transcription")):
            with (
                pytest.raises(WebSocketDenialResponse) as denied,
                app.websocket_connect(SOCKET + query, **headers[scope]),
            ):
                pass
            assert denied.value.status_code == 403
