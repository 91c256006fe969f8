"""Tiny models of Qwen3-TTS behind every door: one application, called in process."""

import asyncio
import base64
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from starlette.testclient import TestClient

from helpers.grpc_clients import original_client
from helpers.openai_realtime_client import audio, connected
from helpers.tiny_qwen3tts import TINY, install, settings
from helpers.wyoming import WyomingClient
from polyvox.api.app import create_app
from polyvox.api.dialects.grpc.server import GrpcServer
from polyvox.api.dialects.wyoming.server import WyomingServer
from polyvox.audio.decode import decode
from polyvox.engines.catalog import Catalog
from polyvox.server.connection_limits import ConnectionLimits, LimitReports
from polyvox.service.local_service import build_service
from polyvox.service.voices.design_previews import DesignPreview
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.records import SHARED_OWNER

pytestmark = pytest.mark.long

CUSTOM, DESIGN, BASE = "qwen3tts-1.7b-custom-voice", "qwen3tts-1.7b-voice-design", "qwen3tts-0.6b"
SPEECH = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()
FRAME = 2 * 1920
"""Bytes of a frame in 16-bit samples."""


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server with all three kinds of model."""
    folder = tmp_path_factory.mktemp("qwen3tts")
    for model in TINY:
        install(model, folder / "models")
    chosen = settings(
        folder / "models",
        models=list(TINY),
        default_model=CUSTOM,
        data_dir=folder / "data",
        mcp=True,
        qwen3tts_max_frames=25,
    )
    service = build_service(chosen, Catalog.installed().factories)
    with TestClient(create_app(service, VoiceService.for_service(service)), base_url="http://localhost") as client:
        yield client


def spoken(client: TestClient, **fields: object) -> bytes:
    body = {"input": "One two.", "response_format": "pcm", "seed": 1, "model": CUSTOM, "max_new_tokens": 6, **fields}
    answer = client.post("/v1/audio/speech", json=body)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) >= 2 * FRAME
    assert len(answer.content) % FRAME == 0
    return answer.content


def test_openai_speaks_with_every_kind_of_model_and_follows_instructions(door: TestClient) -> None:
    for model, voice in ((CUSTOM, "vivian"), (DESIGN, "designed")):
        plain = spoken(door, model=model, voice=voice)
        told = [spoken(door, model=model, voice=voice, instructions=wish) for wish in ("Calm.", "Angry.", "Calm.")]
        assert told[0] == told[2]
        assert len({plain, *told}) == 3


def test_a_request_sets_how_codes_are_sampled(door: TestClient) -> None:
    greedy = {"temperature": 0, "subtalker_temperature": 0, "seed": None}
    assert len({spoken(door, voice="ryan", **greedy) for _ in range(2)}) == 1
    assert len({spoken(door, voice="ryan", seed=None) for _ in range(2)}) == 2
    assert len(spoken(door, voice="ryan", max_new_tokens=3, **greedy)) <= 3 * FRAME
    refused = door.post("/v1/audio/speech", json={"input": "One.", "voice": "ryan", "subtalker_top_k": 9999})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "subtalker_top_k")


def test_a_model_that_follows_no_instructions_says_so(door: TestClient) -> None:
    voice = registered(door, "told")
    answer = door.post(
        "/v1/audio/speech", json={"input": "One.", "model": BASE, "voice": voice, "instructions": "Calm."}
    )
    assert answer.status_code == 200
    assert "cannot follow instructions" in answer.headers["x-polyvox-warning"]


def registered(client: TestClient, name: str, **fields: str) -> str:
    form = {"name": name, "transcribe": "none", **fields}
    answer = client.post("/v1/voices", data=form, files={"audio": ("a.flac", SPEECH)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_voice_is_cloned_with_its_words_and_without(door: TestClient) -> None:
    with_words, without = registered(door, "worded", transcript="some words"), registered(door, "wordless")
    heard = {voice: spoken(door, model=BASE, voice=voice) for voice in (with_words, without)}
    assert len(set(heard.values())) == 2
    refused = door.post("/v1/audio/speech", json={"input": "One.", "model": CUSTOM, "voice": with_words})
    assert refused.status_code == 400
    assert BASE in refused.json()["error"]["message"]


def test_cosyvoices_paths_reach_speakers_instructions_and_clones(door: TestClient) -> None:
    said = {"tts_text": "One two."}
    by_name = {
        wish: door.post("/inference_instruct", data={**said, "spk_id": "ryan", "instruct_text": wish}).content
        for wish in ("Calm.", "Angry.")
    }
    assert all(len(audio) >= 2 * FRAME for audio in by_name.values())
    assert door.post("/inference_sft", data={**said, "spk_id": "vivian"}).status_code == 200
    refused = door.post(
        "/inference_instruct2", data={**said, "instruct_text": "Calm."}, files={"prompt_wav": ("a.flac", SPEECH)}
    )
    # These paths speak with the default model, which has speakers of its own.
    assert refused.status_code == 400
    assert "cannot clone" in refused.text


def test_elevenlabs_designs_a_voice_that_is_then_spoken_by_its_description_or_cloned(door: TestClient) -> None:
    asked = {"voice_description": "A warm and old voice.", "text": "One two three four five.", "seed": 3}
    made = door.post("/v1/text-to-voice/design?output_format=pcm_24000", json=asked)
    assert made.status_code == 200, made.text
    previews = made.json()["previews"]
    assert len({each["audio_base_64"] for each in previews}) == 3
    chosen = previews[1]
    heard = door.get(f"/v1/text-to-voice/{chosen['generated_voice_id']}/stream?output_format=pcm_24000")
    assert heard.content == base64.b64decode(chosen["audio_base_64"])
    assert len(heard.content) == round(chosen["duration_secs"] * 48_000)
    body = {"voice_name": "Designed by me", "generated_voice_id": speech_of_a_preview(door, asked)}
    saved = door.post("/v1/text-to-voice", json=body)
    assert saved.status_code == 200, saved.text
    voice = saved.json()
    assert (voice["category"], voice["description"]) == ("generated", "A warm and old voice.")
    for model in (DESIGN, BASE):
        answer = door.post(f"/v1/text-to-speech/{voice['voice_id']}", json={"text": "One.", "model_id": model})
        assert answer.status_code == 200, answer.text
    described = spoken(door, model=DESIGN, voice="Designed by me")
    assert described == spoken(door, model=DESIGN, voice="designed", instructions="A warm and old voice.")
    listed = door.get("/v1/audio/voices", params={"model": DESIGN}).json()["voices"]
    assert "Designed by me" in {each["name"] for each in listed}


def speech_of_a_preview(client: TestClient, asked: Mapping[str, Any]) -> str:
    """A preview in which somebody speaks: a tiny model only makes noise, which is refused as a recording."""
    pcm, rate = decode(SPEECH, max_seconds=60, max_samples=10_000_000)
    description, text = asked["voice_description"], asked["text"]
    preview = DesignPreview(SHARED_OWNER, description, text, "en", pcm, rate)
    return str(client.app.state.voices.previews.add(preview))  # type: ignore[attr-defined]


def test_a_design_that_cannot_be_is_refused(door: TestClient) -> None:
    for path, body, status, named in (
        ("design", {"voice_description": "Old.", "model_id": CUSTOM}, 422, "does not make voices"),
        ("design", {"voice_description": "x" * 1001}, 422, "voice_description"),
        ("create-previews", {}, 422, "voice_description"),
        (
            "create-voice-from-preview",
            {"voice_name": "a", "generated_voice_id": "0" * 32},
            404,
            "design the voice again",
        ),
    ):
        refused = door.post(f"/v1/text-to-voice/{path}", json=body)
        assert (refused.status_code, named in refused.text) == (status, True), refused.text
        assert "detail" in refused.json()


def test_mcp_passes_instructions_on(door: TestClient) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    accept = {"Accept": "application/json, text/event-stream"}
    begun = door.post("/mcp", json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, headers=accept)
    session = accept | {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
    assert door.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session).is_success
    heard = set()
    for wish in ("Calm.", "Angry."):
        call = {"name": "speak", "arguments": {"text": "One.", "voice": "ryan", "instructions": wish, "format": "wav"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = door.post("/mcp", json=message, headers=session)
        assert '"audio/wav"' in answer.text, answer.text
        heard.add(answer.text)
    assert len(heard) == 2


def test_text_in_fragments_is_spoken_through_the_sockets(door: TestClient) -> None:
    with door.websocket_connect("/v1/realtime/speech") as talk:
        talk.send_json(
            {"type": "start", "context": "a", "model": CUSTOM, "voice": "ryan", "seed": 1, "word_timings": True}
        )
        for text in ("Well my friend, ", "this is ", "a long one."):
            talk.send_json({"type": "text", "context": "a", "text": text})
        talk.send_json({"type": "end", "context": "a"})
        events = until(talk, "done")
    assert sum(len(base64.b64decode(event["data"])) for event in events if event["type"] == "audio") >= 2 * FRAME
    words = [word["word"] for event in events if event["type"] == "words" for word in event["words"]]
    assert words == ["Well", "my", "friend", "this", "is", "a", "long", "one"]
    path = "/v1/text-to-speech/ryan/stream-input?output_format=pcm_24000&model_id=" + CUSTOM
    with door.websocket_connect(path) as talk:
        for text in (" ", "Well my friend, ", "this is a long one. ", ""):
            talk.send_json({"text": text})
        messages = until(talk, None, final="isFinal")
    assert sum(len(base64.b64decode(each["audio"])) for each in messages if each.get("audio")) >= 2 * FRAME


def test_openais_realtime_follows_its_sessions_instructions(door: TestClient) -> None:
    heard = set()
    for wish in ("Calm.", "Angry."):
        with connected(door, f"?model={CUSTOM}") as client:
            client.update(type="realtime", instructions=wish, audio={"output": {"voice": "ryan"}})
            client.say("One two.")
            heard.add(audio(client.speak()))
    assert len(heard) == 2
    assert all(len(sound) >= 2 * FRAME for sound in heard)


def test_wyoming_speaks_text_that_arrives_in_chunks(door: TestClient) -> None:
    async def heard() -> bytes:
        state = door.app.state  # type: ignore[attr-defined]
        listener = socket.create_server(("127.0.0.1", 0))
        reports = LimitReports(state.service.metrics)
        limits = ConnectionLimits(state.service.settings, reports, 10_000)
        server = WyomingServer(state.service, state.voices, listener, limits, reports.closed)
        await server.start()
        connected = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        try:
            async with WyomingClient(*connected) as client:
                await client.send("synthesize-start", voice={"name": "ryan"})
                for text in ("Well my friend, ", "this is a long one."):
                    await client.send("synthesize-chunk", text=text)
                await client.send("synthesize-stop")
                return b"".join(event.payload for event in await client.read_until("synthesize-stopped"))
        finally:
            await server.close()

    assert door.portal is not None
    assert len(door.portal.call(heard)) >= 2 * FRAME


def test_cosyvoices_grpc_reaches_speakers_and_instructions(door: TestClient) -> None:
    client = original_client()
    said = {"tts_text": "One two.", "spk_id": "ryan"}

    async def heard(request: Any) -> bytes:
        state = door.app.state  # type: ignore[attr-defined]
        server = GrpcServer(state.service, state.voices)
        address = server.bind(0)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(address) as channel:
                answer = client.stubs.CosyVoiceStub(channel).Inference(request)
                return b"".join([part.tts_audio async for part in answer])
        finally:
            await server.close()

    assert door.portal is not None
    requests = [client.Request(sft_request=client.sftRequest(**said))]
    for wish in ("Calm.", "Furious."):
        requests.append(client.Request(instruct_request=client.instructRequest(**said, instruct_text=wish)))
    spoken_ways = [door.portal.call(heard, request) for request in requests]
    assert all(len(audio) >= 2 * FRAME for audio in spoken_ways)
    assert len(set(spoken_ways)) == len(spoken_ways)


def until(talk: Any, kind: str | None, final: str = "") -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while not events or not (events[-1].get("type") == kind if kind else events[-1].get(final)):
        events.append(json.loads(talk.receive_text()))
        assert events[-1].get("type") != "error", events[-1]
    return events


def test_words_have_times(door: TestClient) -> None:
    answer = door.post(
        "/v1/text-to-speech/ryan/with-timestamps", json={"text": "One two three.", "model_id": CUSTOM, "seed": 1}
    )
    assert answer.status_code == 200, answer.text
    times = answer.json()["alignment"]
    assert "".join(times["characters"]) == "One two three."
    assert (np.diff(times["character_start_times_seconds"]) >= 0).all()


def test_a_cancelled_context_frees_what_it_had(door: TestClient) -> None:
    for _ in range(6):  # more than the engine speaks at once
        with door.websocket_connect("/v1/realtime/speech") as talk:
            talk.send_json({"type": "start", "context": "a", "model": CUSTOM, "voice": "ryan"})
            talk.send_json({"type": "text", "context": "a", "text": "This is a long sentence that goes on. "})
            talk.send_json({"type": "flush", "context": "a"})
            until(talk, "audio")
            talk.send_json({"type": "cancel", "context": "a"})
            until(talk, "cancelled")
    assert spoken(door, voice="ryan")


def test_models_are_listed_with_what_they_can(door: TestClient) -> None:
    listed = {each["id"]: each["capabilities"] for each in door.get("/v1/models").json()["data"]}
    can = {name: tuple(listed[name][key] for key in ("cloning", "instructions", "voice_design")) for name in TINY}
    assert can == {BASE: (True, False, False), CUSTOM: (False, True, False), DESIGN: (False, True, True)}
