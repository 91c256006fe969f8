"""OpenAI's own SDK over its Realtime API, against a real server."""

import base64

import pytest

from helpers.client_environment import run_client
from helpers.fakes import ToneEngine, tone, tone_service
from helpers.listening import ScriptedRecogniser, bare_speech, listening_with
from helpers.serving import served, wait_for
from polyvox.audio.pcm import to_pcm16

KEY = "first-key"
TEXT = "The tide is out."
HIGH = to_pcm16(tone(440.0, 0, 7_200, 24_000))


@pytest.fixture(scope="module")
def engine():
    return ToneEngine(chunks=3, chunk_seconds=0.1, delay=0.002)


@pytest.fixture(scope="module")
def service(engine):
    return listening_with(tone_service(engine, api_keys=[KEY]), any=ScriptedRecogniser())


@pytest.fixture(scope="module")
def result(service, tmp_path_factory):
    recording = tmp_path_factory.mktemp("recording") / "speech.pcm"
    recording.write_bytes(bare_speech())
    with served(service) as url:
        yield run_client("sdks", "openai_realtime.py", f"{url}/v1", KEY, TEXT, recording)


def sound(response):
    return base64.b64decode(response["sound"])


def test_the_sdk_reads_every_event(result):
    asynchronous = result["asynchronous"]
    assert asynchronous["created"] is True
    assert asynchronous["updated"] == "high"
    assert asynchronous["kinds"] == [
        "response.created",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.done",
    ]


def test_it_speaks_outside_of_the_conversation_and_in_it(result):
    for response in (result["asynchronous"]["first"], result["asynchronous"]["second"], result["synchronous"]):
        assert sound(response) == HIGH
        assert response["words"] == TEXT
        assert response["status"] == "completed"
        assert response["input_tokens"] == len(TEXT)


def test_an_interruption_stops_the_sound_and_the_next_text_is_spoken(result, engine, service):
    interrupted = result["asynchronous"]["interrupted"]
    assert interrupted["status"] == "cancelled"
    assert len(sound(interrupted)) < 20 * len(HIGH)
    assert interrupted["after"] == TEXT
    assert len(engine.heard) < 100
    wait_for(lambda: engine.speaking == 0)
    assert b"polyvox_active_sessions 0.0" in service.metrics.render()


def test_errors_are_events_and_the_socket_stays_open(result):
    assert result["asynchronous"]["errors"] == {
        "listening": ["invalid_request_error", "invalid_value", "mine"],
        "failed": ["failed", "voice_not_found"],
        "idle": "response_cancel_not_active",
    }
    assert result["asynchronous"]["refused"] == [401, "invalid_api_key"]


def test_it_is_heard_beside_speech_and_alone(result):
    listened = result["asynchronous"]["listened"]
    turn = [f"input_audio_buffer.{name}" for name in ("speech_started", "speech_stopped", "committed")]
    transcript = [f"conversation.item.input_audio_transcription.{name}" for name in ("delta", "completed")]
    assert listened["types"] == ["transcription", "transcription"]
    assert listened["alone"]["kinds"] == [*turn, "conversation.item.added", "conversation.item.done", *transcript]
    both = listened["both"]["kinds"]
    assert both.index("input_audio_buffer.speech_started") < both.index("response.done") < both.index(transcript[1])
    for way in ("alone", "both"):
        assert (listened[way]["transcript"], listened[way]["unit"]) == ("Hello there.", "duration")


def test_it_reconnects_by_itself_when_the_network_fails(result):
    assert result["asynchronous"]["reconnected"] == {"sessions": 2, "codes": [1006], "status": "completed"}


def test_a_page_s_own_key_speaks_as_it_was_made_for(result):
    assert result["synchronous"]["voice"] == "high"
