"""Requests that only one process can answer, carried to it as they came: lists, voices, jobs, keys, metrics."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polyvox.api.door import Door
from polyvox.api.paths import PathTable
from polyvox.api.refusals import Refusals
from polyvox.deploy.workers.link import Link, engines_restart
from polyvox.deploy.workers.wire import END, Channel
from polyvox.service.keys.operations import Operation

_SPOKEN = frozenset({Operation.SPEAK, Operation.CONVERT})
_EPHEMERAL = b"ek_"
_SCOPE = (
    "type",
    "asgi",
    "http_version",
    "method",
    "scheme",
    "path",
    "raw_path",
    "query_string",
    "root_path",
    "headers",
    "client",
    "server",
    "subprotocols",
    "extensions",
)
_PIECE_BYTES = 262_144


class Forwarding:
    """Middleware that answers requests for speech here, and has all others answered by the process of the engines.

    A request with an ephemeral key goes there too: that process has handed the key out.
    """

    def __init__(self, app: ASGIApp, link: Link, doors: Iterable[Door], refusals: Refusals) -> None:
        self._app = app
        self._link = link
        self._refusals = refusals
        rows: dict[str, list[tuple[str, bool]]] = {"GET": [("/health", True)]}
        for door in doors:
            for route, operation in door.operations.items():
                method, _, path = route.partition(" ")
                rows.setdefault(method, []).append((path, operation in _SPOKEN))
            for route in door.kept:
                method, _, path = route.partition(" ")
                rows.setdefault(method, []).append((path, False))
        self._is_own = {method: PathTable(table, default=False) for method, table in rows.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._answers(scope):
            await self._app(scope, receive, send)
            return
        started = False

        async def send_on(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._forward(scope, receive, send_on)
        except OSError:
            if started:  # what was sent cannot be taken back: let the client see that it is not whole
                raise ConnectionAbortedError("the process of the models ended while it answered") from None
            await self._refusals.send(engines_restart(), scope, receive, send)

    def _answers(self, scope: Scope) -> bool:
        table = self._is_own.get("WS" if scope["type"] == "websocket" else scope["method"])
        if table is None or not table[scope["path"]]:
            return False
        return _EPHEMERAL not in scope["query_string"] and not any(_EPHEMERAL in value for _, value in scope["headers"])

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = await self._link.open()
        try:
            await connection.send(["asgi", {name: scope[name] for name in _SCOPE if name in scope}])
            sending = asyncio.create_task(_send_request(connection, receive))
            try:
                while (message := await connection.read()) != END:
                    await send(message)
            finally:
                sending.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await sending
        finally:
            connection.close()


async def _send_request(connection: Channel, receive: Receive) -> None:
    while True:
        await connection.send(await receive())


async def answer_forwarded(connection: Channel, app: ASGIApp, sent: Mapping[str, Any]) -> None:
    """Answer a request that another process has taken in."""
    scope = {**sent, "headers": [tuple(pair) for pair in sent["headers"]], "state": {}}
    is_http = scope["type"] == "http"

    async def receive() -> Message:
        try:
            message: Message = await connection.read()
        except OSError:
            return {"type": "http.disconnect"} if is_http else {"type": "websocket.disconnect", "code": 1006}
        return message

    async def send(message: Message) -> None:
        body = message.get("body", b"")
        if message["type"] == "http.response.body" and len(body) > _PIECE_BYTES:
            pieces = [bytes(body[at : at + _PIECE_BYTES]) for at in range(0, len(body), _PIECE_BYTES)]
            for piece in pieces[:-1]:
                await connection.send({**message, "body": piece, "more_body": True})
            message = {**message, "body": pieces[-1]}
        await connection.send(dict(message))

    await app(scope, receive, send)
    await connection.send(END)
    with suppress(OSError):
        while True:  # the other end closes first, or what it still sends would break its reading
            await connection.read()
