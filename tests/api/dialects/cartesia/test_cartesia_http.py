"""Cartesia's HTTP paths: audio as bytes and as events, and the errors of both."""

import base64
import io
import json

import av
import numpy as np
import pytest

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called, decoded_seconds
from helpers.tables import each_row
from helpers.untimed import UntimedToneEngine

pytestmark = pytest.mark.anyio

KATIE = "f786b574-daa5-4673-aa0c-cbe3e8534c02"
TEXT = "Well, (hello) there: one-two three!"
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}


def asked(**fields):
    """A body as the clients send it."""
    return {
        "model_id": "sonic-3",
        "transcript": TEXT,
        "voice": {"mode": "id", "id": "low"},
        "output_format": RAW,
    } | fields


def service_of(engine=None, **settings):
    return tone_service(engine, cartesia_voices=[f"{KATIE}=high"], **settings)


def events_of(response):
    """The events of a body, whose types must be those of their data."""
    blocks = [block.split("\n") for block in response.text.strip().split("\n\n")]
    events = [json.loads(data.removeprefix("data: ")) for _, data in blocks]
    assert [event["type"] for event in events] == [name.removeprefix("event: ") for name, _ in blocks]
    return events


def dominant(data, dtype="<i2", rate=24_000):
    """The loudest frequency of some samples."""
    samples = np.frombuffer(data, dtype).astype(np.float64)
    return np.argmax(np.abs(np.fft.rfft(samples))) * rate / len(samples)


@each_row("prefix", ["", "/cartesia"])
async def test_bytes_are_the_samples_that_were_asked_for(prefix):
    async with called(service_of()) as client:
        response = await client.post(f"{prefix}/tts/bytes", json=asked())
    assert response.status_code == 200
    assert response.headers["content-type"] == "audio/pcm"
    assert response.headers["x-audio-bit-depth"] == "16"
    assert len(response.content) == 2 * 7_200
    assert dominant(response.content) == pytest.approx(220, abs=5)


@each_row(("encoding", "sample_bytes"), [("pcm_f32le", 4), ("pcm_mulaw", 1), ("pcm_alaw", 1)])
async def test_every_encoding_comes_raw_and_in_wav(encoding, sample_bytes):
    async with called(service_of()) as client:
        output = {"container": "raw", "encoding": encoding, "sample_rate": 8_000}
        raw = await client.post("/tts/bytes", json=asked(output_format=output))
        wav = await client.post("/tts/bytes", json=asked(output_format=output | {"container": "wav"}))
    assert len(raw.content) == sample_bytes * 2_400
    assert wav.headers["x-audio-bit-depth"] == str(8 * sample_bytes)
    assert wav.content.endswith(raw.content)
    with av.open(io.BytesIO(wav.content)) as container:
        assert container.streams.audio[0].codec_context.name == encoding
    assert decoded_seconds(wav.content) == pytest.approx(0.3, abs=0.01)


async def test_mp3_has_its_bit_rate():
    async with called(service_of(ToneEngine(chunk_seconds=1.0))) as client:
        sizes = []
        for bit_rate in (32_000, 128_000):
            output = {"container": "mp3", "sample_rate": 44_100, "bit_rate": bit_rate}
            response = await client.post("/tts/bytes", json=asked(output_format=output))
            assert response.headers["content-type"] == "audio/mpeg"
            assert decoded_seconds(response.content) == pytest.approx(3.0, abs=0.1)
            sizes.append(len(response.content))
    assert sizes[1] / sizes[0] == pytest.approx(4.0, rel=0.05)


async def test_a_stereo_model_is_heard_in_mono():
    async with called(service_of(ToneEngine(channels=2))) as client:
        response = await client.post("/tts/bytes", json=asked())
    assert len(response.content) == 2 * 7_200


async def test_a_voice_of_cartesias_is_the_one_that_the_settings_name():
    async with called(service_of()) as client:
        for voice in (KATIE, KATIE.upper(), {"id": KATIE}, {"mode": "id", "id": KATIE}, "high"):
            response = await client.post("/tts/bytes", json=asked(voice=voice))
            assert dominant(response.content) == pytest.approx(440, abs=5)
        for voice in ({"mode": "id", "id": None}, {"mode": "id"}):
            response = await client.post("/tts/bytes", json=asked(voice=voice))
            assert dominant(response.content) == pytest.approx(220, abs=5)


async def test_the_pace_is_understood_however_it_is_sent():
    sent = [
        ({"generation_config": {"speed": 1.5}}, 1.5),
        ({"speed": "slow"}, 0.8),
        ({"speed": "fast"}, 1.2),
        ({"speed": 1.1}, 1.1),
        ({"voice": {"id": "low", "__experimental_controls": {"speed": "fastest"}}}, 1.5),
        ({"voice": {"id": "low", "__experimental_controls": {"speed": -1.0, "emotion": ["anger:high"]}}}, 0.6),
        ({"voice": {"id": "low", "__experimental_controls": {"speed": 0.5}}}, 1.25),
    ]
    engine = ToneEngine()
    async with called(service_of(engine)) as client:
        for fields, _ in sent:
            assert (await client.post("/tts/bytes", json=asked(**fields))).status_code == 200
    assert [utterance.speed for utterance in engine.heard] == pytest.approx([speed for _, speed in sent])


