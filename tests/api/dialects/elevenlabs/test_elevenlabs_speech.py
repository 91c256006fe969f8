"""ElevenLabs' text-to-speech and text-to-dialogue over HTTP."""

import base64
import io
import json
import wave

import av
import pytest

from helpers.elevenlabs_sockets import WordlessEngine
from helpers.fakes import ToneEngine, tone, tone_service
from helpers.serving import called, decoded_seconds
from helpers.tables import each_row
from polyvox.audio.pcm import to_pcm16
from polyvox.audio.raw_encoding import RawEncoding
from polyvox.errors import OverloadedError
from polyvox.service.admission.controller import AdmissionController

TEXT = "One two, three."
SAMPLES = to_pcm16(tone(220.0, 0, 7_200, 24_000))
PCM = {"output_format": "pcm_24000"}
RACHEL = "21m00Tcm4TlvDq8ikWAM"

pytestmark = pytest.mark.anyio


def speech(client, path="low", text=TEXT, params=PCM, **fields):
    return client.post(f"/v1/text-to-speech/{path}", params=params, json={"text": text, **fields})


@each_row("path", ["low", "low/stream"])
async def test_the_audio_is_that_of_the_voice(path):
    async with called(tone_service()) as client:
        answer = await speech(client, path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "audio/pcm"
    assert answer.content == SAMPLES


@each_row(
    ("name", "media_type", "codec", "rate"),
    [
        ("mp3_22050_32", "audio/mpeg", "mp3float", 22_050),
        ("mp3_24000_48", "audio/mpeg", "mp3float", 24_000),
        ("mp3_44100_192", "audio/mpeg", "mp3float", 44_100),
        ("mp3_44100", "audio/mpeg", "mp3float", 44_100),
        ("opus_48000_32", "audio/ogg", "opus", 48_000),
        ("wav_16000", "audio/wav", "pcm_s16le", 16_000),
    ],
)
async def test_every_format_plays(name, media_type, codec, rate):
    async with called(tone_service()) as client:
        answer = await speech(client, params={"output_format": name})
    assert answer.headers["content-type"] == media_type
    with av.open(io.BytesIO(answer.content)) as file:
        stream = file.streams.audio[0]
        assert (stream.codec_context.name, stream.codec_context.sample_rate) == (codec, rate)
    assert decoded_seconds(answer.content) == pytest.approx(0.3, abs=0.1)


@each_row(("name", "bit_rate"), [("mp3_22050_32", 32_000), ("mp3_44100_192", 192_000)])
async def test_bytes_of_mp3_tell_its_length(name, bit_rate):
    """LiveKit counts time by them."""
    async with called(tone_service(ToneEngine(chunk_seconds=1.0))) as client:
        answer = await speech(client, params={"output_format": name})
    tag = 10 + (answer.content[8] << 7) + answer.content[9]  # ID3 counts by seven bits a byte
    assert (len(answer.content) - tag) * 8 / bit_rate == pytest.approx(3.0, abs=0.1)


@each_row(("name", "law"), [("ulaw_8000", RawEncoding.PCM_MULAW), ("alaw_8000", RawEncoding.PCM_ALAW)])
async def test_telephone_formats_are_one_byte_a_sample(name, law):
    engine = ToneEngine(sample_rate=8_000)
    async with called(tone_service(engine)) as client:
        answer = await speech(client, params={"output_format": name})
    assert answer.content == law.pack(tone(220.0, 0, 2_400, 8_000))
    assert answer.headers["content-type"].startswith("audio/")


async def test_a_wav_file_has_its_true_length_also_within_json():
    async with called(tone_service()) as client:
        plain = await speech(client, params={"output_format": "wav_24000"})
        timed = await speech(client, "low/with-timestamps", params={"output_format": "wav_24000"})
    for data in (plain.content, base64.b64decode(timed.json()["audio_base64"])):
        with wave.open(io.BytesIO(data)) as file:
            assert (file.getnframes(), file.getframerate()) == (7_200, 24_000)


async def test_settings_that_models_here_lack_are_taken_and_speed_is_used():
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        answer = await speech(
            client,
            model_id="eleven_flash_v2_5",
            voice_settings={"stability": 0.2, "similarity_boost": 1, "style": 0, "use_speaker_boost": True, "speed": 2},
            language_code="xx",
            seed=7,
            previous_text="Before.",
            next_text="After.",
            previous_request_ids=["a"],
            pronunciation_dictionary_locators=[],
            apply_text_normalization="off",
            apply_language_text_normalization=False,
            nobody_knows_this={"deep": [1]},
        )
    assert len(answer.content) == len(SAMPLES) / 2
    (heard,) = engine.heard
    assert (heard.seed, heard.speed, heard.language, heard.normalization.normalize) == (7, 2.0, None, False)


@each_row(
    ("text", "seconds", "spoken"),
    [
        ('One <break time="1s" /> two.', 1.6, ["One ", " two."]),
        ('<phoneme alphabet="ipa" ph="x">One</phoneme> two.', 0.3, ["One two."]),
        ('Tom & <break time="1s" /> Ann.', 0.3, ["Tom & Ann."]),
        ("<phoneme> One two.", 0.3, ["One two."]),
    ],
)
async def test_pauses_in_a_plain_text_are_obeyed_and_broken_markup_is_dropped(text, seconds, spoken):
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        answer = await speech(client, "low/with-timestamps", text)
    assert len(base64.b64decode(answer.json()["audio_base64"])) == pytest.approx(48_000 * seconds)
    assert "".join(answer.json()["alignment"]["characters"]) == text
    assert [heard.text.strip() for heard in engine.heard] == [part.strip() for part in spoken]


async def test_null_fields_are_as_if_absent():
    async with called(tone_service()) as client:
        answer = await speech(client, model_id=None, voice_settings=None, seed=None, language_code=None)
    assert answer.content == SAMPLES


async def test_with_timestamps_gives_each_character_its_time():
    async with called(tone_service()) as client:
        answer = (await speech(client, "low/with-timestamps")).json()
    assert base64.b64decode(answer["audio_base64"]) == SAMPLES
    assert set(answer) == {"audio_base64", "alignment", "normalized_alignment"}
    found = answer["alignment"]
    assert "".join(found["characters"]) == TEXT
    starts, ends = found["character_start_times_seconds"], found["character_end_times_seconds"]
    assert len(starts) == len(ends) == len(TEXT)
    assert starts == sorted(starts)
    assert (starts[0], starts[TEXT.index("three")], ends[-1]) == pytest.approx((0.0, 0.2, 0.3))


async def test_stream_with_timestamps_gives_one_object_a_line():
    async with called(tone_service()) as client:
        answer = await speech(client, "low/stream/with-timestamps")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert b"".join(base64.b64decode(line["audio_base64"]) for line in lines) == SAMPLES
    spoken = [line["alignment"] for line in lines if line["alignment"]]
    assert "".join(char for part in spoken for char in part["characters"]) == TEXT
    starts = [time for part in spoken for time in part["character_start_times_seconds"]]
    assert starts == sorted(starts)
    assert starts[-1] > 0.2, "times count from the start of the request"
    assert len(lines) == 3


async def test_lines_stay_below_what_clients_read():
    async with called(tone_service(ToneEngine(chunks=2, chunk_seconds=10.0))) as client:
        answer = await speech(client, "low/stream/with-timestamps")
    assert max(map(len, answer.text.splitlines())) < 2**17
    data = b"".join(base64.b64decode(json.loads(line)["audio_base64"]) for line in answer.text.splitlines())
    assert data == to_pcm16(tone(220.0, 0, 480_000, 24_000))


@each_row("timings", ["estimate", "durations"])
@each_row("path", ["low/with-timestamps", "low/stream/with-timestamps"])
async def test_an_engine_without_word_timings_is_aligned_all_the_same(path, timings):
    async with called(tone_service(WordlessEngine(), word_timings=timings)) as client:
        answer = await speech(client, path)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    found = [line["alignment"] for line in lines if line["alignment"]]
    assert "".join(char for part in found for char in part["characters"]) == TEXT
    ends = [time for part in found for time in part["character_end_times_seconds"]]
    assert ends == sorted(ends)
    assert 0.2 < ends[-1] <= 0.31
    assert b"".join(base64.b64decode(line["audio_base64"]) for line in lines) == SAMPLES


async def test_the_same_paths_are_below_the_prefix():
    async with called(tone_service()) as client:
        answer = await client.post("/elevenlabs/v1/text-to-speech/low", params=PCM, json={"text": TEXT})
    assert answer.content == SAMPLES


async def test_well_known_ids_and_names_stand_for_voices_of_the_settings():
    engine = ToneEngine()
    async with called(tone_service(engine, elevenlabs_voices=f"{RACHEL}=high,Adam=low")) as client:
        for voice in (RACHEL, "Adam"):
            assert (await speech(client, voice)).status_code == 200
    assert [heard.voice for heard in engine.heard] == ["high", "low"]


async def test_a_well_known_voice_that_the_model_lacks_is_its_default_voice():
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        assert (await speech(client, RACHEL)).status_code == 200
        assert (await speech(client, "rachel")).status_code == 200
    assert [heard.voice for heard in engine.heard] == ["low", "low"]


async def test_model_names_of_theirs_stand_for_the_model_of_the_settings():
    one, other = ToneEngine("tone"), ToneEngine("other")
    factories = {"tone": lambda _: one, "other": lambda _: other}
    service = tone_service(factories=factories, models=["tone", "other"], elevenlabs_model="other")
    async with called(service) as client:
        for model in ("eleven_turbo_v2_5", "tone", None):
            assert (await speech(client, model_id=model)).status_code == 200
    assert (len(one.heard), len(other.heard)) == (1, 2)


@each_row(
    ("path", "params", "fields", "status", "code", "param"),
    [
        ("nobody", PCM, {"text": TEXT}, 404, "voice_not_found", "voice_id"),
        ("low", PCM, {}, 422, "invalid_value", "text"),
        ("low", PCM, {"text": 7}, 422, "invalid_value", "text"),
        ("low", PCM, {"text": "a\x00b"}, 422, "invalid_value", "text"),
        ("low", PCM, {"text": ""}, 400, "invalid_text", "text"),
        ("low", PCM, {"text": TEXT, "voice_settings": {"speed": 9}}, 422, "invalid_value", "voice_settings.speed"),
        ("low", PCM, {"text": TEXT, "voice_settings": 1}, 422, "invalid_value", "voice_settings"),
        ("low", PCM, {"text": TEXT, "model_id": "gone"}, 404, "model_not_found", "model_id"),
        ("low", {"output_format": "mp3"}, {"text": TEXT}, 400, "format_not_supported", "output_format"),
        ("low", {"output_format": "mp3_44100_999"}, {"text": TEXT}, 400, "format_not_supported", "output_format"),
        ("low", {"output_format": "pcm_99999"}, {"text": TEXT}, 400, "format_not_supported", "output_format"),
        ("low/with-timestamps", PCM, [], 400, "invalid_value", None),
    ],
)
async def test_errors_are_in_their_form(path, params, fields, status, code, param):
    async with called(tone_service()) as client:
        answer = await client.post(f"/v1/text-to-speech/{path}", params=params, json=fields)
    found = answer.json()["detail"]
    assert (answer.status_code, found["status"], found.get("param")) == (status, code, param)
    assert found["message"].endswith(".")


async def test_a_busy_server_says_so_in_their_words(monkeypatch):
    def refuse(self, *_, **__):
        raise OverloadedError("Busy; try again later.", retry_after=2)

    monkeypatch.setattr(AdmissionController, "enter", refuse)
    async with called(tone_service()) as client:
        answer = await speech(client)
    assert (answer.status_code, answer.json()["detail"]["status"]) == (429, "too_many_concurrent_requests")
    assert answer.headers["retry-after"] == "2"


async def test_a_dialogue_is_spoken_turn_by_turn():
    engine = ToneEngine(chunks=1)
    inputs = [{"text": "One two.", "voice_id": "low"}, {"text": "Three.", "voice_id": RACHEL}]
    settings = {"elevenlabs_voices": f"{RACHEL}=high"}
    async with called(tone_service(engine, **settings)) as client:
        for path in ("", "/stream"):
            answer = await client.post(f"/v1/text-to-dialogue{path}", params=PCM, json={"inputs": inputs})
            assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/pcm")
        timed = (await client.post("/v1/text-to-dialogue/with-timestamps", params=PCM, json={"inputs": inputs})).json()
        lines = await client.post("/v1/text-to-dialogue/stream/with-timestamps", params=PCM, json={"inputs": inputs})
    assert [heard.voice for heard in engine.heard[:2]] == ["low", "high"]
    assert "".join(timed["alignment"]["characters"]) == "One two. Three."
    segments = timed["voice_segments"]
    assert [(one["voice_id"], one["dialogue_input_index"]) for one in segments] == [("low", 0), (RACHEL, 1)]
    assert [one["character_start_index"] for one in segments] == [0, 9]
    assert segments[1]["start_time_seconds"] >= segments[0]["end_time_seconds"]
    streamed = [json.loads(line) for line in lines.text.splitlines()]
    found = [one for line in streamed for one in line["voice_segments"]]
    assert [(one["voice_id"], one["character_start_index"]) for one in found] == [("low", 0), (RACHEL, 0)]
    data = b"".join(base64.b64decode(line["audio_base64"]) for line in streamed)
    assert data == base64.b64decode(timed["audio_base64"])


async def test_errors_of_a_dialogue_are_in_their_form():
    async with called(tone_service()) as client:
        for inputs, status in (([], 422), ([{"text": "Hi.", "voice_id": "nobody"}], 404), ([{"text": "Hi."}], 422)):
            answer = await client.post("/v1/text-to-dialogue", params=PCM, json={"inputs": inputs})
            assert answer.status_code == status, answer.text
            assert set(answer.json()["detail"]) >= {"status", "message"}
