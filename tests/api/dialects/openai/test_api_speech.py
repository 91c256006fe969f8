"""`POST /v1/audio/speech`: every field, every format, every header."""

import io
import wave

import numpy as np
import pytest

from helpers.fakes import PlainToneEngine, ToneEngine, tone, tone_service
from helpers.serving import called, decoded_seconds, error_of
from helpers.tables import each_row
from polyvox.audio.encode import AudioFormat
from polyvox.audio.pcm import from_pcm16, to_pcm16
from polyvox.types import CodeBlocks, NormalizationOptions

pytestmark = pytest.mark.anyio

SPEECH = "/v1/audio/speech"
MEDIA_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
    "webm": "audio/webm",
}
CODEC_DELAY_SECONDS = 0.1
"""Compressed formats start and end at whole frames, with the codec's own delay in front."""


async def test_the_least_request_is_answered_with_mp3_in_the_default_voice():
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        response = await client.post(SPEECH, json={"input": "Hello."})
    assert response.status_code == 200
    assert response.headers["content-type"] == "audio/mpeg"
    assert decoded_seconds(response.content) == pytest.approx(0.3, abs=CODEC_DELAY_SECONDS)
    assert engine.heard[0].voice == "low"


@pytest.mark.long
@each_row("stream", [True, False])
@each_row("audio_format", list(AudioFormat))
async def test_every_format_comes_back_with_its_duration(audio_format, stream):
    async with called(tone_service(ToneEngine(chunks=4, chunk_seconds=0.25))) as client:
        response = await client.post(
            SPEECH, json={"input": "One two.", "response_format": audio_format, "stream": stream}
        )
    assert response.status_code == 200
    assert response.headers["content-type"] == MEDIA_TYPES[audio_format]
    if audio_format is AudioFormat.PCM:
        assert response.content == to_pcm16(tone(220.0, 0, 24_000, 24_000))
    else:
        exact = audio_format in {AudioFormat.WAV, AudioFormat.FLAC}
        assert decoded_seconds(response.content) == pytest.approx(1.0, abs=1e-6 if exact else CODEC_DELAY_SECONDS)


async def test_headers_name_the_session_and_the_samples():
    async with called(tone_service(ToneEngine(sample_rate=16_000))) as client:
        first = await client.post(SPEECH, json={"input": "Hello."})
        second = await client.post(SPEECH, json={"input": "Hello."})
    assert first.headers["x-audio-sample-rate"] == "16000"
    assert first.headers["x-audio-channels"] == "1"
    assert first.headers["x-accel-buffering"] == "no"
    assert "content-length" not in first.headers
    assert first.headers["x-session-id"] != second.headers["x-session-id"]


async def test_a_whole_file_has_a_length_and_a_true_header():
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, json={"input": "Hello.", "response_format": "wav", "stream": False})
    assert int(response.headers["content-length"]) == len(response.content)
    with wave.open(io.BytesIO(response.content)) as file:
        frames = file.getnframes()
    header = len(response.content) - 2 * frames
    assert response.content[header - 8 : header] == b"data" + (2 * frames).to_bytes(4, "little")


async def test_every_field_reaches_the_engine():
    engine = ToneEngine(instructions=True)
    async with called(tone_service(engine)) as client:
        response = await client.post(
            SPEECH,
            json={
                "model": "tts-1",
                "input": "Hello.",
                "voice": {"id": "high"},
                "instructions": "Whisper.",
                "response_format": "pcm",
                "speed": 2,
                "lang_code": "b",
                "seed": 7,
                "normalization_options": {"unit_normalization": False, "normalize": None},
            },
        )
    assert response.status_code == 200
    (utterance,) = engine.heard
    assert (utterance.text, utterance.voice, utterance.language) == ("Hello.", "high", "en-gb")
    assert (utterance.speed, utterance.seed, utterance.instructions) == (2.0, 7, "Whisper.")
    assert utterance.normalization == NormalizationOptions(unit_normalization=False, code_blocks=CodeBlocks.ANNOUNCE)
    assert len(response.content) == 2 * 3 * 1_200


@each_row(
    ("given", "heard"),
    [({}, CodeBlocks.SKIP), ({"code_blocks": "read"}, CodeBlocks.READ), ({"code_blocks": None}, "skip")],
)
async def test_blocks_of_code_are_spoken_as_the_request_says_or_else_the_server(given, heard):
    engine = ToneEngine()
    async with called(tone_service(engine, code_blocks="skip")) as client:
        response = await client.post(SPEECH, json={"input": "Hello.", "normalization_options": given})
        refused = await client.post(SPEECH, json={"input": "Hello.", "normalization_options": {"code_blocks": "shout"}})
    assert response.status_code == 200
    assert engine.heard[0].normalization.code_blocks == heard
    assert refused.status_code == 400


async def test_volume_sample_rate_and_loudness_shape_the_samples():
    wish = {"input": "Hello.", "response_format": "pcm", "stream": False}
    async with called(tone_service(ToneEngine(chunks=2, chunk_seconds=1.0))) as client:
        plain = await client.post(SPEECH, json=wish)
        softer = await client.post(SPEECH, json=wish | {"volume_multiplier": 0.5})
        slower = await client.post(SPEECH, json=wish | {"sample_rate": 8_000})
        quiet = await client.post(SPEECH, json=wish | {"loudness": -40})
    level = np.abs(from_pcm16(plain.content)).max()
    assert np.abs(from_pcm16(softer.content)).max() == pytest.approx(level / 2, abs=1e-3)
    assert slower.headers["x-audio-sample-rate"] == "8000"
    assert len(slower.content) == len(plain.content) / 3
    assert np.abs(from_pcm16(quiet.content)[-12_000:]).max() < level / 4


