"""The doors of CosyVoice's Python and Rust servers: what they take, what they refuse, and how they say so."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from helpers.cloning import CloneEngine, Studio, sample, studio_client
from helpers.fakes import ToneEngine, missing_bundle, tone_service
from helpers.scripted_fits import ScriptedFits, fitting_service
from helpers.serving import called
from polyvox.api.dialects.cosyvoice.requests import read_recording
from polyvox.errors import NotServedError, PolyvoxError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import PreparedVoice, Utterance
from polyvox.voices.records import SHARED_OWNER, VoiceDetails
from polyvox.voices.references import InlineVoice

pytestmark = pytest.mark.anyio

SYSTEM = "You are a helpful assistant."
FRAME = f"{SYSTEM}<|endofprompt|>"
WAV = {"prompt_wav": ("prompt_wav", sample(1), "application/octet-stream")}
SFT = {"tts_text": "Hello.", "spk_id": "low"}
ZERO_SHOT = {"tts_text": "Hello.", "prompt_text": "Some words."}
MODES = {
    "sft": SFT,
    "zero_shot": ZERO_SHOT,
    "cross_lingual": {"tts_text": "Hello."},
    "instruct": SFT | {"instruct_text": "Calm."},
    "instruct2": {"tts_text": "Hello.", "instruct_text": "Calm."},
}
WITH_RECORDING = ("zero_shot", "cross_lingual", "instruct2")


class WordlessEngine(CloneEngine):
    @property
    def capabilities(self):
        return replace(super().capabilities, wordless=True)


@pytest.fixture
async def door(tmp_path) -> AsyncIterator[tuple[Studio, httpx.AsyncClient]]:
    async with studio_client(tmp_path, WordlessEngine(instructions=True)) as (studio, client):
        yield studio, client


def ask(client: httpx.AsyncClient, mode: str, fields: dict[str, Any] | None = None, *, method: str = "GET", **files):
    """A request to one of the five, with the recording where it takes one."""
    upload = files.get("files", WAV if mode in WITH_RECORDING else None)
    return client.request(method, f"/inference_{mode}", data=MODES[mode] if fields is None else fields, files=upload)


def detail_of(response: httpx.Response) -> str:
    """The sentence of a refusal in FastAPI's form."""
    body = response.json()
    assert set(body) == {"detail"}
    if response.status_code != 422:
        assert isinstance(body["detail"], str)
        return body["detail"]
    (problem,) = body["detail"]
    assert set(problem) == {"type", "loc", "msg"}
    assert problem["loc"][0] == "body"
    assert problem["loc"][1] in problem["msg"]
    return problem["msg"]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("mode", MODES)
async def test_all_five_modes_speak_by_both_methods(door, mode, method):
    studio, client = door
    response = await ask(client, mode, method=method)
    assert response.status_code == 200
    assert len(response.content) == 2 * 7_200
    assert response.headers["x-audio-sample-rate"] == "24000"
    spoken = studio.engine.heard[-1]
    assert spoken.text == "Hello."
    assert spoken.instructions == ("Calm." if mode.startswith("instruct") else None)
    assert (spoken.prepared is not None) == (mode in WITH_RECORDING)
    assert [prompt.transcript for prompt in studio.engine.prepared] == (
        [] if spoken.prepared is None else ["Some words." if mode == "zero_shot" else ""]
    )


async def test_what_version_3s_callers_must_write_is_not_read_out(door):
    studio, client = door
    await ask(client, "zero_shot", {"tts_text": "Hello.", "prompt_text": f"{FRAME}Some words."})
    assert studio.engine.prepared[-1].transcript == "Some words."
    await ask(client, "cross_lingual", {"tts_text": f"{FRAME}Hello."})
    assert studio.engine.heard[-1].text == "Hello."
    for written in (f"{SYSTEM} Calm.<|endofprompt|>", "Calm.<|endofprompt|>", "Calm."):
        await ask(client, "instruct2", {"tts_text": "Hello.", "instruct_text": written})
        assert studio.engine.heard[-1].instructions == "Calm."


async def test_an_engine_that_needs_the_words_hears_them(tmp_path):
    async with studio_client(tmp_path) as (studio, client):
        assert (await ask(client, "cross_lingual")).status_code == 200
        assert studio.engine.prepared[-1].transcript == "Some words."
        assert studio.transcriber.heard == 1


async def test_instructions_that_are_ignored_are_warned_of(tmp_path):
    async with studio_client(tmp_path) as (_, client):
        response = await ask(client, "instruct")
        assert "cannot follow instructions" in response.headers["x-polyvox-warning"]


