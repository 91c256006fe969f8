"""The rule of consent at every door, below which it stands, and its record."""

import base64
from dataclasses import replace

import pytest

from helpers.cloning import Studio, sample, studio_client
from polyvox.errors import ForbiddenError, InvalidRequestError
from polyvox.service.voices.consent import CONSENT_HEADER, calling
from polyvox.voices.consents import ConsentRecord
from polyvox.voices.records import VoiceDetails
from polyvox.voices.references import InlineVoice, UrlVoice

pytestmark = pytest.mark.anyio

ENCODED = base64.b64encode(sample(1)).decode()
STATED = {CONSENT_HEADER: "By letter of 3 March."}
PROMPT_CALLS = {
    "a recording in base64": ("/v1/audio/speech", {"json": {"input": "Hello.", "voice": f"base64+{ENCODED}"}}),
    "a recording by URL": (
        "/v1/audio/speech",
        {"json": {"input": "Hello.", "voice": "url+https://host.example/1"}},
    ),
    "CosyVoice's form": (
        "/inference_zero_shot",
        {
            "data": {"tts_text": "Hello.", "prompt_text": "The tide."},
            "files": {"prompt_wav": ("a.wav", sample(1))},
        },
    ),
}
VOICE_CALLS = {
    "Polyvox": ("/v1/voices", {"json": {"name": "Anna", "transcript": "The tide.", "audio": ENCODED}}),
    "ElevenLabs": ("/v1/voices/add", {"data": {"name": "Bert"}, "files": {"files": ("a.wav", sample(1))}}),
    "Cartesia": ("/voices/clone", {"data": {"name": "Carl"}, "files": {"clip": ("a.wav", sample(1))}}),
    "OpenAI": ("/v1/audio/voices", {"data": {"name": "Dora"}, "files": {"audio_sample": ("a.wav", sample(1))}}),
}


def headers(door: str) -> dict[str, str]:
    """Those by which a door knows its clients."""
    return {"xi-api-key": "secret"} if door == "ElevenLabs" else {}


async def test_every_door_refuses_a_recording_without_the_consent_that_is_required(tmp_path):
    async with studio_client(tmp_path, consent="required") as (_, client):
        for name, (path, call) in {**PROMPT_CALLS, **VOICE_CALLS}.items():
            refused = await client.post(path, **call, headers=headers(name))
            assert refused.status_code in (400, 422), f"{name}: {refused.text}"
            assert CONSENT_HEADER in refused.text, name
            denied = await client.post(path, **call, headers=headers(name) | {CONSENT_HEADER: "no"})
            assert denied.status_code in (400, 422), f"{name}: {denied.text}"


async def test_every_door_takes_the_header(tmp_path):
    async with studio_client(tmp_path, consent="required") as (studio, client):
        for name, (path, call) in {**PROMPT_CALLS, **VOICE_CALLS}.items():
            accepted = await client.post(path, **call, headers=headers(name) | STATED)
            assert accepted.status_code in (200, 201), f"{name}: {accepted.text}"
        (voice,) = [each for each in (await client.get("/v1/voices")).json()["data"] if each["name"] == "Anna"]
        assert (voice["consent"], voice["consent_note"]) == (True, STATED[CONSENT_HEADER])
        entries = studio.voices.consent.entries.entries()
        assert {entry.note for entry in entries} == {STATED[CONSENT_HEADER]}
        assert {entry.client for entry in entries} == {"127.0.0.1"}
        assert {entry.voice for entry in entries if entry.voice} >= {voice["id"]}
        assert any(not entry.voice for entry in entries)


async def test_recordings_pass_without_a_statement_unless_it_is_required(tmp_path):
    for rule in ("asked", "trusted"):
        async with studio_client(tmp_path / rule, consent=rule) as (studio, client):
            for name, (path, call) in {**PROMPT_CALLS, **VOICE_CALLS}.items():
                accepted = await client.post(path, **call, headers=headers(name))
                assert accepted.status_code in (200, 201), f"{rule}, {name}: {accepted.text}"
            assert not any(entry.stated for entry in studio.voices.consent.entries.entries())