async def test_the_volume_is_obeyed():
    async with called(service_of()) as client:
        soft = await client.post("/tts/bytes", json=asked(generation_config={"volume": 0.5}))
        plain = await client.post("/tts/bytes", json=asked())
    soft, plain = (np.abs(np.frombuffer(each.content, "<i2").astype(int)).max() for each in (soft, plain))
    assert soft / plain == pytest.approx(0.5, rel=0.01)


async def test_an_emotion_is_an_instruction_and_a_warning_where_the_model_takes_none():
    engine = ToneEngine(instructions=True)
    async with called(service_of(engine)) as client:
        response = await client.post("/tts/bytes", json=asked(generation_config={"emotion": "excited"}))
    assert engine.heard[0].instructions == "Speak in a excited tone."
    assert "x-polyvox-warning" not in response.headers
    async with called(service_of()) as client:
        response = await client.post("/tts/bytes", json=asked(generation_config={"emotion": "excited"}))
    assert "cannot follow instructions" in response.headers["x-polyvox-warning"]


async def test_a_language_without_a_region_leaves_the_voice_its_own():
    sent = [({"language": "en"}, None), ({"language": "en-GB"}, "en-gb"), ({"locale": "fr-CA"}, "fr"), ({}, None)]
    engine = ToneEngine()
    async with called(service_of(engine)) as client:
        for fields, _ in sent:
            assert (await client.post("/tts/bytes", json=asked(**fields))).status_code == 200
    assert [utterance.language for utterance in engine.heard] == [language for _, language in sent]


async def test_normalization_can_be_turned_off():
    engine = ToneEngine()
    async with called(service_of(engine)) as client:
        for choice in ("off", "auto"):
            await client.post("/tts/bytes", json=asked(normalization=choice))
    assert [utterance.normalization.normalize for utterance in engine.heard] == [False, True]


async def test_cartesias_models_are_the_default_one():
    async with called(service_of()) as client:
        for model in ("sonic", "sonic-2-2025-03-07", "sonic-latest", "tone", None):
            assert (await client.post("/tts/bytes", json=asked(model_id=model))).status_code == 200


@each_row("prefix", ["", "/cartesia"])
async def test_events_carry_audio_words_and_the_end(prefix):
    async with called(service_of()) as client:
        body = asked(add_timestamps=True, context_id="one")
        response = await client.post(f"{prefix}/tts/sse", json=body)
        plain = await client.post("/tts/bytes", json=asked())
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response)
    assert {event["context_id"] for event in events} == {"one"}
    assert [event["done"] for event in events] == [False] * (len(events) - 1) + [True]
    assert (events[-1]["type"], events[-1]["status_code"]) == ("done", 200)
    audio = b"".join(base64.b64decode(event["data"]) for event in events if event["type"] == "chunk")
    assert audio == plain.content
    stamps = [event["word_timestamps"] for event in events if event["type"] == "timestamps"]
    assert [word for stamp in stamps for word in stamp["words"]] == ["Well,", "(hello)", "there:", "one-two", "three!"]
    starts, ends = ([time for stamp in stamps for time in stamp[side]] for side in ("start", "end"))
    assert starts == sorted(starts)
    assert ends[-1] == pytest.approx(0.3, abs=1e-3)


@pytest.mark.long
async def test_words_are_timed_with_a_model_that_does_not_time_them():
    async with called(service_of(UntimedToneEngine())) as client:
        events = events_of(await client.post("/tts/sse", json=asked(add_timestamps=True)))
        without = events_of(await client.post("/tts/sse", json=asked()))
    stamps = [event["word_timestamps"] for event in events if event["type"] == "timestamps"]
    words = [word for stamp in stamps for word in stamp["words"]]
    assert "".join(words) == TEXT.replace(" ", "")
    assert stamps[-1]["end"][-1] <= 0.3
    assert {event["type"] for event in without} == {"chunk", "done"}


async def test_without_being_asked_for_there_are_no_words_and_no_context():
    async with called(service_of()) as client:
        events = events_of(await client.post("/tts/sse", json=asked()))
    assert {event["type"] for event in events} == {"chunk", "done"}
    assert not any("context_id" in event for event in events)


async def test_a_long_chunk_comes_in_pieces_of_whole_samples():
    async with called(service_of(ToneEngine(chunks=1, chunk_seconds=2.0))) as client:
        output = {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44_100}
        events = events_of(await client.post("/tts/sse", json=asked(output_format=output)))
    pieces = [base64.b64decode(event["data"]) for event in events if event["type"] == "chunk"]
    assert sum(map(len, pieces)) == 4 * 2 * 44_100
    assert all(len(piece) % 4 == 0 and len(piece) <= 24_576 for piece in pieces)
    assert sum(event["step_time"] > 0 for event in events if event["type"] == "chunk") <= 1


