"""The connection to a client that an answer is written to, and the watch over whether it is still there."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.datastructures import MutableHeaders
from starlette.types import Receive, Send

from polyvox.errors import StalledError

Result = TypeVar("Result")

_WRITE_BYTES = 65_536


class ClientWriter:
    """One client's connection: small writes, each with a timeout."""

    def __init__(self, send: Send, stall_seconds: float) -> None:
        self._send = send
        self._stall_seconds = stall_seconds
        self.started = False

    async def start(self, headers: MutableHeaders, status: int = 200) -> None:
        """Begin an answer."""
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers.raw})

    async def write(self, data: bytes) -> None:
        """Send a part of the body; StalledError where the client does not take it."""
        for start in range(0, len(data), _WRITE_BYTES):
            part = data[start : start + _WRITE_BYTES]
            try:
                async with asyncio.timeout(self._stall_seconds):
                    await self._send({"type": "http.response.body", "body": part, "more_body": True})
            except TimeoutError as error:
                raise StalledError(f"The client took nothing for {self._stall_seconds:g} s; read faster.") from error

    async def finish(self) -> None:
        """End the answer."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


async def ended_or_left(work: Coroutine[object, object, Result], receive: Receive) -> asyncio.Task[Result]:
    """Run work that answers a request until it ends or the client leaves, which cancels it; the task, done."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_disconnect(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})
    return working


async def _disconnect(receive: Receive) -> None:
    """Return when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        continue
