"""The Streamable TTS API as its clients use it, on a tiny model here and on a scripted language model server."""

import asyncio
import io
import json
import re
import wave
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from helpers.cloning import SimpleFetcher, SimpleIntake, SimpleTranscriber, sample
from helpers.fakes import ToneEngine, tone_service
from helpers.faulty_lm_server import faulty_server, speech
from helpers.serving import called, decoded_seconds, error_of
from helpers.tiny_speechlm import (
    tiny_speechlm_settings,
    write_cloning_model,
    write_encoder,
    write_tiny_codec,
    write_tiny_model,
    write_whole_codec,
)
from polyvox.audio.resample import resampled
from polyvox.engines.catalog import Catalog
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.prompts import Prompts
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.storage.location import FolderLocation

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parents[2] / "golden" / "ttsapi_stream"
SPEECH, SPEAKER, CLONE, NORMALIZE = (f"/v1/audio/{name}" for name in ("speech", "speaker", "vc", "normalize"))
ASKED = {"input": "Hello there", "model": "TTS-model"}
SHORT = {"max_tokens": 20, "seed": 3}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return write_tiny_model(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def codec_only(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codec")
    write_tiny_codec(folder / "neucodec")
    return folder


@asynccontextmanager
async def door(models_dir, tmp_path, **settings):
    """A client of a server with the one model; recordings are those of `cloning.sample`."""
    chosen = tiny_speechlm_settings(models_dir, data_dir=tmp_path, **settings)
    service = SpeechService(chosen, Registry(chosen, Catalog.installed().factories), Metrics())
    prompts = Prompts(
        chosen,
        tmp_path / "prepared",
        intake=SimpleIntake(),
        fetcher=SimpleFetcher(),
        transcriber=SimpleTranscriber(),
        metrics=service.metrics,
    )
    store = AsyncVoiceStore(FolderLocation(tmp_path / "voices"))
    voices = VoiceService(chosen, service.registry, prompts, store, service.accounts.access)
    async with called(service, voices) as client:
        client.service = service
        await voices.start()
        try:
            yield client
        finally:
            await voices.close()


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def client(models, tmp_path_factory, anyio_backend):
    async with door(models, tmp_path_factory.mktemp("door")) as made:
        yield made


def says(*texts):
    async def scene(client):
        await client.head()
        await client.texts(*texts, end="stop")

    return scene


@pytest.mark.long
async def test_the_speakers_are_a_bare_list(client):
    answer = await client.get(SPEAKER)
    assert (answer.status_code, answer.json()) == (200, ["husein", "idayu", "jenny"])


@pytest.mark.long
async def test_the_least_request_is_answered_with_raw_samples_and_what_they_are(client):
    answer = await client.post(SPEECH, json=ASKED | SHORT)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "audio/pcm"
    assert answer.headers["x-audio-sample-rate"] == "24000"
    assert answer.headers["x-audio-channels"] == "1"
    assert answer.headers["x-audio-bit-depth"] == "16"
    assert answer.headers["x-accel-buffering"] == "no"
    assert len(answer.content) == 2 * 480 * 20


@pytest.mark.long
async def test_wav_streamed_and_not(client):
    streamed = await client.post(SPEECH, json=ASKED | SHORT | {"response_format": "wav"})
    whole = await client.post(SPEECH, json=ASKED | SHORT | {"response_format": "wav", "stream": False})
    assert streamed.headers["content-type"] == whole.headers["content-type"] == "audio/wav"
    assert decoded_seconds(streamed.content) == pytest.approx(0.4)
    with wave.open(io.BytesIO(whole.content)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        assert streamed.content.endswith(b"data" + b"\x00\xf0\xff\x7f" + file.readframes(10**6))
    assert int(whole.headers["content-length"]) == len(whole.content)


@pytest.mark.long
async def test_raw_samples_in_one_piece_have_the_original_s_name(client):
    streamed = await client.post(SPEECH, json=ASKED | SHORT)
    whole = await client.post(SPEECH, json=ASKED | SHORT | {"stream": False})
    assert whole.headers["content-type"] == "audio/L16; rate=24000; channels=1"
    assert whole.content == streamed.content


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "playback_speed", "overlap"),
    [
        ("ps1.5_ov0.2", 1.5, 0.2),
        ("ps0.5_ov0.1", 0.5, 0.1),
        ("ps0.1_ov0.02", 0.1, 0.02),
        ("ps2.0_ov0.0", 2.0, 0.0),
        ("ps10.0_ov0.2", 10.0, 0.2),
        ("short", 1.5, 0.2),
    ],
)
async def test_samples_are_those_of_the_original_server(codec_only, tmp_path, name, playback_speed, overlap):
    """Here 16 bits are rounded, and full scale is 32768; there they are cut off, and it is 32767."""
    expected = load_file(GOLDEN / f"{name}.safetensors")
    wish = ASKED | {"playback_speed": playback_speed, "playback_overlap_speed": overlap, "temperature": 0.7}
    async with (
        faulty_server(says(speech(expected["ids"].tolist()))) as server,
        door(codec_only, tmp_path, speechlm_url=server.url, speechlm_max_tokens=3072) as client,
    ):
        answer = await client.post(SPEECH, json=wish)
    assert answer.status_code == 200, answer.text
    assert server.asked[0].body == {
        "model": "TTS-model",
        "prompt": "<|im_start|>husein: Hello there.<|speech_start|>",
        "max_tokens": 3072,
        "temperature": 0.7,
        "repetition_penalty": 1.15,
        "stream": True,
    }
    pcm = np.frombuffer(answer.content, "<i2").astype(int)
    assert np.abs(pcm - expected["pcm"]).max() <= 1


@pytest.mark.long
async def test_its_defaults_apply_to_its_own_name_and_to_none(codec_only, tmp_path):
    """Where its model is the default one, clients need no name: the original takes requests without one, too."""
    async with (
        faulty_server(says(speech(range(100)))) as server,
        door(codec_only, tmp_path, speechlm_url=server.url) as client,
    ):
        theirs = await client.post(SPEECH, json={"input": "RM5", "model": "TTS-model"})
        ours = await client.post(SPEECH, json={"input": "RM5", "model": "speechlm", "voice": "idayu"})
        default = await client.post(SPEECH, json={"input": "RM5", "normalize_malaysian": False})
    assert [answer.status_code for answer in (theirs, ours, default)] == [200] * 3
    assert theirs.headers["content-type"] == default.headers["content-type"] == "audio/pcm"
    assert ours.headers["content-type"] == "audio/mpeg"
    assert [client.body["prompt"].removesuffix("<|speech_start|>") for client in server.asked] == [
        "<|im_start|>husein: lima ringgit.",
        "<|im_start|>idayu: lima ringgit.",
        "<|im_start|>husein: RM5.",
    ]


async def test_the_name_of_the_model_is_a_setting(codec_only, tmp_path):
    async with (
        faulty_server(says(speech(range(9)))) as server,
        door(codec_only, tmp_path, speechlm_url=server.url, streamable_model="my-tts") as client,
    ):
        known = await client.post(SPEECH, json={"input": "Hi", "model": "my-tts"})
        unknown = await client.post(SPEECH, json=ASKED)
    assert (known.status_code, known.headers["content-type"]) == (200, "audio/pcm")
    assert server.asked[0].body["model"] == "my-tts"
    assert (unknown.status_code, error_of(unknown)["param"]) == (404, "model")


async def test_the_call_of_its_stress_test(codec_only, tmp_path):
    wish = {
        "input": "Hello! Apa yang saya boleh bantu encik?",
        "voice": "husein",
        "model": "Scicom-intl/Multilingual-TTS-1.7B-v0.1",
        "response_format": "wav",
        "temperature": 0.6,
        "repetition_penalty": 1.15,
        "max_tokens": 3072,
        "stream": False,
        "playback_speed": 1.5,
        "playback_overlap_speed": 0.5,
        "normalize": True,
    }
    async with (
        faulty_server(says(speech(range(9)))) as server,
        door(codec_only, tmp_path, speechlm_url=server.url) as client,
    ):
        spoken = await client.post(SPEECH, json=wish)
        nobody = await client.post(SPEECH, json=wish | {"voice": "nobody"})
    assert (spoken.status_code, spoken.content[:4]) == (200, b"RIFF"), spoken.text
    assert server.asked[0].body["model"] == "TTS-model"
    assert (nobody.status_code, error_of(nobody)["param"]) == (400, "voice")
    assert "husein" in error_of(nobody)["message"]


async def test_every_field_reaches_the_model(codec_only, tmp_path):
    wish = ASKED | {
        "voice": "jenny",
        "temperature": 0.9,
        "repetition_penalty": 1.3,
        "max_tokens": 50,
        "top_p": 0.8,
        "top_k": 7,
        "seed": 11,
        "normalize_malaysian": False,
    }
    async with (
        faulty_server(says(speech(range(100)))) as server,
        door(codec_only, tmp_path, speechlm_url=server.url) as client,
    ):
        answer = await client.post(SPEECH, json=wish)
    assert len(answer.content) == 2 * 480 * 50
    body = server.asked[0].body
    names = ("temperature", "repetition_penalty", "max_tokens", "top_p", "top_k", "seed")
    assert [body[name] for name in names] == [0.9, 1.3, 50, 0.8, 7, 11]


@pytest.mark.long
async def test_speaking_rate_is_the_tempo(client):
    plain = await client.post(SPEECH, json=ASKED | {"max_tokens": 100, "seed": 3})
    faster = await client.post(SPEECH, json=ASKED | {"max_tokens": 100, "seed": 3, "speaking_rate": 2.0})
    assert len(faster.content) == pytest.approx(len(plain.content) / 2, rel=0.05)


@pytest.mark.long
async def test_events_carry_the_same_samples(client):
    wish = ASKED | SHORT | {"stream_format": "sse"}
    answer = await client.post(SPEECH, json=wish)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert [event["type"] for event in events][-1] == "speech.audio.done"
    assert events[0]["type"] == "speech.audio.delta"


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("playback_speed", 0),
        ("playback_speed", 0.01),
        ("playback_speed", -2),
        ("playback_speed", "fast"),
        ("playback_overlap_speed", -0.1),
        ("playback_overlap_speed", 9.0),
        ("max_tokens", 0),
        ("max_tokens", 10**9),
        ("max_tokens", 1.5),
        ("temperature", 9),
        ("repetition_penalty", 0),
        ("speaking_rate", 3),
        ("voice", "nobody"),
        ("response_format", "tape"),
        ("normalize_malaysian", "maybe"),
        ("input", " "),
    ],
)
async def test_bad_values_are_refused_by_name_and_nothing_is_left(client, field, value):
    answer = await client.post(SPEECH, json=ASKED | {field: value})
    assert answer.status_code == 400
    assert error_of(answer)["param"] == field
    assert client.service.registry.engine("speechlm")._running.source.running == 0