async def test_a_stream_that_fails_ends_with_an_error():
    async with called(service_of(ToneEngine(fail_at=1))) as client:
        events = events_of(await client.post("/tts/sse", json=asked(context_id="one")))
    error = events[-1]
    assert [event["type"] for event in events] == ["chunk", "error"]
    assert (error["status_code"], error["done"], error["context_id"]) == (500, True, "one")
    assert all(error[name] for name in ("title", "message", "request_id", "error_code"))


async def test_warnings_come_with_the_end():
    async with called(service_of()) as client:
        events = events_of(await client.post("/tts/sse", json=asked(transcript='Hello <emotion value="sad"/> you.')))
    assert events[-1]["warnings"] == ['dropped-markup: <emotion value="sad"/>']


BAD = [
    ({"voice": "no-such-voice"}, 404, "voice_not_found", "no-such-voice"),
    ({"voice": {"mode": "embedding", "embedding": [0.1] * 192}}, 400, "invalid_value", "embedding"),
    ({"voice": 7}, 400, "invalid_value", "'voice'"),
    ({"voice": None}, 400, "invalid_value", "'voice' is required"),
    ({"model_id": "other"}, 404, "model_not_found", "other"),
    ({"transcript": ""}, 400, "invalid_text", "empty"),
    ({"transcript": "bell \a"}, 400, "invalid_value", "U+0007"),
    ({"output_format": None}, 400, "invalid_value", "'output_format' is required"),
    ({"output_format": {"container": "raw", "sample_rate": 8_000}}, 400, "invalid_value", "'encoding'"),
    ({"output_format": RAW | {"container": "ogg"}}, 400, "invalid_value", "output_format.container"),
    ({"output_format": RAW | {"encoding": "pcm_s24le"}}, 400, "invalid_value", "output_format.encoding"),
    ({"output_format": RAW | {"sample_rate": 7_999}}, 400, "invalid_value", "output_format.sample_rate"),
    ({"output_format": RAW | {"sample_rate": 48_001}}, 400, "invalid_value", "output_format.sample_rate"),
    ({"generation_config": {"speed": 9}}, 400, "invalid_value", "generation_config.speed"),
    ({"generation_config": {"volume": 0}}, 400, "invalid_value", "generation_config.volume"),
    ({"language": "not a language"}, 400, "invalid_value", "lang"),
]


async def test_bad_input_is_refused_in_cartesias_words():
    async with called(service_of()) as client:
        for path in ("/tts/bytes", "/tts/sse", "/cartesia/tts/bytes"):
            for fields, status, code, part in BAD:
                response = await client.post(path, json=asked(**fields))
                error = response.json()
                assert set(error) == {"title", "message", "error_code", "status_code"}, fields
                assert (response.status_code, error["status_code"], error["error_code"]) == (status, status, code), (
                    fields
                )
                assert part in error["message"]


async def test_tokens_are_refused_with_the_way_to_do_without():
    async with called(service_of()) as client:
        for prefix in ("", "/cartesia"):
            response = await client.post(f"{prefix}/access-token", json={})
            assert response.status_code == 403
            assert "key" in response.json()["message"]


async def test_the_status_is_for_those_who_speak_the_dialect():
    async with called(service_of()) as client:
        versioned = await client.get("/", headers={"Cartesia-Version": "2026-08-14"})
        prefixed = await client.get("/cartesia/")
        plain = await client.get("/")
    assert versioned.json() == prefixed.json()
    assert versioned.json()["ok"] is True
    assert plain.json()["name"] == "polyvox"


async def test_unknown_paths_below_the_prefix_are_refused_in_its_words():
    async with called(service_of()) as client:
        response = await client.post("/cartesia/stt", json={})
    assert response.status_code == 404
    assert response.json()["error_code"] == "not_found"


async def test_a_key_may_come_in_cartesias_header_or_as_a_bearer():
    async with called(service_of(api_keys=["secret"])) as client:
        for prefix in ("", "/cartesia"):
            for headers in ({"X-API-Key": "secret"}, {"Authorization": "Bearer secret"}):
                assert (await client.post(f"{prefix}/tts/bytes", json=asked(), headers=headers)).status_code == 200
                assert (await client.get(f"{prefix}/voices", headers=headers)).status_code == 200
            for headers in ({}, {"X-API-Key": "wrong"}):
                refused = await client.post(f"{prefix}/tts/bytes", json=asked(), headers=headers)
                assert refused.status_code == 401
                assert refused.json()["error_code"] == "invalid_api_key"
            assert (await client.get(f"{prefix}/voices")).status_code == 401
        assert (await client.post("/tts/bytes?api_key=secret", json=asked())).status_code == 401
        assert (await client.get("/cartesia/")).status_code == 200
