"""Responses of OpenAI's Realtime API: their events, formats, interruption and limits."""

import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect

from helpers.fakes import ToneEngine, tone_service
from helpers.openai_realtime_client import BETA, audio, connected, message, names, realtime_app, transcript
from helpers.realtime_engine import HeldEngine
from helpers.serving import wait_for
from helpers.tables import each_row
from polyvox.api.dialects.openai_realtime.outbox import Outbox
from polyvox.api.dialects.openai_realtime.released_dialect import ReleasedDialect
from polyvox.api.dialects.openai_realtime.response import Response, ResponsePlan
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions
from polyvox.audio.companding import alaw, mulaw

TEXT = "The tide is out, and the boats lie on the sand."
IN_ORDER = [
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "response.output_item.done",
    "conversation.item.done",
    "response.done",
]
DELTAS = {"response.output_audio.delta", "response.output_audio_transcript.delta"}


@pytest.fixture(scope="module")
def app():
    service = tone_service(ToneEngine(chunks=3, chunk_seconds=0.8), max_input_chars=200)
    with realtime_app(service) as client:
        yield client


@pytest.fixture
def client(app):
    with connected(app) as client:
        yield client


def out_of_band(text, **fields):
    return {"conversation": "none", "input": [message(text)], **fields}


def frequency(data, rate=24_000):
    samples = np.frombuffer(data, "<i2").astype(np.float64)
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * rate / len(samples))


def test_a_message_is_spoken_with_the_events_in_their_order(client):
    client.say(TEXT)
    events = client.speak()
    assert [kind for kind in names(events) if kind not in DELTAS] == IN_ORDER
    kinds = [event["type"] for event in events]
    assert kinds.index("response.content_part.added") < min(kinds.index(kind) for kind in DELTAS)
    last_delta = max(index for index, kind in enumerate(kinds) if kind in DELTAS)
    assert last_delta < kinds.index("response.output_audio.done")
    done = events[-1]["response"]
    assert done["status"] == "completed"
    assert done["object"] == "realtime.response"
    assert done["usage"]["input_tokens"] == len(TEXT)
    assert done["usage"]["output_token_details"]["audio_tokens"] == 48
    item = done["output"][0]
    assert item["content"] == [{"type": "output_audio", "transcript": TEXT}]
    assert {event["response_id"] for event in events if "response_id" in event} == {done["id"]}
    assert {event["item_id"] for event in events if "item_id" in event} == {item["id"]}
    assert all(event["output_index"] == 0 for event in events if "output_index" in event)
    assert all(event["content_index"] == 0 for event in events if "content_index" in event)


def test_the_sound_is_what_the_voice_says_and_the_words_come_along_with_it(client):
    client.say(TEXT)
    events = client.speak()
    assert len(audio(events)) == 2 * 24_000 * 24 // 10
    assert frequency(audio(events)) == pytest.approx(220.0, abs=1.0)
    assert transcript(events) == TEXT
    first_sound = next(index for index, event in enumerate(events) if event["type"] == "response.output_audio.delta")
    assert transcript(events[:first_sound]) in TEXT
    assert 0 < len(transcript(events[:first_sound])) < len(TEXT) / 2


def test_a_response_outside_of_the_conversation_speaks_its_input_and_leaves_the_conversation_alone(client):
    events = client.speak(**out_of_band(TEXT, metadata={"topic": "boats"}))
    assert not [event for event in events if event["type"].startswith("conversation.")]
    response = events[-1]["response"]
    assert response["conversation_id"] is None
    assert response["metadata"] == {"topic": "boats"}
    assert transcript(events) == TEXT
    item = response["output"][0]["id"]
    assert client.refused("conversation.item.retrieve", item_id=item)["code"] == "item_retrieve_invalid_item_id"


def test_several_messages_are_one_text_and_are_spoken_once(client):
    client.say("The tide is out.")
    client.say("The boats lie on the sand.")
    assert transcript(client.speak()) == "The tide is out.\nThe boats lie on the sand."
    client.say("It rains.")
    assert transcript(client.speak()) == "It rains."
    assert transcript(client.speak()) == "It rains."


