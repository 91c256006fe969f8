"""The routes of OpenAI's Realtime API."""

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
from polyvox.api.dialects.openai_realtime.released_dialect import ReleasedDialect
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions
from polyvox.api.door import Door
from polyvox.api.middleware.ephemeral_keys import EphemeralKeys, Grant
from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.requests.body import JsonRoute
from polyvox.api.responses.error_body import ErrorBody
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import InvalidRequestError
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
    """Speak the texts that a client sends as messages."""
    if intent is not None:
        raise InvalidRequestError("This server speaks and does not listen; leave out 'intent'.", field="intent")
    dialect = _dialect(websocket.headers, websocket.scope["subprotocols"])
    options = _options(websocket, model)
    service.registry.resolve(options.served_model)
    socket = JsonSocket(websocket, service.settings.stall_seconds)
    await socket.accept(_answered_protocol(websocket.scope["subprotocols"]))
    await RealtimeConnection(socket, dialect, options, service, voices, call).run()


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


def _options(websocket: WebSocket, model: str | None) -> SpeechOptions:
    """A session's first options: what its ephemeral key was made for, and the model that the address names."""
    grant: Grant | None = getattr(websocket.state, "grant", None)
    options = grant.terms if grant is not None and isinstance(grant.terms, SpeechOptions) else SpeechOptions()
    return options if model is None else replace(options, model=model)


DOOR = Door(
    NAME,
    router,
    tags={"OpenAI Realtime": "Keys for the WebSocket `/v1/realtime`, which speaks as OpenAI's Realtime API does."},
    keys={_SOCKET: KeySources(protocols=("openai-insecure-api-key.",))},
    ephemeral=[_SOCKET],
    operations={
        "WS /v1/realtime": Operation.SPEAK,
        "POST /v1/realtime/client_secrets": Operation.ISSUE_KEYS,
    },
)
