"""Limits of arriving HTTP bodies: their pace, and the memory that all of them may take."""

import asyncio
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polyvox.config import Settings
from polyvox.errors import StalledError
from polyvox.service.admission.pending_bodies import PIECE_BYTES, PendingBodies, PendingBody
from polyvox.service.keys.client_addresses import ClientAddresses


class BodyIntake:
    """Middleware that ends a request whose body is too slow, or for which there is no memory left.

    The HTTP servers hold little of a body themselves; they read on only as the application does. A body counts until
    its request is answered, since until then it may wait to be parsed or for a thread that decodes it.
    """

    def __init__(self, app: ASGIApp, settings: Settings, bodies: PendingBodies) -> None:
        self._app = app
        self._settings = settings
        self._bodies = bodies
        self._clients = ClientAddresses(settings.trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        body = self._bodies.open(self._clients.group(client[0] if client else None))
        arrival = _Arrival(receive, body, self._settings)

        async def answer(message: Message) -> None:
            arrival.end()
            await send(message)

        try:
            await self._app(scope, arrival.receive, answer)
        finally:
            arrival.end()


class _Arrival:
    """One body as the application reads it. Only time in which the application waits for the client counts."""

    def __init__(self, receive: Receive, body: PendingBody, settings: Settings) -> None:
        self._receive = receive
        self._body = body
        self._rate = settings.body_min_rate
        self._seconds_left = settings.body_timeout_seconds
        self._arriving = True
        self._answered = False

    async def receive(self) -> Message:
        if not self._arriving:
            return await self._receive()
        began = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, self._seconds_left)):
                message = await self._receive()
        except TimeoutError as error:
            if self._answered:
                return await self._receive()
            self._body.count_refusal("slow")
            raise StalledError(f"The body arrives at less than {self._rate} bytes/s; send it faster.") from error
        size = len(message.get("body", b""))
        self._seconds_left += size / self._rate - (time.monotonic() - began)
        self._arriving = not self._answered and message.get("more_body", False)
        if size and not self._answered:
            self._body.hold(self._body.held + size + PIECE_BYTES)
        return message

    def end(self) -> None:
        """Count no more: the request is answered."""
        self._answered = True
        self._arriving = False
        self._body.close()
