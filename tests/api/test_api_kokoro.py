"""Kokoro-FastAPI's extensions: captions, phonemes, mixed voices."""

import base64
import io
import json
import zipfile

import numpy as np
import pytest

from helpers.fakes import PlainToneEngine, ToneEngine, tone, tone_service
from helpers.serving import called, decoded_seconds, error_of
from polyvox.audio.pcm import to_pcm16

pytestmark = pytest.mark.anyio

CAPTIONED = "/dev/captioned_speech"
COMBINE = "/v1/audio/voices/combine"
WISH = {"input": "One two three.", "response_format": "pcm"}
WORDS = [
    {"word": "One", "start_time": 0.0, "end_time": 0.1},
    {"word": "two", "start_time": 0.1, "end_time": 0.2},
    {"word": "three.", "start_time": 0.2, "end_time": 0.3},
]


async def test_captions_stream_as_one_object_a_line():
    async with called(tone_service()) as client:
        response = await client.post(CAPTIONED, json=WISH)
    assert response.headers["content-type"] == "application/json"
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [line["timestamps"] for line in lines] == [[word] for word in WORDS]
    assert {line["audio_format"] for line in lines} == {"audio/pcm"}
    audio = b"".join(base64.b64decode(line["audio"]) for line in lines)
    assert audio == to_pcm16(tone(220.0, 0, 7_200, 24_000))


@pytest.mark.parametrize("audio_format", ["mp3", "opus", "aac", "flac", "webm"])
async def test_no_word_is_lost_when_an_encoder_holds_audio_back(audio_format):
    engine = ToneEngine(chunks=6, chunk_seconds=0.01)
    async with called(tone_service(engine)) as client:
        response = await client.post(CAPTIONED, json={"input": "a b c d e f", "response_format": audio_format})
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert "".join(stamp["word"] for line in lines for stamp in line["timestamps"]) == "abcdef"
    assert all(line["audio"] for line in lines)


async def test_captions_at_once_hold_a_whole_file():
    async with called(tone_service()) as client:
        response = await client.post(CAPTIONED, json=WISH | {"response_format": "wav", "stream": False})
    body = response.json()
    assert set(body) == {"audio", "audio_format", "timestamps"}
    assert body["audio_format"] == "audio/wav"
    assert body["timestamps"] == WORDS
    assert decoded_seconds(base64.b64decode(body["audio"])) == pytest.approx(0.3)
    assert int(response.headers["content-length"]) == len(response.content)
    assert "x-session-id" in response.headers


@pytest.mark.parametrize("stream", [True, False])
async def test_captions_without_timestamps(stream):
    async with called(tone_service()) as client:
        response = await client.post(CAPTIONED, json=WISH | {"return_timestamps": False, "stream": stream})
    assert all(json.loads(line)["timestamps"] is None for line in response.text.splitlines())


async def test_captions_refuse_what_speech_refuses():
    async with called(tone_service()) as client:
        refused = await client.post(CAPTIONED, json=WISH | {"voice": "nobody"})
    assert refused.status_code == 400
    assert error_of(refused)["param"] == "voice"


async def test_phonemize_shows_the_reading():
    async with called(tone_service()) as client:
        response = await client.post("/dev/phonemize", json={"text": "Hi", "language": "en-GB"})
    assert response.json() == {"phonemes": "hi", "tokens": [104, 105]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "a\x00"}, "text"),
        ({"text": "Hi", "language": "?"}, "language"),
        ({"text": "Hi", "model": "nothing"}, "model"),
    ],
)
async def test_phonemize_names_the_field_at_fault(body, field):
    async with called(tone_service()) as client:
        refused = await client.post("/dev/phonemize", json=body)
    assert 400 <= refused.status_code < 500
    assert error_of(refused)["param"] == field


async def test_a_model_without_phonemes_or_mixing_says_so():
    async with called(tone_service(PlainToneEngine())) as client:
        unread = await client.post("/dev/phonemize", json={"text": "Hi"})
        unmixed = await client.post(COMBINE, json="low+high")
    assert (unread.status_code, unmixed.status_code) == (400, 400)
    assert "phonemes" in error_of(unread)["message"]
    assert "mixed" in error_of(unmixed)["message"]


@pytest.mark.parametrize("voices", ["low+high", ["low", "high"], " low+high "])
async def test_combined_voices_come_as_a_file(voices):
    async with called(tone_service()) as client:
        response = await client.post(COMBINE, json=voices)
    assert response.status_code == 200
    assert response.headers["content-disposition"] == 'attachment; filename="low+high.pt"'
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        values = np.frombuffer(archive.read("archive/data/0"), "<f4")
    assert values.shape == (510 * 256,)
    assert set(values) == {330.0}


