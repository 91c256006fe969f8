"""The Ray Serve API for CosyVoice: its two generations of paths, one continuous MP3, and its refusals."""

import base64
import io
from collections.abc import AsyncIterator
from dataclasses import replace

import av
import httpx
import numpy as np
import pytest

from helpers.cloning import CloneEngine, Studio, sample, studio_client
from helpers.fakes import ToneEngine, missing_bundle, tone_service
from helpers.serving import called, decoded_seconds, served
from helpers.tables import each_row
from polyvox.types import EngineLocation

pytestmark = pytest.mark.anyio

OLD = "/v1/model/cosyvoice"
WAV = {"reference_audio": ("ref.wav", sample(1), "audio/wav")}
ZERO_SHOT = {"text": "Hello.", "reference_text": "Some words."}


@pytest.fixture
async def door(tmp_path) -> AsyncIterator[tuple[Studio, httpx.AsyncClient]]:
    async with studio_client(tmp_path) as (studio, client):
        yield studio, client


def sentence_of(response: httpx.Response) -> str:
    """The sentence of a refusal; the earlier paths called it `error`."""
    body = response.json()
    assert set(body) == ({"detail", "error"} if response.url.path.startswith(OLD) else {"detail"})
    assert len(set(body.values())) == 1
    return body["detail"]


def frames_of(data: bytes) -> list[av.AudioFrame]:
    with av.open(io.BytesIO(data)) as container:
        return list(container.decode(audio=0))


@pytest.mark.parametrize("path", [f"{OLD}/tts", "/tts"])
@pytest.mark.parametrize("how", ["json", "data", "multipart"])
async def test_json_and_forms_mean_the_same(door, path, how):
    studio, client = door
    fields = {"text": "Hello.", "voice_type": "high", "speed": 2.0, "stream": True}
    if how == "multipart":
        sent = {"files": {name: (None, str(value)) for name, value in fields.items()}}
    else:
        sent = {how: fields}
    response = await client.post(path, **sent)
    assert (response.status_code, response.headers["content-type"]) == (200, "audio/mpeg")
    assert "content-length" not in response.headers
    spoken = studio.engine.heard[-1]
    assert (spoken.voice, spoken.speed) == ("high", 2.0)


async def test_numbers_may_be_written_out_in_json(door):
    studio, client = door
    response = await client.post("/tts", json={"text": "2", "speed": "0.5", "stream": "false"})
    assert (response.status_code, studio.engine.heard[-1].speed) == (200, 0.5)
    assert response.headers["content-length"] == str(len(response.content))


async def test_the_audio_is_24_khz_whatever_the_models_rate():
    for stream in (False, True):
        async with called(tone_service(ToneEngine(sample_rate=44_100, chunk_seconds=0.5))) as client:
            response = await client.post("/tts", json={"text": "Hello.", "stream": stream})
        frames = frames_of(response.content)
        assert {frame.sample_rate for frame in frames} == {24_000}
        assert decoded_seconds(response.content) == pytest.approx(1.5, abs=0.08)


class SpeechLike(ToneEngine):
    """Begins with 40 ms of silence, as speech does; each of its chunks stands for a sentence."""

    def _chunk(self, *place):
        chunk = super()._chunk(*place)
        pcm = chunk.pcm.copy()
        pcm[: max(0, 960 - chunk.start)] = 0.0
        return replace(chunk, pcm=pcm)


@each_row("path", [f"{OLD}/tts", "/tts"])
async def test_a_streamed_answer_of_many_sentences_is_one_file_without_a_gap(path):
    """The original sent a file for each: silence before and after every one of them."""
    engine = SpeechLike(chunks=12, chunk_seconds=0.3337)
    text = "One. Two. Three. Four. Five. Six. Seven. Eight. Nine. Ten. Eleven. Twelve."
    async with called(tone_service(engine)) as client:
        pcm = (await client.post("/v1/audio/speech", json={"input": text, "response_format": "pcm"})).content
        mp3 = (await client.post(path, json={"text": text, "stream": True})).content
    spoken = np.frombuffer(pcm, "<i2") / 32_768
    frames = frames_of(mp3)
    heard = np.concatenate([frame.to_ndarray()[0] for frame in frames])
    assert abs(len(heard) - len(spoken)) <= 0.03 * 24_000
    assert np.sqrt(np.mean((heard[: len(spoken)] - spoken) ** 2)) < 0.1 * np.sqrt(np.mean(spoken**2))


