"""The end of the doors on Ray: refuse what is new, finish what is under way, close, and go on refusing."""

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polyvox.api.refusals import Refusals
from polyvox.errors import UnavailableError

OPEN_PATHS = frozenset({"/health", "/metrics"})
"""Answered during a drain, too."""
RETRY_SECONDS = 5.0


class Drain:
    """The drain of one application, which its gate obeys."""

    def __init__(self) -> None:
        self.begun = False
        self.shutdown = asyncio.Event()
        """Set when the application may close what it holds."""
        self.closed = asyncio.Event()
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def enter(self) -> None:
        """Count a request or a WebSocket that begins."""
        self._under_way += 1
        self._idle.clear()

    def leave(self) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._idle.set()

    async def run(self, seconds: float) -> None:
        """Refuse new requests, wait up to `seconds` for those under way, then let the application close."""
        self.begun = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        self.shutdown.set()
        await self.closed.wait()


class DrainGate:
    """Middleware that lets an application drain and close while its server still calls it.

    Ray's proxy answers 404 from the moment an application is deleted, for as long as its open streams take. Behind this
    gate the doors are closed before they are deleted, and every new request is told when to come again.
    """

    def __init__(self, app: ASGIApp, drain: Drain, refusals: Refusals) -> None:
        self._app = app
        self._drain = drain
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif self._drain.begun and scope["path"] not in OPEN_PATHS:
            error = UnavailableError(
                f"The server is shutting down; send the request to another, or again in {RETRY_SECONDS:.0f} s.",
                retry=True,
                retry_after=RETRY_SECONDS,
            )
            await self._refusals.send(error, scope, receive, send)
        else:
            self._drain.enter()
            try:
                await self._app(scope, receive, send)
            finally:
                self._drain.leave()

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application's life, which ends with the drain or by the server, whichever comes first."""

        async def receive_or_end() -> Message:
            message = asyncio.ensure_future(receive())
            ended = asyncio.create_task(self._drain.shutdown.wait())
            try:
                await asyncio.wait((message, ended), return_when=asyncio.FIRST_COMPLETED)
                return message.result() if message.done() else {"type": "lifespan.shutdown"}
            finally:
                ended.cancel()
                message.cancel()

        try:
            await self._app(scope, receive_or_end, send)
        finally:
            self._drain.closed.set()
