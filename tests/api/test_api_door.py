"""A dialect is one `Door`: whatever it declares holds, and nothing else in the server has to know it."""

from dataclasses import replace
from importlib.resources import files
from typing import ClassVar

import pytest
from fastapi import APIRouter, Request
from pydantic import Field

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.api.body_format import BodyFormat, audio_body
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.door import Door
from polyvox.api.doors import DOORS
from polyvox.api.paths import PathTable
from polyvox.api.refusals import Refusal
from polyvox.api.requests.fields import RequestBody, Text
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.requests.speech_requests import speech_request
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.config import SettingsSection
from polyvox.installation import settings_loader
from polyvox.service.keys.operations import Operation
from polyvox.service.speech_request import SpeechRequest
from polyvox.settings_loader import ForeignVariables

MODULES = (
    "app",
    "dependencies",
    "door",
    "errors",
    "paths",
    "refusals",
    "requests/body",
    *(f"middleware/{name}" for name in ("auth", "hosts", "key_lifetime", "key_sources", "origins", "route_operations")),
    "middleware/size_limit",
)


class ParrotSettings(SettingsSection):
    """Defaults of the dialect."""

    section: ClassVar[str] = "parrot"

    voice: str = Field("low", description="Voice for its requests that name none.")


class ParrotBody(RequestBody):
    """A request in the dialect's words."""

    words: Text
    bird: str | None = None


router = APIRouter(prefix="/parrot", tags=["Parrot"])