async def test_qwen_is_the_default_voice_until_somebody_is_called_that(door):
    studio, client = door
    for body in ({"text": "Hello."}, {"text": "Hello.", "voice_type": "qwen"}):
        await client.post("/tts", json=body)
        assert studio.engine.heard[-1].voice == "low"
    form = {"name": "qwen", "transcript": "My words."}
    assert (await client.post("/v1/voices", data=form, files={"audio": sample(1)})).status_code == 201
    await client.post(f"{OLD}/instruct", json={"text": "Hello.", "instruction": "Calm."})
    assert studio.engine.heard[-1].voice.startswith("voice_")
    config = (await client.get("/config")).json()
    assert config["default_voice"] == "qwen"
    assert config["available_voice_prompts"][:3] == ["low", "high", "qwen"]


async def test_a_path_on_the_server_is_read_only_in_listed_folders(tmp_path):
    listed = tmp_path / "listed"
    listed.mkdir()
    (listed / "voice.wav").write_bytes(sample(1))
    (tmp_path / "secret.wav").write_bytes(sample(2))
    (listed / "link.wav").symlink_to(tmp_path / "secret.wav")
    async with studio_client(tmp_path / "voices", recording_dirs=[listed]) as (studio, client):
        for named in (str(listed / "voice.wav"), "voice.wav"):
            spoken = await client.post(f"{OLD}/zero_shot", json=ZERO_SHOT | {"reference_audio": named})
            assert spoken.status_code == 200
        assert studio.intake.taken == 1
        for named in (str(tmp_path / "secret.wav"), "../secret.wav", "link.wav", "/etc/passwd", "none.wav"):
            refused = await client.post(f"{OLD}/zero_shot", json=ZERO_SHOT | {"reference_audio": named})
            assert refused.status_code == 400
            assert str(tmp_path) not in sentence_of(refused)
        assert studio.intake.taken == 1


async def test_without_listed_folders_every_path_is_refused(door, tmp_path):
    studio, client = door
    (tmp_path / "voice.wav").write_bytes(sample(1))
    refused = await client.post(
        "/cross_lingual_tts", json={"text": "Hello.", "reference_audio": str(tmp_path / "voice.wav")}
    )
    assert refused.status_code == 400
    assert "reference_audio" in sentence_of(refused)
    assert studio.intake.taken == 0


async def test_a_recording_may_come_in_the_json(door):
    studio, client = door
    carried = f"data:audio/wav;base64,{base64.b64encode(sample(1)).decode()}"
    spoken = await client.post("/zero_shot_tts", json=ZERO_SHOT | {"reference_audio": carried})
    assert spoken.status_code == 200
    assert studio.engine.prepared[-1].transcript == "Some words."


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "sent", "at_fault"),
    [
        ("/tts", {"json": {}}, "text"),
        ("/tts", {"json": {"text": ""}}, "input"),
        ("/tts", {"json": {"text": "Hello.", "speed": 0.49}}, "speed"),
        ("/tts", {"json": {"text": "Hello.", "speed": 2.01}}, "speed"),
        ("/tts", {"json": {"text": "Hello.", "speed": -1}}, "speed"),
        ("/tts", {"json": {"text": "Hello.", "speed": 1e300}}, "speed"),
        ("/tts", {"content": b'{"text": "Hello.", "speed": NaN}'}, "speed"),
        ("/tts", {"content": b'{"text": "Hello.", "speed": 1e999}'}, "speed"),
        ("/tts", {"json": {"text": "Hello.", "speed": "fast"}}, "speed"),
        ("/tts", {"json": {"text": "Hello.", "stream": "perhaps"}}, "stream"),
        ("/tts", {"json": {"text": "Hello.", "voice_type": "nobody"}}, "nobody"),
        ("/tts", {"json": ["Hello."]}, "JSON object"),
        ("/tts", {"content": b"{"}, "JSON"),
        ("/tts", {"json": {"text": "nul\0"}}, "text"),
        ("/instruct_tts", {"json": {"text": "Hello."}}, "instruction"),
        (f"{OLD}/instruct", {"json": {"instruction": "Calm."}}, "text"),
        (f"{OLD}/zero_shot", {"json": ZERO_SHOT}, "reference_audio"),
        (f"{OLD}/zero_shot", {"data": {"text": "Hello."}, "files": WAV}, "reference_text"),
        ("/zero_shot_tts", {"data": ZERO_SHOT, "files": {"reference_audio": ("a.wav", b"")}}, "recording"),
        ("/zero_shot_tts", {"data": ZERO_SHOT, "files": {"reference_audio": ("a.txt", b"words")}}, "recording"),
        ("/cross_lingual_tts", {"data": {"text": "Hello."}, "files": {"audio": ("a.wav", b"")}}, "reference_audio"),
    ],
)
async def test_bad_input_is_a_bad_request_and_leaves_nothing(door, path, sent, at_fault):
    studio, client = door
    headers = {"Content-Type": "application/json"} if "content" in sent else {}
    refused = await client.post(path, headers=headers, **sent)
    assert refused.status_code == 400, refused.text
    assert at_fault in sentence_of(refused) or at_fault == "input"
    assert studio.engine.speaking == 0
    assert "polyvox_active_sessions 0.0" in (await client.get("/metrics")).text
    assert (await client.post("/tts", json={"text": "Hello."})).status_code == 200