async def test_a_registered_voice_is_a_speaker_for_its_owner(tmp_path):
    async with studio_client(tmp_path, api_keys=["anna", "ben"]) as (studio, client):
        client.headers["Authorization"] = "Bearer anna"
        form = {"name": "mine", "transcript": "My words."}
        assert (await client.post("/v1/voices", data=form, files={"audio": sample(1)})).status_code == 201
        assert (await ask(client, "sft", SFT | {"spk_id": "mine"})).status_code == 200
        assert studio.engine.prepared[-1].transcript == "My words."
        assert (await client.get("/speakers")).json()[:3] == ["low", "high", "mine"]
        client.headers["Authorization"] = "Bearer ben"
        refused = await ask(client, "sft", SFT | {"spk_id": "mine"})
        assert refused.status_code == 400
        assert "mine" in detail_of(refused)
        assert "mine" not in (await client.get("/speakers")).json()


@pytest.mark.parametrize("mode", MODES)
async def test_every_field_is_required(door, mode):
    studio, client = door
    for missing in MODES[mode]:
        for fields in ({**MODES[mode], missing: ""}, {k: v for k, v in MODES[mode].items() if k != missing}):
            refused = await ask(client, mode, fields)
            assert refused.status_code == 422
            assert detail_of(refused) == f"'{missing}' is required."
    assert (await client.get(f"/inference_{mode}")).status_code == 422
    if mode in WITH_RECORDING:
        refused = await ask(client, mode, files=None)
        assert (refused.status_code, "prompt_wav" in detail_of(refused)) == (422, True)
    assert studio.engine.heard == []


@pytest.mark.parametrize(
    ("mode", "fields", "files", "status"),
    [
        ("sft", SFT | {"spk_id": "中文人"}, None, 400),
        ("sft", SFT | {"spk_id": "../low"}, None, 400),
        ("sft", SFT | {"tts_text": " "}, None, 400),
        ("sft", SFT | {"tts_text": "a" * 100_001}, None, 400),
        ("sft", SFT | {"tts_text": "nul\0"}, None, 422),
        ("sft", SFT | {f"field{number}": "x" for number in range(50)}, None, 400),
        ("zero_shot", ZERO_SHOT, {"prompt_wav": ("a.wav", b"")}, 400),
        ("zero_shot", ZERO_SHOT, {"prompt_wav": ("a.txt", b"just words")}, 400),
        ("zero_shot", ZERO_SHOT, {"audio": ("a.wav", sample(1))}, 422),
        ("zero_shot", ZERO_SHOT | {"prompt_text": "x" * 10_000}, WAV, 422),
        ("zero_shot", ZERO_SHOT | {"prompt_text": "  "}, WAV, 400),
        ("zero_shot", ZERO_SHOT | {"prompt_text": FRAME}, WAV, 400),
        ("cross_lingual", None, {"prompt_wav": ("a.wav", b"")}, 400),
        ("instruct2", None, {"prompt_wav": ("a.wav", b"\xff")}, 400),
    ],
)
async def test_bad_input_is_refused_in_its_own_form_and_leaves_nothing(door, mode, fields, files, status):
    studio, client = door
    refused = await ask(client, mode, fields, files=files)
    assert refused.status_code == status, refused.text
    detail_of(refused)
    assert studio.engine.speaking == 0
    assert "polyvox_active_sessions 0.0" in (await client.get("/metrics")).text
    assert (await ask(client, "sft")).status_code == 200


@pytest.mark.parametrize("body", [b"tts_text=%ff&spk_id=low", b"\xff\xfe", b"&" * 1_000, b"tts_text=a&tts_text=b"])
async def test_broken_forms_are_refused(door, body):
    _, client = door
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    refused = await client.post("/inference_sft", content=body, headers=headers)
    assert refused.status_code in (400, 422)
    detail_of(refused)


@pytest.mark.long
async def test_a_model_that_cannot_clone_says_so(tmp_path):
    async with studio_client(tmp_path, ToneEngine()) as (_, client):
        for mode in WITH_RECORDING:
            refused = await ask(client, mode)
            assert refused.status_code == 400
            assert "cannot clone voices" in detail_of(refused)
        assert (await ask(client, "sft")).status_code == 200


async def test_keys_limits_and_the_queue_hold_here_too(tmp_path):
    limits = {"api_keys": ["key"], "max_body_bytes": 2_000, "prompt_max_bytes": 60_000, "max_sessions": 1}
    async with studio_client(tmp_path, WordlessEngine(), max_queue=0, **limits) as (studio, client):
        refused = await ask(client, "sft")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        detail_of(refused)
        client.headers["Authorization"] = "Bearer key"
        refused = await ask(client, "zero_shot", files={"prompt_wav": ("a.wav", b" " * 90_000)})
        assert refused.status_code == 413
        detail_of(refused)
        session = await studio.speech.open(SpeechRequest(Utterance("Hello.", "low")), LOCAL_CALL)
        refused = await ask(client, "sft")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        detail_of(refused)
        async with session:
            pass
        assert (await ask(client, "sft")).status_code == 200
        assert (await client.put("/inference_sft")).status_code == 405