def test_what_is_spoken_is_the_users_message_and_never_the_systems(client):
    mixed = [message("Speak slowly.", "system"), message("Hello there.", "assistant"), message(TEXT)]
    assert transcript(client.speak(conversation="none", input=mixed)) == TEXT
    assert transcript(client.speak(conversation="none", input=mixed[:2])) == "Hello there."
    assert client.refused("response.create", response={"input": mixed[:1]})["param"] == "response.input"


def test_an_input_may_refer_to_an_item_of_the_conversation(client):
    item = client.say(TEXT)
    events = client.speak(conversation="none", input=[{"type": "item_reference", "id": item["id"]}])
    assert transcript(events) == TEXT
    again = client.speak()[-1]["response"]["output"][0]
    events = client.speak(conversation="none", input=[{"type": "item_reference", "id": again["id"]}])
    assert transcript(events) == TEXT


def test_voice_format_and_instructions_of_a_response_hold_for_it_alone(client):
    client.update(audio={"output": {"voice": "low"}})
    low = client.speak(**out_of_band(TEXT))
    high = client.speak(**out_of_band(TEXT, audio={"output": {"voice": {"id": "high"}}}, instructions="Sing."))
    again = client.speak(**out_of_band(TEXT))
    assert frequency(audio(low)) == pytest.approx(220.0, abs=1.0)
    assert frequency(audio(high)) == pytest.approx(440.0, abs=1.0)
    assert audio(again) == audio(low)
    assert "cannot follow instructions" in high[-1]["response"]["warnings"][0]
    assert high[-1]["response"]["audio"]["output"]["voice"] == "high"


@pytest.mark.parametrize(("kind", "law"), [("audio/pcmu", mulaw), ("audio/pcma", alaw)])
def test_telephone_formats_are_companded_at_8_khz(client, kind, law):
    events = client.speak(**out_of_band(TEXT, audio={"output": {"format": {"type": kind}}}))
    data = audio(events)
    assert len(data) == 8_000 * 24 // 10
    assert events[-1]["response"]["audio"]["output"]["format"] == {"type": kind}
    expected = np.frombuffer(law((np.sin(2 * np.pi * 220 / 8_000 * np.arange(19_200)) / 3).astype(np.float32)), "u1")
    close = np.abs(np.frombuffer(data, "u1")[400:-400].astype(int) - expected[400:-400].astype(int))
    assert np.median(np.minimum(close, 256 - close)) <= 1


@pytest.mark.parametrize("text", ["...", "😀"])
def test_a_text_without_words_is_a_short_silence(client, text):
    events = client.speak(**out_of_band(text))
    assert audio(events) == bytes(2 * 4_800)
    assert events[-1]["response"]["status"] == "completed"
    assert transcript(events) == text


def test_speed_is_the_sessions(client):
    assert client.update(audio={"output": {"speed": 2.0}})["audio"]["output"]["speed"] == 2.0
    assert len(audio(client.speak(**out_of_band(TEXT)))) == 2 * 24_000 * 12 // 10


def test_a_conversation_has_one_response_at_a_time_and_others_run_beside_it():
    engine = HeldEngine(chunks=2, chunk_seconds=0.1)
    with realtime_app(tone_service(engine)) as app, connected(app) as client:
        client.say(TEXT)
        client.send("response.create")
        created = client.until("response.created")[-1]["response"]
        error = client.refused("response.create")
        assert error["code"] == "conversation_already_has_active_response"
        assert created["id"] in error["message"]
        client.send("response.create", response=out_of_band("Beside it."))
        beside = client.until("response.created")[-1]["response"]
        engine.go.set()
        events = []
        while sum(event["type"] == "response.done" for event in events) < 2:
            events.append(client.next())
    said = {
        done["response"]["id"]: done["response"]["output"][0]["content"][0]["transcript"]
        for done in events
        if done["type"] == "response.done"
    }
    assert said == {created["id"]: TEXT, beside["id"]: "Beside it."}


