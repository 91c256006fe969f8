"""Cartesia's paths for speech, and those that a client may try besides."""

from typing import Any

from fastapi import APIRouter, Response, WebSocket

from polyvox import __version__
from polyvox.api.dependencies import Call, Owner, Service, Voices
from polyvox.api.dialects.cartesia.bodies import EventsBody, GenerationBody
from polyvox.api.dialects.cartesia.connection import CartesiaConnection
from polyvox.api.dialects.cartesia.event_stream import SpeechEventStream
from polyvox.api.dialects.cartesia.speech import cartesia_request
from polyvox.api.requests.body import JsonRoute
from polyvox.api.responses.plain_audio import PlainAudio
from polyvox.api.responses.streaming import BIT_DEPTH_HEADER, SpeechResponse
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import ForbiddenError

router = APIRouter(route_class=JsonRoute, tags=["Cartesia"])

_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"description": "A field is missing, of the wrong type, or out of range; `message` says which."},
    404: {"description": "No such voice or model."},
    429: {"description": "The queue is full; the header Retry-After says when to try again."},
    503: {"description": "The model cannot be had now."},
}
_AUDIO: dict[int | str, dict[str, Any]] = {
    200: {"description": "The audio.", "content": {"audio/wav": {}, "audio/pcm": {}, "audio/mpeg": {}}}
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `timestamps`, `phoneme_timestamps`, `chunk` and at the end `done` or `error`.",
        "content": {"text/event-stream": {}},
    }
}


@router.post("/tts/bytes", response_class=Response, responses=_AUDIO | _ERRORS)
async def speak_bytes(body: GenerationBody, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text; the audio streams while it is made."""
    request = await cartesia_request(body, service, voices, owner)
    output = body.output_format
    linear = output.container != "mp3"
    headers = {BIT_DEPTH_HEADER: str(8 * output.samples.sample_bytes)} if linear else {}
    return SpeechResponse(service, request, PlainAudio(output), headers=headers)


@router.post("/tts/sse", response_class=Response, responses=_EVENTS | _ERRORS)
async def speak_events(body: EventsBody, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """Speak a text as events with base64 audio and, where they are asked for, words and phonemes with their times."""
    request = await cartesia_request(body, service, voices, owner)
    return SpeechResponse(service, request, SpeechEventStream(body))


@router.websocket("/tts/websocket")
async def speak_socket(websocket: WebSocket, service: Service, voices: Voices, call: Call) -> None:
    """Speak texts that arrive in parts, many at once, each a context of its own."""
    socket = JsonSocket(websocket, service.settings.stall_seconds)
    await socket.accept()
    await CartesiaConnection(socket, service, voices, call).run()


@router.post("/access-token", include_in_schema=False)
async def refuse_token() -> None:
    """Tokens of limited life are not given out."""
    raise ForbiddenError("This server makes no access tokens; use one of its keys as the token.")


async def status() -> dict[str, Any]:
    """Return whether the server answers, and its version."""
    return {"ok": True, "version": __version__}