async def test_an_engine_without_its_own_pace_is_stretched():
    wish = {"input": "Hello.", "response_format": "pcm", "speed": 2.0}
    async with called(tone_service(PlainToneEngine(native_speed=False, chunk_seconds=0.5))) as client:
        response = await client.post(SPEECH, json=wish)
    assert len(response.content) / 2 / 24_000 == pytest.approx(0.75, abs=0.05)


async def test_instructions_that_cannot_be_followed_are_ignored_with_a_warning():
    async with called(tone_service()) as client:
        plain = await client.post(SPEECH, json={"input": "Hello."})
        asked = await client.post(SPEECH, json={"input": "Hello.", "instructions": "Whisper."})
    assert "x-polyvox-warning" not in plain.headers
    assert asked.status_code == 200
    assert "instructions" in asked.headers["x-polyvox-warning"]


async def test_markup_that_nobody_obeys_is_dropped_with_a_warning_at_every_door():
    text = "Hello <b>there</b> [voice:high] <|en|>friend."
    async with called(tone_service(ToneEngine(), max_input_chars=200)) as client:
        answers = [
            await client.post(SPEECH, json={"input": text}),
            await client.post(SPEECH, json={"input": text, "stream": False}),
            await client.post(SPEECH, json={"input": text, "stream_format": "sse"}),
            await client.post("/dev/captioned_speech", json={"input": text}),
            await client.post("/tts", json={"text": text}),
            await client.post("/v1/audio/dialogue", json={"turns": [{"voice": "low", "text": text}]}),
        ]
    for answer in answers:
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-polyvox-warning"] == "dropped-markup: <b>, </b>, [voice:high], <|en|>"


async def test_a_warning_is_no_way_into_the_headers():
    async with called(tone_service()) as client:
        answer = await client.post(SPEECH, json={"input": "Hello <b\r\nX-Evil='1'>there</b> <q-\u00e9\u202e>."})
    assert answer.status_code == 200
    assert "x-evil" not in answer.headers
    assert answer.headers["x-polyvox-warning"].isascii()


async def test_tags_in_the_text_change_voice_and_pace_where_they_are_allowed():
    engine = ToneEngine()
    wish = {
        "input": "One. [voice:anna] Two. [rate:2]Three. [voice:bert] Four.",
        "voice": "BERT",
        "allow_voice_tags": True,
        "voice_aliases": {"anna": "high", "bert": {"voice": "low", "rate": 0.5}},
    }
    async with called(tone_service(engine)) as client:
        answer = await client.post(SPEECH, json=wish)
        captions = await client.post("/dev/captioned_speech", json=wish | {"stream": False})
        refused = await client.post(SPEECH, json=wish | {"voice_aliases": {f"n{index}": "low" for index in range(65)}})
        unknown = await client.post(SPEECH, json=wish | {"voice_aliases": {"bert": "nobody"}})
    assert answer.status_code == 200, answer.text
    assert "x-polyvox-warning" not in answer.headers
    spoken = [(one.text.strip(), one.voice, one.speed) for one in engine.heard[:4]]
    assert spoken == [("One.", "low", 0.5), ("Two.", "high", 1.0), ("Three.", "high", 2.0), ("Four.", "low", 0.5)]
    assert [(one["word"], one["voice"]) for one in captions.json()["timestamps"]] == [
        ("One.", "low"),
        ("Two.", "high"),
        ("Three.", "high"),
        ("Four.", "low"),
    ]
    assert refused.status_code == 400
    assert unknown.status_code == 400
    assert error_of(unknown)["code"] == "voice_not_found"


async def test_nulls_mean_not_given_and_unknown_fields_are_ignored():
    everything_null = dict.fromkeys(
        ["model", "voice", "instructions", "response_format", "speed", "stream_format", "stream", "lang_code", "seed"]
    )
    strangers = {"download_format": "mp3", "return_download_link": False, "allow_voice_tags": True, "user": "me"}
    async with called(tone_service()) as client:
        response = await client.post(SPEECH, json={"input": "Hello."} | everything_null | strangers)
    assert response.status_code == 200


async def test_the_same_request_gives_the_same_bytes():
    async with called(tone_service()) as client:
        first, second = [await client.post(SPEECH, json={"input": "Hello."}) for _ in range(2)]
    assert first.content == second.content


@each_row("text", [".", " . ", "...", "…", "?!", "。", "—", "(*)"])
async def test_punctuation_alone_is_a_short_silence(text):
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        response = await client.post(SPEECH, json={"input": text, "response_format": "pcm"})
        mp3 = await client.post(SPEECH, json={"input": text, "stream": False, "speed": 0.5})
    assert (response.status_code, mp3.status_code) == (200, 200)
    assert len(response.content) == 2 * 0.2 * 24_000
    assert not any(response.content)
    assert decoded_seconds(mp3.content) > 0.1
    assert engine.heard == []


@each_row(
    "body",
    [
        {"input": ".", "voice": "nobody"},
        {"input": ".", "model": "tuba"},
        {"input": ".", "speed": 9},
        {"input": ""},
        {"input": "  "},
        {"input": "+"},
        {"input": "." * 17},
    ],
)
async def test_a_request_that_is_wrong_is_refused_even_without_words(body):
    async with called(tone_service()) as client:
        assert (await client.post(SPEECH, json=body)).status_code in (400, 404)