async def test_pages_of_other_origins_may_speak_only_where_cors_allows(tmp_path):
    foreign = {"Origin": "https://page.example"}
    async with studio_client(tmp_path) as (_, client):
        refused = await client.post("/inference_sft", data=SFT, headers=foreign)
        assert refused.status_code == 403
        detail_of(refused)
    async with called(tone_service(cors_origins=["https://page.example"])) as client:
        answer = await client.post("/inference_sft", data=SFT, headers=foreign)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "https://page.example")


async def test_synthesize_takes_a_recording_inline_or_from_a_listed_folder(tmp_path):
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "voice.wav").write_bytes(sample(1))
    carried = f"base64+{base64.b64encode(sample(1)).decode()}"
    engine = WordlessEngine(instructions=True)
    async with studio_client(tmp_path / "voices", engine, recording_dirs=[folder]) as (studio, client):
        for audio in (str(folder / "voice.wav"), "voice.wav", carried):
            spoken = await client.post(
                "/synthesize", json={"text": "Hello.", "prompt_audio": audio, "prompt_text": "Some."}
            )
            assert spoken.status_code == 200, spoken.text
            assert float(spoken.headers["x-audio-duration"]) == pytest.approx(0.3)
            assert studio.engine.heard[-1].prepared is not None
        assert [prompt.transcript for prompt in studio.engine.prepared] == ["Some."]
        await client.post("/synthesize", json={"text": "Hello.", "prompt_audio": carried, "speaker": "Gently."})
        assert studio.engine.heard[-1].instructions == "Gently."
        assert studio.engine.prepared[-1].transcript == ""


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"text": None}, 400),
        ({"text": ""}, 400),
        ({"speed": 0}, 400),
        ({"speed": 1e9}, 400),
        ({"speed": "fast"}, 400),
        ({"speed": -1}, 400),
        ({"speaker": "nobody"}, 400),
        ({"prompt_audio": "/etc/passwd"}, 400),
        ({"prompt_audio": "base64+!"}, 400),
        ({"prompt_audio": "url+https://host.example/1", "prompt_text": "x" * 10_000}, 400),
    ],
)
async def test_synthesize_refuses_in_the_rust_servers_form(door, change, status):
    _, client = door
    refused = await client.post("/synthesize", json={"text": "Hello.", "speaker": "low"} | change)
    assert refused.status_code == status
    assert set(refused.json()) == {"error", "code"}
    assert refused.json()["code"] == status
    assert "passwd" not in refused.text


async def test_a_model_that_is_missing_is_unavailable_in_every_form():
    async with called(tone_service(ToneEngine(start_error=missing_bundle()))) as client:
        speakers = await client.get("/speakers")
        assert (speakers.status_code, speakers.json()["code"]) == (501, 501)
        assert "polyvox pull" in speakers.json()["error"]
        refused = await ask(client, "sft")
        assert (refused.status_code, "polyvox pull" in detail_of(refused)) == (501, True)


async def test_its_metric_names_stand_beside_ours(door):
    _, client = door
    await client.post("/synthesize", json={"text": "Hello.", "speaker": "low"})
    await client.post("/synthesize", json={"text": "Hello.", "speaker": "nobody"})
    await client.post("/synthesize", json={"text": "", "speaker": "low"})
    await client.post("/synthesize", content=b"no JSON", headers={"Content-Type": "application/json"})
    await client.get("/speakers")
    text = (await client.get("/metrics")).text
    samples = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("tts_") and not sample.name.endswith("_bucket")
    }
    assert samples["tts_requests_total"] == 4.0
    assert samples["tts_requests_success"] == 1.0
    assert samples["tts_requests_error"] == 3.0
    assert samples["tts_synthesis_duration_seconds_count"] == 1.0
    assert samples["tts_rtf_count"] == 1.0
    assert samples["tts_rtf_sum"] > 0.0
    assert 'polyvox_requests_total{door="cosyvoice",model="tone"} 3.0' in text
    assert 'polyvox_requests_total{door="cosyvoice",model="unknown"} 1.0' in text


async def test_every_speaker_of_the_list_is_accepted():
    aliases = ["中文女=low", "英文女=nobody"]
    async with called(tone_service(voice_aliases=aliases, openai_voices=["alloy=high"])) as client:
        speakers = (await client.get("/speakers")).json()
        answers = [await ask(client, "sft", SFT | {"spk_id": speaker}) for speaker in speakers]
    assert speakers == ["low", "high", "alloy", "中文女"]
    assert [answer.status_code for answer in answers] == [200] * 4