async def test_a_header_that_cannot_be_kept_is_refused(tmp_path):
    async with studio_client(tmp_path) as (_, client):
        refused = await client.get("/v1/voices", headers={CONSENT_HEADER: "x" * 5_000})
        assert (refused.status_code, CONSENT_HEADER in refused.text) == (400, True)


async def test_a_voice_without_consent_does_not_speak_where_it_is_required(tmp_path):
    async with studio_client(tmp_path) as (_, client):
        made = (await client.post("/v1/voices", **VOICE_CALLS["Polyvox"][1])).json()
    async with studio_client(tmp_path, consent="required") as (studio, client):
        call = {"json": {"input": "Hello.", "voice": made["id"]}}
        assert (await client.post("/v1/audio/speech", **call)).status_code == 403
        stated = await client.patch(f"/v1/voices/{made['id']}", json={"consent": True, "consent_note": "Asked."})
        assert stated.status_code == 200, stated.text
        assert (await client.post("/v1/audio/speech", **call)).status_code == 200
        assert studio.voices.consent.entries.entries()[-1].note == "Asked."


async def test_a_fit_asks_unless_the_operator_vouches_for_all_recordings(tmp_path):
    details = VoiceDetails.checked(name="Anna")
    for rule, always, refused in (
        ("trusted", True, False),
        ("asked", True, True),
        ("asked", False, False),
        ("required", False, True),
    ):
        consent = Studio(tmp_path / rule, consent=rule).voices.consent
        if refused:
            with pytest.raises(InvalidRequestError, match="consent"):
                consent.checked(details, always=always)
        else:
            assert consent.checked(details, always=always) == details
        stated = consent.checked(replace(details, consent=True), always=always)
        assert stated.consent


async def test_a_statement_ends_with_its_call(tmp_path):
    studio = Studio(tmp_path, consent="required")
    await studio.speech.start()
    with calling("10.0.0.1", "Asked."):
        studio.voices.consent.check_prompt()
    for reference in (InlineVoice(sample(1)), UrlVoice("https://host.example/1")):
        with pytest.raises(InvalidRequestError, match=CONSENT_HEADER):
            await studio.voices.resolver.resolve(reference, "")
    with pytest.raises(InvalidRequestError, match=CONSENT_HEADER):
        studio.voices.resolver.from_codes([1, 2], "Words.")
    await studio.speech.close()


async def test_a_voice_of_nobody_needs_no_consent(tmp_path):
    studio = Studio(tmp_path, consent="required")
    style = {"mix": {"model": "tone", "base": "low"}}
    details = VoiceDetails.checked(name="Mix", transcript="Words.")
    record = (await studio.voices.register(InlineVoice(sample(1)), details, "", style=style)).record
    studio.voices.consent.check_use(record)
    with pytest.raises(ForbiddenError, match="consent"):
        studio.voices.consent.check_use(replace(record, report={}))
    await studio.voices.close()


def test_the_record_keeps_the_first_of_equal_entries_and_the_newest_prompts(tmp_path):
    times = iter(range(100))
    record = ConsentRecord(tmp_path, clock=lambda: float(next(times)), max_prompts=2)
    assert (record.entries(), record.forget("a")) == ([], 0)
    for recording, voice in (("a", ""), ("a", ""), ("b", "voice_1"), ("c", ""), ("d", "")):
        record.add("owner", "::1", recording, voice, "Asked.")
    assert [(entry.recording, entry.at) for entry in record.entries()] == [("b", 2.0), ("c", 3.0), ("d", 4.0)]
    assert record.forget("b") == 1
    assert [entry.recording for entry in record.entries()] == ["c", "d"]
    assert all(b"voice_1" not in path.read_bytes() for path in tmp_path.iterdir())
