"""Calls that a dialect has and this server has not are refused in the dialect's own shape, with a valid key."""

import pytest

from helpers.fakes import tone_service
from helpers.serving import called

KEY = "a key"
BEARER = {"Authorization": f"Bearer {KEY}"}
CLIENTS = {
    "elevenlabs": {"xi-api-key": KEY},
    "cartesia": {"cartesia-version": "2025-04-16", **BEARER},
    "cartesia, an early client": {"cartesia-version": "2024-06-10", "x-api-key": KEY},
    "openai": BEARER,
    "cosyvoice": BEARER,
}
# Client, call, status
ABSENT = [
    ("elevenlabs", "POST /v1/speech-to-speech/abc/stream", 404),
    ("elevenlabs", "POST /v1/sound-generation", 404),
    ("elevenlabs", "GET /v1/history", 404),
    ("elevenlabs", "DELETE /v1/history/abc", 404),
    ("elevenlabs", "GET /v1/user/nothing", 404),
    ("elevenlabs", "GET /v1/studio/projects", 404),
    ("elevenlabs", "GET /v1/convai/agents", 404),
    ("elevenlabs", "GET /v1/shared-voices", 404),
    ("elevenlabs", "POST /v1/pronunciation-dictionaries/add-from-file", 404),
    ("elevenlabs", "POST /elevenlabs/v1/dubbing", 404),
    ("elevenlabs", "PUT /v1/text-to-speech/abc", 405),
    ("cartesia", "POST /stt", 404),
    ("cartesia", "GET /datasets/", 404),
    ("cartesia", "POST /infill/bytes", 404),
    ("cartesia", "POST /voice-changer/bytes", 404),
    ("cartesia", "POST /cartesia/agents", 404),
    ("cartesia", "POST /voices/localize", 405),
    ("cartesia", "GET /tts/bytes", 405),
    ("cartesia, an early client", "GET /datasets/", 404),
    ("openai", "POST /v1/chat/completions", 404),
    ("openai", "POST /v1/responses", 404),
    ("openai", "GET /v1/files", 404),
    ("openai", "GET /v1/audio/speech", 405),
    ("cosyvoice", "POST /inference_vc", 404),
]


def message_of(client: str, status: int, body: dict) -> str:
    """The sentence of an error, which has to have the shape that the client reads and no other key."""
    code = {404: "not_found", 405: "method_not_allowed"}[status]
    if client == "elevenlabs":
        detail = body.pop("detail")
        assert detail.pop("status") == code
        message = detail.pop("message")
        assert (body, detail) == ({}, {})
    elif client.startswith("cartesia"):
        message = body.pop("message")
        assert body == {"title": code.replace("_", " ").capitalize(), "error_code": code, "status_code": status}
    elif client == "openai":
        message = body["error"].pop("message")
        assert body == {"error": {"type": "invalid_request_error", "param": None, "code": code}}
    else:
        message = body.pop("detail")
        assert body == {}
    return message


@pytest.mark.anyio
async def test_absent_calls_are_refused_in_the_shape_that_their_client_reads():
    async with called(tone_service(api_keys=[KEY])) as server:
        for client, call, status in ABSENT:
            method, path = call.split()
            answer = await server.request(method, path, headers=CLIENTS[client])
            assert answer.status_code == status, call
            assert path in message_of(client, status, answer.json()), call


@pytest.mark.anyio
async def test_a_dialects_header_moves_no_path_that_another_dialect_has():
    async with called(tone_service(api_keys=[KEY])) as server:
        for header in ({"xi-api-key": KEY}, {"cartesia-version": "2025-04-16"}):
            for path in ("/v1/audio/voices", "/v1/jobs", "/v1/audio/speech"):
                answer = await server.get(path, headers={**BEARER, **header})
                assert answer.status_code == 405 or "detail" not in answer.json()
                assert "title" not in answer.json()