@pytest.mark.parametrize(("kind", "magic"), [("mp3", b"ID3"), ("flac", b"fLaC"), ("wav", b"RIFF")])
async def test_a_format_a_seed_and_a_model_may_be_asked_for(door, kind, magic):
    studio, client = door
    wanted = {"response_format": kind, "seed": "7", "model": "tone"}
    answer = await ask(client, "sft", SFT | wanted)
    assert (answer.status_code, answer.content[: len(magic)]) == (200, magic)
    assert studio.engine.heard[-1].seed == 7
    answer = await client.post("/synthesize", json={"text": "Hello.", **wanted, "seed": 8})
    assert (answer.status_code, answer.content[: len(magic)]) == (200, magic)
    assert studio.engine.heard[-1].seed == 8
    for wrong in ({"response_format": "tape"}, {"seed": "-1"}, {"model": "nobody"}):
        assert (await ask(client, "sft", SFT | wrong)).status_code in (400, 404, 422)


async def test_a_recording_in_bare_base64_is_recognised(door):
    studio, _ = door
    recording = bytes(range(256)) * 8
    bare = base64.b64encode(recording).decode()
    for written in (bare, f"base64+{bare}"):
        assert (await read_recording(written, studio.speech.settings, "prompt_audio")).data == recording
    with pytest.raises(PolyvoxError):
        await read_recording("/etc/passwd", studio.speech.settings, "prompt_audio")


async def test_the_refusal_of_an_unknown_voice_names_those_that_there_are(door):
    _studio, client = door
    await client.post("/v1/voices", data={"name": "anna", "transcript": "Hi."}, files={"audio": sample(1)})
    refused = await ask(client, "sft", SFT | {"spk_id": "nobody"})
    assert refused.status_code == 400
    assert "There is no voice 'nobody'; use one of low, high, anna, af_" in detail_of(refused)


async def test_a_speaker_of_a_language_that_the_model_does_not_speak_is_refused_and_not_listed(tmp_path):
    """Unless the settings give the name to a voice of their own."""
    aliases = ["韩语女=zf_xiaoyi", "粤语女=low", "英文女=af_heart"]
    async with studio_client(tmp_path, CloneEngine(), voice_aliases=aliases) as (_studio, client):
        speakers = (await client.get("/speakers")).json()
        refused = await ask(client, "sft", SFT | {"spk_id": "韩语女"})
        spoken = [await ask(client, "sft", SFT | {"spk_id": name}) for name in ("粤语女", "英文女")]
    assert refused.status_code == 400
    assert "'ko', which the model 'tone' does not speak" in detail_of(refused)
    assert [answer.status_code for answer in spoken] == [200, 200]
    assert ("韩语女" in speakers, "粤语女" in speakers, "英文女" in speakers) == (False, True, True)


@pytest.mark.parametrize(("engine", "status"), [(WordlessEngine, 200), (CloneEngine, 501)])
async def test_a_voice_registered_without_a_transcript_speaks_where_none_is_needed(tmp_path, engine, status):
    async with studio_client(tmp_path, engine()) as (studio, client):
        studio.transcriber.error = NotServedError("This server needs another model; run: polyvox pull moonshine-base")
        registered = await client.post("/v1/voices", data={"name": "anna"}, files={"audio": sample(1)})
        assert registered.status_code == 201, registered.text
        spoken = await ask(client, "sft", SFT | {"spk_id": "anna"})
    assert spoken.status_code == status, spoken.text
    if status == 200:
        assert studio.engine.prepared[-1].transcript == ""


async def test_a_voice_that_was_fitted_for_the_model_is_listed_and_accepted(tmp_path):
    class Styled(CloneEngine):
        capabilities = ToneEngine.capabilities

        def voice_from_style(self, mix, offset, language):
            return PreparedVoice("tone", "", {})

    async with studio_client(tmp_path, Styled()) as (studio, client):
        fits = fitting_service(studio.speech.settings, studio.voices, ScriptedFits(model="tone"))
        started = await fits.start(
            InlineVoice(sample(1)), VoiceDetails.checked(name="anna", consent=True), SHARED_OWNER
        )
        await fits.finished(started, lambda job: None, every=0.01)
        await client.post("/v1/voices", data={"name": "bert", "transcript": "Hi."}, files={"audio": sample(2)})
        speakers = (await client.get("/speakers")).json()
        spoken = [await ask(client, "sft", SFT | {"spk_id": name}) for name in ("anna", "bert")]
    assert speakers[:3] == ["low", "high", "anna"]
    assert "bert" not in speakers
    assert [answer.status_code for answer in spoken] == [200, 400]