# Cloning

FORM = {
    "reference_text": "I wonder if I shall ever be happy.",
    "generate_text": "Ye encik, apa yang boleh saya tolong?",
}


def recording(seed=1):
    return {"reference_audio": ("jenny.wav", sample(seed))}


async def test_a_voice_of_tokens_speaks_a_new_text(codec_only, tmp_path):
    async with (
        faulty_server(says(speech(range(20)))) as server,
        door(codec_only, tmp_path, speechlm_url=server.url) as client,
    ):
        answer = await client.post(CLONE, json=FORM | {"reference_codes": [5, 6], "temperature": 0.7})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "audio/pcm"
    assert answer.headers["x-audio-bit-depth"] == "16"
    assert len(answer.content) == 2 * 480 * 20
    assert server.asked[0].body["temperature"] == 0.7
    assert server.asked[0].body["prompt"] == (
        "<|im_start|>I wonder if I shall ever be happy.<|speech_start|><|s_5|><|s_6|><|im_end|>"
        "<|im_start|>Ye encik, apa yang boleh saya tolong?<|speech_start|>"
    )


@pytest.mark.long
async def test_a_form_with_a_recording_takes_every_field(tmp_path):
    write_tiny_model(tmp_path / "models")
    write_encoder(tmp_path / "models" / "neucodec" / "encoder.onnx")
    form = FORM | {
        "model": "TTS-model",
        "response_format": "wav",
        "temperature": "0.7",
        "repetition_penalty": "1.15",
        "max_tokens": "30",
        "stream": "false",
        "playback_speed": "0.3",
        "playback_overlap_speed": "0.1",
        "seed": "4",
    }
    async with door(tmp_path / "models", tmp_path) as client:
        answers = [await client.post(CLONE, data=form, files=recording(seed)) for seed in (1, 1, 2)]
    assert [answer.status_code for answer in answers] == [200] * 3, answers[0].text
    assert answers[0].headers["content-type"] == "audio/wav"
    assert answers[0].content == answers[1].content != answers[2].content
    assert decoded_seconds(answers[0].content) == pytest.approx(0.6)