@each_row("by_id", [True, False])
def test_cancel_stops_the_sound_and_frees_the_slot(by_id):
    engine = HeldEngine(free=2, chunks=50, chunk_seconds=0.1)
    service = tone_service(engine)
    with realtime_app(service) as app, connected(app) as client:
        client.say(TEXT)
        client.send("response.create")
        events = client.until("response.output_audio.delta")
        response_id = events[0]["response"]["id"]
        client.send("response.cancel", **({"response_id": response_id} if by_id else {}))
        events += client.until("response.done")
        assert engine.speaking == 0
        assert b"polyvox_active_sessions 0.0" in service.metrics.render()
        assert len(audio(events)) <= 2 * 2 * 2_400
        done = events[-1]["response"]
        assert done["status"] == "cancelled"
        assert done["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
        assert done["output"][0]["status"] == "incomplete"
        assert done["output"][0]["content"][0]["transcript"] == transcript(events)
        assert len(transcript(events)) < len(TEXT)
        assert [kind for kind in names(events) if kind not in DELTAS] == IN_ORDER
        engine.go.set()
        assert client.speak()[-1]["response"]["status"] == "completed"


def test_a_response_that_is_cancelled_before_any_sound_has_no_item():
    engine = HeldEngine()
    with realtime_app(tone_service(engine)) as app, connected(app) as client:
        client.say(TEXT)
        client.send("response.create")
        client.send("response.cancel")
        client.send("response.create")
        assert names(client.until("response.done")) == ["response.created", "response.done"]
        assert client.next()["type"] == "response.created"
        engine.go.set()
        assert client.until("response.done")[-1]["response"]["status"] == "completed"
        wait_for(lambda: engine.closed >= 1)


def test_output_audio_buffer_clear_stops_the_conversations_response():
    engine = HeldEngine(free=1)
    with realtime_app(tone_service(engine)) as app, connected(app) as client:
        client.say(TEXT)
        client.send("response.create")
        response = client.until("response.output_audio.delta")[0]["response"]
        client.send("output_audio_buffer.clear")
        events = client.until("output_audio_buffer.cleared")
        assert events[-1]["response_id"] == response["id"]
        assert events[-2]["response"]["status"] == "cancelled"
        assert client.refused("output_audio_buffer.clear")["code"] == "response_cancel_not_active"


def test_there_is_nothing_to_cancel_when_nothing_is_spoken(client):
    assert client.refused("response.cancel")["code"] == "response_cancel_not_active"
    done = client.speak(**out_of_band(TEXT))[-1]["response"]
    assert client.refused("response.cancel", response_id=done["id"])["code"] == "response_cancel_not_active"


def test_truncation_keeps_the_words_that_were_heard(client):
    client.say(TEXT)
    item = client.speak()[-1]["response"]["output"][0]
    truncated = client.ask("conversation.item.truncate", item_id=item["id"], content_index=0, audio_end_ms=1_000)
    assert truncated["type"] == "conversation.item.truncated"
    assert truncated["audio_end_ms"] == 1_000
    kept = client.ask("conversation.item.retrieve", item_id=item["id"])["item"]["content"][0]["transcript"]
    assert TEXT.startswith(kept)
    assert 0 < len(kept) < len(TEXT)
    error = client.refused("conversation.item.truncate", item_id=item["id"], content_index=0, audio_end_ms=1_001)
    assert error["param"] == "audio_end_ms"


def test_truncation_of_speech_under_way_ends_it():
    engine = HeldEngine(free=2, chunks=9)
    with realtime_app(tone_service(engine)) as app, connected(app) as client:
        client.say(TEXT)
        client.send("response.create")
        item_id = client.until("response.output_audio.delta")[-1]["item_id"]
        client.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=0)
        events = client.until("conversation.item.truncated")
        assert events[-2]["response"]["status"] == "cancelled"
        assert client.ask("conversation.item.retrieve", item_id=item_id)["item"]["content"] == []