async def test_a_model_that_cannot_clone_says_so(tmp_path):
    async with studio_client(tmp_path, ToneEngine()) as (_, client):
        refused = await client.post(f"{OLD}/cross_lingual", data={"text": "Hello."}, files=WAV)
        assert refused.status_code == 400
        assert "cannot clone voices" in sentence_of(refused)


async def test_its_health_names_the_device_and_on_ray_the_replica():
    shape = ["status", "timestamp", "device", "model_loaded", "ray_actor_id", "ray_node_id"]
    places = [
        (None, "N/A", "N/A", "N/A"),
        (EngineLocation("cuda:0"), "cuda:0", "N/A", "N/A"),
        (EngineLocation("cuda", "actor-1", "node-1"), "cuda", "actor-1", "node-1"),
    ]
    for place, *expected in places:
        engine = ToneEngine()
        if place is not None:
            engine.location = place
        async with called(tone_service(engine)) as client:
            health = (await client.post(f"{OLD}/healthcheck")).json()
            assert list(health) == shape
            assert [health[name] for name in ("device", "ray_actor_id", "ray_node_id")] == expected
            assert (await client.get("/config")).json()["device_in_use"] == expected[0]


async def test_its_health_needs_no_key_and_tells_what_is_wrong():
    async with called(tone_service(ToneEngine(start_error=missing_bundle()), api_keys=["key"])) as client:
        for method in ("GET", "POST"):
            sick = await client.request(method, f"{OLD}/healthcheck")
            assert (sick.status_code, sick.json()["status"]) == (503, "unhealthy")
            assert "polyvox pull" in sick.json()["reason"]
        refused = await client.post(f"{OLD}/tts", json={"text": "Hello."})
        assert refused.status_code == 401
        sentence_of(refused)
        client.headers["Authorization"] = "Bearer key"
        assert (await client.post("/tts", json={"text": "Hello."})).status_code == 503


async def test_pages_may_ask_first_where_cors_allows():
    ask = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
    async with called(tone_service(cors_origins=["*"])) as client:
        allowed = await client.options(f"{OLD}/tts", headers=ask | {"Access-Control-Request-Headers": "content-type"})
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, "*")
        spoken = await client.post(f"{OLD}/tts", json={"text": "Hello."}, headers={"Origin": "https://page.example"})
        assert (spoken.status_code, spoken.headers["access-control-allow-origin"]) == (200, "*")


@pytest.mark.long
def test_a_stream_that_breaks_is_cut_off_and_counted():
    engine = ToneEngine(chunks=3, fail_at=1, delay=0.05, chunk_seconds=0.5)
    with served(tone_service(engine)) as url:
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(f"{url}/tts", json={"text": "Hello.", "stream": True})
        whole = httpx.post(f"{url}{OLD}/tts", json={"text": "Hello."})
        assert whole.status_code == 500
        sentence_of(whole)
        assert 'polyvox_failures_total{kind="engine_failed"} 2.0' in httpx.get(f"{url}/metrics").text


class Wordless(CloneEngine):
    @property
    def capabilities(self):
        return replace(super().capabilities, wordless=True)


async def test_the_same_upload_is_prepared_once(tmp_path):
    async with studio_client(tmp_path, Wordless()) as (studio, client):
        for _ in range(3):
            answer = await client.post("/cross_lingual_tts", data={"text": "Hello."}, files=WAV)
            assert answer.status_code == 200
        assert (studio.intake.taken, len(studio.engine.prepared), studio.transcriber.heard) == (1, 1, 0)