@pytest.mark.long
async def test_a_recording_is_asked_for_by_the_tokens_that_the_encoder_heard_in_it(tmp_path):
    write_whole_codec(tmp_path / "models" / "neucodec")
    async with (
        faulty_server(says(speech(range(20)))) as server,
        door(tmp_path / "models", tmp_path, speechlm_url=server.url) as client,
    ):
        answers = [await client.post(CLONE, data=FORM, files=recording(seed)) for seed in (1, 2, 1)]
        encoder = client.service.registry.engine("speechlm")._running.networks.encoder
        pcm = (await SimpleIntake().take(sample(1), None)).pcm
        tokens = encoder.encode(resampled(pcm, 24_000, 16_000)).tolist()
    assert [answer.status_code for answer in answers] == [200] * 3, answers[0].text
    assert len(tokens) == 50
    prompts = [asked.body["prompt"] for asked in server.asked]
    assert prompts[0] == prompts[2] != prompts[1]
    assert prompts[0] == (
        f"<|im_start|>I wonder if I shall ever be happy.<|speech_start|>{speech(tokens)}<|im_end|>"
        "<|im_start|>Ye encik, apa yang boleh saya tolong?<|speech_start|>"
    )


@pytest.fixture(scope="module")
def cloning(tmp_path_factory):
    return write_cloning_model(tmp_path_factory.mktemp("cloning"))