@router.post("/say")
async def say(body: ParrotBody, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    speech = SpeechBody(input=body.words, voice=body.bird or service.settings.section(ParrotSettings).voice)
    request = await speech_request(speech, "parrot", service, voices, owner)
    return SpeechResponse(service, request, audio_body(AudioFormat.PCM, stream=False))


@router.post("/weigh")
async def weigh(request: Request) -> dict[str, int]:
    return {"bytes": len(await request.body())}


@router.get("/alive")
async def alive() -> dict[str, bool]:
    return {"alive": True}


def squawk(refusal: Refusal) -> tuple[int, dict[str, object]]:
    return 418, {"squawk": refusal.message, "at": refusal.field}


class RepeatedBody(SpeechBody):
    """The text twice, as a WAV file."""

    @property
    def body_format(self) -> BodyFormat:
        return audio_body(AudioFormat.WAV, stream=False)

    def speech_request(self, door: str) -> SpeechRequest:
        request = super().speech_request("parrot")
        return replace(request, utterance=replace(request.utterance, seed=7))


def claim(body: SpeechBody, settings: object) -> SpeechBody | None:
    """Requests for the model `parrot` are this dialect's."""
    if body.model != "parrot":
        return None
    changes = {"model": None, "input": f"{body.input} {body.input}"}
    return RepeatedBody.model_construct(body.model_fields_set, **dict(body) | changes)


PARROT = Door(
    "parrot",
    router,
    tags={"Parrot": "It repeats what it hears."},
    settings=ParrotSettings,
    foreign=ForeignVariables("the parrot's", {"parrot_voice": "bird"}),
    wordings={"/parrot/*": squawk},
    field_names={"/parrot/say": {"input": "words", "voice": "bird"}},
    recordings=["/parrot/weigh"],
    public=["/parrot/alive"],
    headers=["X-Feathers"],
    adapter=claim,
    operations={"POST /parrot/*": Operation.SPEAK, "GET /parrot/alive": Operation.PROBE},
)
WITH_PARROT = (*DOORS, PARROT)


def calling(**settings):
    return called(tone_service(**settings), doors=WITH_PARROT)


def test_its_routes_are_not_built_again_when_the_first_request_comes():
    app = create_app(tone_service(), doors=WITH_PARROT)
    assert {id(route) for route in PARROT.router.routes} <= {id(route) for route in app.routes}


@pytest.mark.long
@pytest.mark.anyio
async def test_its_routes_are_served_and_shown_with_its_text():
    async with calling() as client:
        spoken = await client.post("/parrot/say", json={"words": "Hello."})
        pages = (await client.get("/openapi.json")).json()
    assert spoken.headers["content-type"] == AudioFormat.PCM.media_type
    assert pages["paths"]["/parrot/say"]["post"]["security"] == [{"HTTPBearer": []}]
    assert {"name": "Parrot", "description": "It repeats what it hears."} in pages["tags"]


@pytest.mark.anyio
async def test_its_errors_have_its_wording_and_its_names_of_fields():
    async with calling() as client:
        missing = await client.post("/parrot/say", json={})
        unknown = await client.post("/parrot/say", json={"words": "Hello.", "bird": "nobody"})
        empty = await client.post("/parrot/say", json={"words": "+ = +"})
        nowhere = await client.get("/parrot/nothing")
        elsewhere = await client.get("/nothing")
    assert missing.json() == {"squawk": "'words' is required.", "at": "words"}
    assert unknown.json()["at"] == "bird"
    assert empty.json()["at"] == "words"
    assert nowhere.json() == {"squawk": "There is nothing at /parrot/nothing; /docs lists what there is.", "at": None}
    assert {answer.status_code for answer in (missing, unknown, empty, nowhere)} == {418}
    assert error_of(elsewhere)["code"] == "not_found"


@pytest.mark.anyio
async def test_its_paths_for_recordings_take_larger_bodies():
    async with calling(max_body_bytes=1_024, prompt_max_bytes=3_072) as client:
        assert (await client.post("/parrot/weigh", content=b" " * 5_120)).json() == {"bytes": 5_120}
        assert (await client.post("/parrot/weigh", content=b" " * 5_121)).status_code == 418
        assert (await client.post("/parrot/say", content=b" " * 1_025)).json()["squawk"].startswith("The body is over")


@pytest.mark.anyio
async def test_its_public_paths_need_no_key_and_others_do():
    async with calling(api_keys=["key"]) as client:
        assert (await client.get("/parrot/alive")).json() == {"alive": True}
        refused = await client.post("/parrot/say", json={"words": "Hello."})
    assert "key" in refused.json()["squawk"]


@pytest.mark.anyio
async def test_its_headers_are_readable_by_pages():
    async with called(
        tone_service(cors_origins=["https://page.example"]),
        doors=WITH_PARROT,
        headers={"Origin": "https://page.example"},
    ) as client:
        exposed = (await client.get("/parrot/alive")).headers["access-control-expose-headers"]
    assert "X-Feathers" in exposed
    assert "X-Session-Id" in exposed


@pytest.mark.anyio
async def test_it_claims_its_own_requests_among_those_for_speech():
    engine = ToneEngine()
    async with called(tone_service(engine), doors=WITH_PARROT) as client:
        claimed = await client.post("/v1/audio/speech", json={"model": "parrot", "input": "Hello."})
        other = await client.post("/v1/audio/speech", json={"model": "tone", "input": "Hello."})
        metrics = (await client.get("/metrics")).text
    assert claimed.headers["content-type"] == AudioFormat.WAV.media_type
    assert other.headers["content-type"] == AudioFormat.MP3.media_type
    assert 'door="parrot"' in metrics
    assert [(heard.text, heard.seed) for heard in engine.heard] == [("Hello. Hello.", 7), ("Hello.", None)]


def test_its_settings_are_loaded_by_its_own_and_by_the_other_servers_names(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    loader = settings_loader(doors=WITH_PARROT)
    assert loader.load().section(ParrotSettings).voice == "low"
    monkeypatch.setenv("BIRD", "high")
    assert loader.load().section(ParrotSettings).voice == "high"
    monkeypatch.setenv("POLYVOX_PARROT_VOICE", "mid")
    assert loader.load().section(ParrotSettings).voice == "mid"


@pytest.mark.anyio
async def test_its_settings_reach_its_routes():
    engine = ToneEngine()
    service = tone_service(engine)
    service.settings = service.settings.with_section(ParrotSettings(voice="high"))
    async with called(service, doors=WITH_PARROT) as client:
        await client.post("/parrot/say", json={"words": "Hello."})
    assert engine.heard[0].voice == "high"


@pytest.mark.long
def test_without_it_the_server_knows_nothing_of_it():
    app = create_app(tone_service())
    assert not [path for path in app.openapi()["paths"] if "parrot" in path]


@each_row("module", MODULES)
def test_what_all_doors_share_names_no_dialect(module):
    text = (files("polyvox.api") / f"{module}.py").read_text(encoding="utf-8").lower()
    dialects = {door.name for door in DOORS} - {
        "voices",
        "fitting",
        "conversion",
        "dialogue",
        "jobs",
        "provenance",
        "pulls",
    }
    assert not [name for name in dialects if name in text]


def test_a_whole_path_wins_over_a_prefix_and_a_longer_prefix_over_a_shorter():
    table = PathTable([("/a*", 1), ("/a/b*", 2), ("/a/b/c", 3), ("/d", 4)], default=0)
    assert [table[path] for path in ("/a", "/ab", "/a/b", "/a/b/cd", "/a/b/c", "/d", "/d/e", "/")] == [
        1, 1, 2, 2, 3, 4, 0, 0
    ]  # fmt: skip
