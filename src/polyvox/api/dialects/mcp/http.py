"""McpHttp: the tools over streamable HTTP, behind the checks that every door has."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from polyvox.api.dependencies import call_of
from polyvox.api.dialects.mcp.server import Context, create_server
from polyvox.api.dialects.mcp.service_backend import ServiceBackend
from polyvox.api.dialects.mcp.session_shares import SessionShares
from polyvox.api.dialects.mcp.tools import SpeechTools, ToolLimits
from polyvox.api.requests.body import off_the_loop, parse_json
from polyvox.errors import OverloadedError
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

_WRITE_BYTES = 65_536
_OK = 200


class McpHttp:
    """The sessions of MCP clients. A session belongs to the key that opened it, and a call to the key it came with."""

    def __init__(self, service: SpeechService, voices: VoiceService) -> None:
        settings = service.settings
        self._service = service
        self._voices = voices
        self._calls = 0
        self._shares = SessionShares(
            max(1, int(settings.max_share * settings.mcp_max_sessions)),
            max(1, int(settings.max_share * settings.mcp_max_calls)),
            settings.mcp_session_seconds,
        )
        self._manager = StreamableHTTPSessionManager(
            create_server(SpeechTools(ToolLimits.of(settings)), self._backend_of),
            session_idle_timeout=settings.mcp_session_seconds,
            max_sessions=settings.mcp_max_sessions,
            max_request_body_size=settings.max_body_bytes,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take sessions until the block ends, which ends them all."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Its body is read and checked here, so that whatever is wrong is answered as elsewhere."""
        call, request = call_of(scope), Request(scope, receive)
        scope = {**scope, "user": _user(call.owner)}
        patient = _PatientSend(send, self._service.settings.stall_seconds)
        session_id = request.headers.get("mcp-session-id", "")
        with self._shares.using(session_id, call.client):
            if scope["method"] == "POST":
                await self._post(scope, await request.body(), receive, patient)
            else:
                await self._manager.handle_request(scope, receive, patient)
        if scope["method"] == "DELETE" and patient.status == _OK:
            self._shares.ended(session_id, call.client)

    async def _post(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        message, client = await off_the_loop(body, parse_json), call_of(scope).client
        method = message.get("method") if isinstance(message, dict) else None
        with ExitStack() as counted:
            if method == "initialize":
                send = counted.enter_context(self._shares.opening(client, send))
            elif method == "tools/call":
                counted.enter_context(self._counted_call())
                counted.enter_context(self._shares.calling(client))
            await self._manager.handle_request(scope, _replayed(body, receive), send)

    @contextmanager
    def _counted_call(self) -> Iterator[None]:
        """Count a call until it is answered: its answer takes memory for as long as the client reads it."""
        most = self._service.settings.mcp_max_calls
        if self._calls >= most:
            raise OverloadedError(
                f"{most} calls are under way, which is the most; try again in a second.", retry_after=1
            )
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    def _backend_of(self, context: Context) -> ServiceBackend:
        assert isinstance(context.request, Request)
        scope = context.request.scope
        return ServiceBackend(self._service, self._voices, call_of(scope))


class _PatientSend:
    """Sends an answer in small parts; a client that takes none of them for `stall_seconds` is dropped."""

    def __init__(self, send: Send, stall_seconds: float) -> None:
        self._send = send
        self._stall_seconds = stall_seconds
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        body = message.get("body", b"")
        for start in range(0, len(body) - _WRITE_BYTES, _WRITE_BYTES):
            await self._within({**message, "body": body[start : start + _WRITE_BYTES], "more_body": True})
        last = (len(body) - 1) // _WRITE_BYTES * _WRITE_BYTES
        await self._within({**message, "body": body[max(0, last) :]} if body else message)

    async def _within(self, message: Message) -> None:
        async with asyncio.timeout(self._stall_seconds):
            await self._send(message)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body that has been read, and then whatever comes after it."""
    rest: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return rest.pop() if rest else await receive()

    return replay


def _user(owner: str) -> AuthenticatedUser:
    """The owner in the form by which the protocol's library keeps sessions apart."""
    return AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