@pytest.mark.long
async def test_a_recording_is_encoded_once_and_its_voice_speaks_alone_and_among_others(cloning, tmp_path):
    form = FORM | {"max_tokens": "20", "seed": "4"}
    async with door(cloning, tmp_path) as client:
        alone = await client.post(CLONE, data=form, files=recording(1))
        together = await asyncio.gather(*(client.post(CLONE, data=form, files=recording(n)) for n in (2, 1, 3, 1)))
        metrics = (await client.get("/metrics")).text
    assert [answer.status_code for answer in (alone, *together)] == [200] * 5, alone.text
    alone, *together = (np.frombuffer(answer.content, "<i2").astype(int) for answer in (alone, *together))
    assert len(alone) == 480 * 20
    # Batches of other sizes round otherwise: a sample may fall to the step beside its own.
    differences = [int(np.abs(each - alone).max()) for each in together]
    assert max(differences[1], differences[3]) <= 1
    assert min(differences[0], differences[2]) > 100
    assert re.search(r'polyvox_stage_batch_size_count\{stage="speechlm encoder"\} 3\.0', metrics)


@pytest.mark.long
async def test_a_registered_voice_speaks(cloning, tmp_path):
    fields = {"name": "Anna", "transcript": FORM["reference_text"]}
    async with door(cloning, tmp_path) as client:
        made = await client.post("/v1/voices", data=fields, files={"audio": ("a.wav", sample(1))})
        wish = SHORT | {"input": FORM["generate_text"], "model": "TTS-model"}
        named = await client.post(SPEECH, json=wish | {"voice": "Anna"})
        own = await client.post(SPEECH, json=wish | {"voice": "husein"})
    assert (made.status_code, named.status_code, own.status_code) == (201, 200, 200), (made.text, named.text)
    assert len(named.content) == 2 * 480 * 20
    assert named.content != own.content


