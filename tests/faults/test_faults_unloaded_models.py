"""Lists of voices while a model is installed and not loaded: every door shows its voices, and none loads it."""

import asyncio
from typing import Any

import httpx
import pytest

from helpers.client_environment import run_client
from helpers.fakes import ToneEngine, tone_settings
from helpers.serving import called
from helpers.wyoming import served_wyoming
from polyvox.api.dialects.grpc.schema import message_type
from polyvox.api.dialects.grpc.speech import SpeechServicer
from polyvox.api.dialects.mcp.service_backend import ServiceBackend
from polyvox.engines.spec import ModelOutline
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Voice

pytestmark = pytest.mark.anyio

VOICES = (Voice("low", "Low", "en-us"), Voice("high", "High", "en-gb"))
OUTLINE = ModelOutline(VOICES, frozenset({"en-us", "en-gb"}), cloning=True)
NAMES = [voice.id for voice in VOICES]
CALLERS, TURNS = 20, 10


def service(**settings: Any) -> SpeechService:
    """A service with the resident model `tone`, and `other`, which a request for speech loads."""
    chosen = tone_settings(allow_unload=True, **settings)
    factories = {"tone": lambda _: ToneEngine(), "other": lambda _: ToneEngine("other")}
    registry = Registry(chosen, factories, absence=lambda _: "", outline=lambda _: OUTLINE)
    return SpeechService(chosen, registry, Metrics())


def is_loaded(speech: SpeechService, model: str = "other") -> bool:
    return speech.registry.model(model).loaded


def test_home_assistant_finds_the_voices_of_a_model_that_is_not_loaded_and_speaks_with_them() -> None:
    async def run() -> tuple[dict[str, Any], bool, dict[str, Any], bool]:
        speech = service()
        async with served_wyoming(service=speech) as served:
            client = ("sdks", "wyoming_home_assistant.py", f"tcp://127.0.0.1:{served.port}")
            found, before = await asyncio.to_thread(run_client, *client), is_loaded(speech)
            return found, before, await asyncio.to_thread(run_client, *client, "other/high"), is_loaded(speech)

    found, before, spoken, after = asyncio.run(run())
    assert {name: sorted(voices) for name, voices in found["languages"].items()} == {
        "en-US": ["high", "low", "other/low"],
        "en-GB": ["other/high"],
    }
    assert not before
    assert spoken == {"bytes": 3 * 2 * 2_400, "whole": True}
    assert after


@pytest.mark.alone
async def test_a_flood_of_describe_loads_nothing_and_every_answer_comes_within_a_second() -> None:
    speech = service()
    async with served_wyoming(service=speech) as served:

        async def ask() -> None:
            client = await served.connect()
            for _ in range(TURNS):
                client.writer.write(b'{"type": "describe"}\n')
                async with asyncio.timeout(1):
                    info = await client.read()
                assert info is not None
                assert [voice["name"] for voice in info.data["tts"][0]["voices"]] == [*NAMES, "other/low", "other/high"]
            client.writer.close()

        await asyncio.gather(*(ask() for _ in range(CALLERS)))
        assert not is_loaded(speech)


def ids(answer: httpx.Response) -> list[str]:
    """The ids of the voices in an answer of any dialect."""
    assert answer.status_code == 200, answer.text
    body = answer.json()
    listed = body if isinstance(body, list) else body.get("voices") or body.get("data")
    return [one if isinstance(one, str) else one.get("voice_id") or one["id"] for one in listed]


class Call:
    """The part of a gRPC call that lists need."""

    owner = "somebody"


HEADERS = {"Cartesia-Version": "2025-04-16"}
LISTS = ("/v1/audio/voices", "/v1/voices", "/v2/voices", "/voices", "/speakers")


async def test_every_list_shows_a_model_that_is_not_loaded_and_costs_no_load() -> None:
    speech = service()
    async with called(speech) as client:
        assert ids(await client.get("/v1/audio/voices", params={"model": "other"})) == NAMES
        models = (await client.get("/v1/models")).json()["data"]
        assert {one["id"]: one["available"] for one in models}["other"]
        voices = VoiceService.for_service(speech)
        assert [voice.id for voice in await ServiceBackend(speech, voices).voices("other")] == NAMES
        listed = await SpeechServicer(speech, voices).voices(
            message_type("polyvox.v1.VoicesRequest")(model="other"), Call()
        )
        assert [voice.id for voice in listed.voices] == NAMES
        known = {model.id: model for model in (await SpeechServicer(speech, voices).models(None, Call())).models}
        assert (sorted(known["other"].languages), known["other"].cloning) == (["en-gb", "en-us"], True)
        assert not is_loaded(speech)
        await voices.close()


async def test_every_list_of_the_default_model_is_the_same_after_it_was_unloaded() -> None:
    speech = service()
    async with called(speech) as client:
        before = {path: ids(await client.get(path, headers=HEADERS)) for path in LISTS}
        assert all(set(NAMES) <= set(listed) for path, listed in before.items() if path != "/v1/voices"), before
        assert (await client.post("/dev/unload", params={"model": "tone"})).json()["models"] == ["tone"]
        assert {path: ids(await client.get(path, headers=HEADERS)) for path in LISTS} == before
        assert not is_loaded(speech, "tone")