def test_a_voice_that_does_not_exist_fails_its_response_and_nothing_else(client):
    events = client.speak(**out_of_band(TEXT, audio={"output": {"voice": "nobody"}}))
    assert names(events) == ["response.created", "response.done"]
    done = events[-1]["response"]
    assert done["status"] == "failed"
    assert done["status_details"]["error"]["code"] == "voice_not_found"
    assert done["status_details"]["error"]["type"] == "invalid_request_error"
    assert transcript(client.speak(**out_of_band(TEXT))) == TEXT


@pytest.mark.long
def test_an_engine_that_breaks_in_the_middle_ends_the_item_and_fails_the_response():
    with realtime_app(tone_service(ToneEngine(fail_at=1))) as app, connected(app) as client:
        client.say(TEXT)
        events = client.speak()
        done = events[-1]["response"]
        assert done["status"] == "failed"
        assert done["status_details"]["error"]["code"] == "engine_failed"
        assert done["output"][0]["status"] == "incomplete"
        assert [kind for kind in names(events) if kind not in DELTAS] == IN_ORDER


def test_a_text_is_limited_alone_and_together_with_others(client):
    error = client.refused("response.create", response=out_of_band("a" * 201))
    assert (error["code"], error["param"]) == ("invalid_text", "response.input")
    assert client.refused("conversation.item.create", item=message("a" * 201))["param"] == "item.content"
    halves = [message("a" * 101), message("a" * 101)]
    many = [{"type": "item_reference", "id": client.say("a" * 199)["id"]}] * 256
    error = client.refused("response.create", response={"input": many})
    assert (error["code"], error["param"]) == ("invalid_text", "response.input")
    assert f"{256 * 199:,}" in error["message"]
    assert client.refused("response.create", response={"input": halves})["code"] == "invalid_text"


def test_a_socket_has_a_limited_number_of_responses():
    engine = HeldEngine()
    with realtime_app(tone_service(engine, max_contexts_per_connection=2)) as app, connected(app) as client:
        for _ in range(2):
            client.send("response.create", response=out_of_band(TEXT))
            client.until("response.created")
        error = client.refused("response.create", response=out_of_band(TEXT))
        assert (error["type"], error["code"]) == ("rate_limit_error", "overloaded")
        engine.go.set()
        client.until("response.done")
        client.until("response.done")
        assert client.speak(**out_of_band(TEXT))[-1]["response"]["status"] == "completed"


def test_a_client_that_leaves_stops_all_of_its_speech():
    engine = HeldEngine(free=4, chunks=100)
    with realtime_app(tone_service(engine)) as app:
        with connected(app) as client:
            for _ in range(2):
                client.send("response.create", response=out_of_band(TEXT))
            client.until("response.output_audio.delta")
        wait_for(lambda: engine.closed == 2 and engine.speaking == 0)


def test_the_beta_version_has_its_own_names(app):
    with connected(app, headers=BETA) as client:
        session = client.update(modalities=["text", "audio"], voice="high", output_audio_format="g711_ulaw", speed=2)
        assert session["voice"] == "high"
        assert session["output_audio_format"] == "g711_ulaw"
        assert session["modalities"] == ["audio", "text"]
        created = client.ask("conversation.item.create", item=message(TEXT))
        assert created["type"] == "conversation.item.created"
        events = client.speak(output_audio_format="pcm16")
        kinds = names(events)
        assert "response.audio.delta" in kinds
        assert not [kind for kind in kinds if "output_audio" in kind or kind == "conversation.item.done"]
        assert transcript(events, "response.audio_transcript.delta") == TEXT
        assert len(audio(events, "response.audio.delta")) == 2 * 24_000 * 12 // 10
        response = events[-1]["response"]
        assert response["output"][0]["content"] == [{"type": "audio", "transcript": TEXT}]
        assert response["output_audio_format"] == "pcm16"


@pytest.mark.anyio
async def test_nobody_waits_for_a_response_whose_client_has_gone():
    class Gone:
        async def send(self, message):
            raise WebSocketDisconnect

    dialect = ReleasedDialect()
    plan = ResponsePlan(TEXT, SpeechOptions(), None, None)
    response = Response(plan, Outbox(Gone(), dialect), dialect)
    with pytest.raises(WebSocketDisconnect):
        await response.deliver(None)
    assert response.ended.is_set()