@pytest.mark.parametrize("voices", ["", [], [1], {"voices": "low"}, 5, "low+" * 500])
async def test_what_is_no_mix_is_refused(voices):
    async with called(tone_service()) as client:
        refused = await client.post(COMBINE, json=voices)
    assert refused.status_code == 400
    assert "af_heart(2)+bf_emma(1)" in error_of(refused)["message"]


async def test_an_unknown_voice_in_a_mix_is_named():
    async with called(tone_service()) as client:
        refused = await client.post(COMBINE, json=["low", "nobody"])
    assert refused.status_code == 400
    assert "nobody" in error_of(refused)["message"]


async def test_combining_can_be_forbidden():
    async with called(tone_service(allow_voice_download=False)) as client:
        refused = await client.post(COMBINE, json="low+high")
    assert refused.status_code == 403
    assert error_of(refused)["type"] == "permission_error"


class LaxMixer(ToneEngine):
    """Mixes whatever it is asked for, so that only the door stands between a caller and the file's name."""

    def mixed_voice(self, expression):
        return np.zeros((510, 1, 256), np.float32)


async def test_a_file_name_holds_nothing_that_a_shell_or_a_header_minds():
    async with called(tone_service(LaxMixer())) as client:
        response = await client.post(COMBINE, json='a"; rm -rf ../x\r\nSet-Cookie: y=1')
    assert response.headers["content-disposition"] == 'attachment; filename="arm-rf..xSet-Cookiey1.pt"'
    assert "set-cookie" not in response.headers


SSML = "<speak>One <mark name='m'/>two.<break time='1s'/><voice name='high'>Three.</voice></speak>"


async def test_ssml_is_spoken_with_the_times_of_its_marks():
    async with called(tone_service()) as client:
        whole = await client.post(CAPTIONED, json=WISH | {"input": SSML, "ssml": True, "stream": False})
        lines = await client.post(CAPTIONED, json=WISH | {"input": SSML})
    body = whole.json()
    assert body["marks"] == [{"name": "m", "time": body["timestamps"][1]["start_time"]}]
    assert [(word["word"], word["voice"]) for word in body["timestamps"]] == [
        ("One", "low"),
        ("two.", "low"),
        ("Three.", "high"),
    ]
    streamed = [json.loads(line) for line in lines.text.splitlines()]
    assert [mark for line in streamed for mark in line.get("marks", [])] == body["marks"]


async def test_bad_ssml_is_a_400_with_its_place():
    async with called(tone_service()) as client:
        refused = await client.post("/v1/audio/speech", json={"input": "<speak>\nOne & two</speak>", "ssml": True})
        translated = await client.post("/dev/ssml", json={"text": "<speak><p></speak>"})
        bomb = {"input": "<!DOCTYPE s [<!ENTITY a 'b'>]><speak>&a;</speak>", "ssml": True}
        bombed = await client.post("/v1/audio/speech", json=bomb)
    assert (refused.status_code, error_of(refused)["code"]) == (400, "invalid_markup")
    assert "line 2, column 6" in error_of(refused)["message"]
    assert (translated.status_code, error_of(translated)["param"]) == (400, "text")
    assert bombed.status_code == 400
    assert "document type" in error_of(bombed)["message"]


async def test_ssml_is_translated_to_tags_and_described():
    async with called(tone_service()) as client:
        slow, other = "<prosody rate='slow'>two</prosody>", "<voice name='high'>x</voice>"
        text = f"<speak>One<break time='500ms'/>{slow}{other}y<hr/></speak>"
        translated = await client.post("/dev/ssml", json={"text": text, "voice": "low"})
        support = (await client.get("/dev/ssml")).json()
    tagged = "One [pause:0.5s] [rate:0.75] two [voice:high] x [voice:low] y"
    assert translated.json() == {"text": tagged}
    assert translated.headers["x-polyvox-warning"] == "dropped-markup: <hr>"
    assert {"speak", "break", "prosody", "say-as"} <= set(support["elements"])
    assert support["break_strengths"]["none"] == 0.0


async def test_ssml_can_be_switched_off():
    async with called(tone_service(allow_ssml=False)) as client:
        answers = [await client.get("/dev/ssml"), await client.post("/dev/ssml", json={"text": SSML})]
        spoken = await client.post("/v1/audio/speech", json={"input": SSML, "ssml": True})
    assert [answer.status_code for answer in answers] == [403, 403]
    assert spoken.status_code == 200
    assert spoken.headers["x-polyvox-warning"].startswith("dropped-markup: <speak>, <mark name='m'/>")
