"""The routes of OpenAI's Realtime API."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, WebSocket
from starlette.datastructures import Headers

from polyvox.api.dependencies import Call, Owner, Service, Voices
from polyvox.api.dialects.openai_realtime.beta_dialect import BETA_HEADER, BETA_PROTOCOL, BETA_VALUE, BetaDialect
from polyvox.api.dialects.openai_realtime.client_secrets import ClientSecret, ClientSecretBody, issue_secret
from polyvox.api.dialects.openai_realtime.connection import NAME, RealtimeConnection
from polyvox.api.dialects.openai_realtime.dialect import Dialect
from polyvox.api.dialects.openai_realtime.input_options import TranscriptionOptions
from polyvox.api.dialects.openai_realtime.released_dialect import ReleasedDialect
from polyvox.api.dialects.openai_realtime.session_options import SessionKind, SessionOptions
from polyvox.api.door import Door
from polyvox.api.middleware.ephemeral_keys import EphemeralKeys, Grant
from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.requests.body import JsonRoute
from polyvox.api.responses.error_body import ErrorBody
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import InvalidRequestError
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.keys.operations import Operation

router = APIRouter(prefix="/v1/realtime", tags=["OpenAI Realtime"], route_class=JsonRoute)

_SOCKET = "/v1/realtime"
_PROTOCOL = "realtime"


@router.websocket("")
async def realtime(
    websocket: WebSocket,
    service: Service,
    voices: Voices,
    call: Call,
    model: Annotated[str | None, Query(max_length=200)] = None,
    intent: Annotated[str | None, Query(max_length=200)] = None,
) -> None:
    """Speak the texts that a client sends as messages, and transcribe what it says."""
    settings = service.settings
    dialect = _dialect(websocket.headers, websocket.scope["subprotocols"])
    options = _options(websocket, model, intent)
    service.accounts.access.require(options.kind.operation, call.owner)
    options.shown(service.registry)
    if options.kind is SessionKind.TRANSCRIPTION and options.input.transcription is not None:
        asked = options.input.transcription
        await asyncio.to_thread(service.listening.recognisers.choose, asked.model, asked.task)
    socket = JsonSocket(websocket, settings.stall_seconds)
    await socket.accept(_answered_protocol(websocket.scope["subprotocols"]))
    address = None if websocket.client is None else websocket.client.host
    memory = service.bodies.open(ClientAddresses(settings.trusted_proxies).group(address))
    try:
        await RealtimeConnection(socket, dialect, options, service, voices, call, memory).run()
    finally:
        memory.close()


@router.post("/client_secrets", responses={400: {"model": ErrorBody, "description": "A field is wrong."}})
async def create_client_secret(
    body: ClientSecretBody, request: Request, service: Service, owner: Owner
) -> ClientSecret:
    """Make a key for one of your web pages: it opens `/v1/realtime` and nothing else, for ten minutes if not told.

    A session that is opened with it begins with `session`.
    """
    keys: EphemeralKeys = request.app.state.ephemeral_keys
    return issue_secret(body, keys, owner, service.registry)


def _dialect(headers: Headers, protocols: Sequence[str]) -> Dialect:
    is_beta = BETA_VALUE in headers.get(BETA_HEADER, "") or BETA_PROTOCOL in protocols
    return BetaDialect() if is_beta else ReleasedDialect()


def _answered_protocol(offered: Sequence[str]) -> str | None:
    """The one of the offered protocols to answer with: a browser drops a socket that answers with none."""
    return next((name for name in (_PROTOCOL, BETA_PROTOCOL) if name in offered), None)


def _options(websocket: WebSocket, model: str | None, intent: str | None) -> SessionOptions:
    """A session's first options: what its ephemeral key was made for, and what the address names.

    In a session for transcription, the model of the address is the recogniser.
    """
    grant: Grant | None = getattr(websocket.state, "grant", None)
    options = grant.terms if grant is not None and isinstance(grant.terms, SessionOptions) else SessionOptions()
    if intent is not None:
        if intent != SessionKind.TRANSCRIPTION:
            raise InvalidRequestError("'intent' must be 'transcription', or left out.", field="intent")
        options = options.of_kind(SessionKind.TRANSCRIPTION)
    if model is None:
        return options
    if options.kind is SessionKind.TRANSCRIPTION:
        transcription = replace(options.input.transcription or TranscriptionOptions(), model=model)
        return replace(options, input=replace(options.input, transcription=transcription))
    return replace(options, speech=replace(options.speech, model=model))


DOOR = Door(
    NAME,
    router,
    tags={"OpenAI Realtime": "Keys for the WebSocket `/v1/realtime`: OpenAI's Realtime API, to speak and to listen."},
    keys={_SOCKET: KeySources(protocols=("openai-insecure-api-key.",))},
    ephemeral=[_SOCKET],
    operations={
        "WS /v1/realtime": Operation.HOLD_SESSION,
        "POST /v1/realtime/client_secrets": Operation.ISSUE_KEYS,
    },
)
