"""Voices that speak at once: a recording without a transcript, on a server whose default model does not clone."""

import base64
from dataclasses import replace

import httpx
import pytest

from helpers.cloning import CloneEngine, Studio, sample, studio_client
from helpers.fakes import ToneEngine
from polyvox.errors import NotServedError, PromptError
from polyvox.types import Capabilities

pytestmark = pytest.mark.anyio

XI = {"xi-api-key": "secret"}
CARTESIA_OUTPUT = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}


class GermanEngine(CloneEngine):
    """Clones voices that speak German."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, languages=frozenset({"de"}))


class Server:
    """The models of one server: the default one has voices of its own, the others clone."""

    def __init__(self, studio: Studio, client: httpx.AsyncClient, cloning: dict[str, CloneEngine]) -> None:
        self.studio, self.client, self.cloning = studio, client, cloning

    @property
    def speaker(self) -> str:
        """The model that has spoken with a voice of the caller's, and of them the only one."""
        (name,) = (name for name, engine in self.cloning.items() if engine.heard)
        return name


@pytest.fixture
async def server(tmp_path):
    """A server that cannot transcribe, with models for English, one of which needs a transcript, and for German."""
    cloning = {
        "worded": CloneEngine("worded"),
        "english": CloneEngine("english", wordless=True),
        "german": GermanEngine("german", wordless=True),
    }
    engines = {"tone": ToneEngine()} | cloning
    factories = {name: lambda _, engine=engine: engine for name, engine in engines.items()}
    async with studio_client(tmp_path, engines["tone"], factories=factories, models=list(engines)) as (studio, client):
        studio.transcriber.error = NotServedError("run: polyvox pull moonshine-base")
        yield Server(studio, client, cloning)


async def made(client: httpx.AsyncClient, path: str, part: str, headers: dict[str, str], **form: str) -> dict:
    answer = await client.post(path, data={"name": "Anna", **form}, files={part: ("a.wav", sample(1))}, headers=headers)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def test_what_every_door_makes_speaks_there_without_a_transcript_or_a_model(server):
    client = server.client
    doors = {
        "polyvox": ("/v1/voices", "audio", {}),
        "openai": ("/v1/audio/voices", "audio_sample", {}),
        "elevenlabs": ("/v1/voices/add", "files", XI),
        "cartesia": ("/voices/clone", "clip", {}),
    }
    for number, (door, (path, part, headers)) in enumerate(doors.items()):
        voice = await made(client, path, part, headers, name=door)
        voice_id = voice.get("voice_id") or voice["id"]
        assert not voice.get("warnings"), door
        asked = {
            "polyvox": ("/v1/audio/speech", {"input": "Hello.", "voice": door}),
            "openai": ("/v1/audio/speech", {"model": "tts-1", "input": "Hello.", "voice": {"id": voice_id}}),
            "elevenlabs": (f"/v1/text-to-speech/{voice_id}", {"text": "Hello.", "model_id": "eleven_multilingual_v2"}),
            "cartesia": (
                "/tts/bytes",
                {
                    "model_id": "sonic-3",
                    "transcript": "Hello.",
                    "voice": {"mode": "id", "id": voice_id},
                    "output_format": CARTESIA_OUTPUT,
                },
            ),
        }[door]
        spoken = await client.post(asked[0], json=asked[1], headers=headers)
        assert (spoken.status_code, server.speaker) == (200, "english"), (door, spoken.text)
        assert len(server.cloning["english"].heard) == number + 1
        assert server.cloning["english"].prepared[-1].transcript == ""
    assert not server.studio.engine.heard


async def test_a_recording_in_a_request_speaks_without_a_transcript_or_a_model(server):
    voice = {"voice": f"data:audio/wav;base64,{base64.b64encode(sample(1)).decode()}"}
    spoken = await server.client.post("/v1/audio/speech", json={"input": "Hello.", **voice})
    assert (spoken.status_code, server.speaker) == (200, "english"), spoken.text


async def test_a_dialogue_with_a_recorded_voice_goes_to_a_model_that_clones(server):
    await made(server.client, "/v1/voices", "audio", {})
    voices = ("low", "Anna")
    turns = {"turns": [{"voice": voice, "text": "Hello."} for voice in voices]}
    inputs = {"inputs": [{"voice_id": voice, "text": "Hello."} for voice in voices], "model_id": "eleven_v3"}
    for path, body in (("/v1/audio/dialogue", turns), ("/v1/text-to-dialogue", inputs)):
        spoken = await server.client.post(path, json=body, headers=XI)
        assert (spoken.status_code, server.speaker) == (200, "english"), (path, spoken.text)
        server.cloning["english"].heard.clear()
    refused = await server.client.post("/v1/audio/dialogue", json={"model": "tone", **turns})
    assert refused.status_code == 400
    assert not server.studio.engine.heard
    own = {"turns": [{"voice": "low", "text": "Hello."}, {"voice": "high", "text": "Hello."}]}
    assert (await server.client.post("/v1/audio/dialogue", json=own)).status_code == 200
    assert not any(engine.heard for engine in server.cloning.values())


async def test_the_language_of_the_recording_or_of_the_request_chooses_the_model(server):
    await made(server.client, "/v1/voices", "audio", {}, language="de")
    assert (await server.client.post("/v1/audio/speech", json={"input": "Hallo.", "voice": "Anna"})).status_code == 200
    assert server.speaker == "german"
    server.cloning["german"].heard.clear()
    english = {"input": "Hello.", "voice": "Anna", "lang_code": "en-us"}
    assert (await server.client.post("/v1/audio/speech", json=english)).status_code == 200
    assert server.speaker == "english"


async def test_a_model_that_is_named_is_kept_and_own_voices_stay_with_the_default_one(server):
    await made(server.client, "/v1/voices", "audio", {})
    refused = await server.client.post("/v1/audio/speech", json={"input": "Hello.", "voice": "Anna", "model": "tone"})
    assert refused.status_code == 400
    assert "use one of worded, english, german" in refused.text
    for voice in ("high", "low", None):
        body = {"input": "Hello."} | ({"voice": voice} if voice else {})
        assert (await server.client.post("/v1/audio/speech", json=body)).status_code == 200
    assert not any(engine.heard for engine in server.cloning.values())


async def test_a_recording_without_recognisable_words_is_registered(server):
    server.studio.transcriber.error = None
    server.studio.transcriber.words = ""
    voice = await made(server.client, "/v1/voices", "audio", {})
    assert (voice["transcript"], voice["transcription"]) == ("", "none")


async def test_registered_voices_are_listed_though_another_model_speaks_them(server):
    voice = await made(server.client, "/v1/voices", "audio", {})
    lists = {"/v1/audio/voices": ("voices", "id"), "/voices": ("data", "id"), "/v2/voices": ("voices", "voice_id")}
    for path, (field, key) in lists.items():
        listed = (await server.client.get(path, headers=XI, params={"limit": 100})).json()[field]
        assert voice["id"] in [each[key] for each in listed], path
    named = (await server.client.get("/v1/audio/voices", params={"model": "tone"})).json()["voices"]
    assert voice["id"] not in [each["id"] for each in named]


async def test_where_every_model_needs_words_a_recording_without_them_is_refused(tmp_path):
    async with studio_client(tmp_path, CloneEngine()) as (studio, client):
        studio.transcriber.error = PromptError("No words.")
        form = {"data": {"name": "Anna", "language": "de"}, "files": {"audio": ("a.wav", sample(1))}}
        refused = await client.post("/v1/voices", **form)
        assert refused.status_code == 400
        assert "No words." in refused.text