async def test_without_the_encoder_a_recording_is_refused_with_the_remedy(client):
    answer = await client.post(CLONE, data=FORM, files=recording())
    assert answer.status_code == 501
    assert "polyvox pull neucodec" in error_of(answer)["message"]
    assert "encoder.onnx" in error_of(answer)["message"]
    assert "reference_codes" in error_of(answer)["message"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "files", "field"),
    [
        ({}, None, "reference_audio"),
        ({"generate_text": ""}, recording(), "generate_text"),
        ({"generate_text": " "}, recording(), "generate_text"),
        ({"reference_text": ""}, recording(), "reference_text"),
        ({"reference_codes": "[]"}, recording(), "reference_codes"),
        ({"reference_codes": "[65536]"}, recording(), "reference_codes"),
        ({"reference_codes": "[-1]"}, recording(), "reference_codes"),
        ({"reference_codes": "nonsense"}, recording(), "reference_codes"),
        ({"reference_codes": "[5]", "playback_speed": "0"}, recording(), "playback_speed"),
        ({"reference_codes": "[5]", "max_tokens": "1e9"}, recording(), "max_tokens"),
        ({}, {"reference_audio": ("x.wav", b"")}, "reference_audio"),
        ({}, {"reference_audio": ("x.wav", b"no recording")}, "reference_audio"),
        ({}, {"other": ("x.wav", sample(1))}, "reference_audio"),
    ],
)
async def test_what_is_wrong_with_a_form_is_said(client, changes, files, field):
    form = {name: value for name, value in (FORM | changes).items() if value}
    if files is None:
        answer = await client.post(CLONE, json=form)
    else:
        answer = await client.post(CLONE, data=form, files=files)
    assert answer.status_code == 400, answer.text
    assert error_of(answer)["param"] == field
    assert client.service.registry.engine("speechlm")._running.source.running == 0


async def test_a_page_of_another_origin_cannot_send_the_form(client):
    answer = await client.post(CLONE, data=FORM, files=recording(), headers={"Origin": "http://elsewhere.example"})
    assert answer.status_code == 403


# Text


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "output"),
    [
        ({"input": "**Harga** RM500"}, "Harga RM500."),
        ({"input": "Hello\nworld"}, "Hello world."),
        ({"input": "Visit https://x.com now"}, "Visit https://x.com now."),
        ({"input": "ok."}, "ok."),
        ({"input": "Harga RM500", "normalize_malaysian": True}, "Harga lima ratus ringgit."),
        ({"input": "Harga RM500", "mode": "spoken"}, "Harga lima ratus ringgit."),
    ],
)
async def test_text_is_read_out_on_paper(client, body, output):
    answer = await client.post(NORMALIZE, json=body)
    assert (answer.status_code, answer.json()) == (200, {"output": output, "mode": body.get("mode", "rule")})


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "input"),
        ({"input": "x", "mode": "magic"}, 400, "mode"),
        ({"input": "x", "mode": "llm"}, 400, "mode"),
        ({"input": "x" * 300_000}, 400, "input"),
    ],
)
async def test_what_cannot_be_read_out_is_refused(client, body, status, field):
    answer = await client.post(NORMALIZE, json=body)
    assert (answer.status_code, error_of(answer)["param"]) == (status, field)


# Other models


async def test_another_model_answers_as_ever_and_passes_over_the_dialect_s_fields():
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        answer = await client.post(SPEECH, json={"input": "RM5", "temperature": 0.5, "normalize_malaysian": False})
        speakers = await client.get(SPEAKER)
        dialect = await client.post(SPEECH, json=ASKED)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/mpeg")
    assert engine.heard[0].tuning == {"temperature": 0.5}, "what an engine has no use for, it passes over"
    assert engine.heard[0].normalization.normalize
    assert speakers.status_code == dialect.status_code == 404


async def test_a_voice_that_the_model_does_not_have_is_refused_and_not_another_one(client):
    """OpenAI's names stand for voices of Kokoro on the same path with other models."""
    for name in ("alloy", "nobody"):
        refused = await client.post(SPEECH, json=ASKED | {"voice": name})
        assert refused.status_code in (400, 404), refused.text
        assert "use one of husein, idayu, jenny" in refused.json()["error"]["message"]
