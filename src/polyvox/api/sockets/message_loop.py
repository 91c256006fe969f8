"""One client's messages, one after the other, until it leaves or is idle for too long."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any

from starlette.websockets import WebSocketDisconnect

from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import PolyvoxError


class IdleWatch:
    """Waits until nothing has happened for `seconds` and nothing is under way."""

    def __init__(self, seconds: float, is_busy: Callable[[], bool]) -> None:
        self.seconds = seconds
        self._is_busy = is_busy
        self._touched = asyncio.get_running_loop().time()

    def touch(self) -> None:
        """Count from now."""
        self._touched = asyncio.get_running_loop().time()

    async def wait(self) -> None:
        """Return once it is idle for so long."""
        while True:
            left = self._touched + self.seconds - asyncio.get_running_loop().time()
            if left <= 0 and not self._is_busy():
                return
            await asyncio.sleep(left if left > 0 else self.seconds)


class MessageLoop:
    """Has each message answered before it reads the next; `refuse` answers what is no JSON object.

    The socket is closed when nothing was sent for `idle_seconds` while nothing `is_busy`.
    """

    def __init__(
        self,
        socket: JsonSocket,
        answer: Callable[[Mapping[str, Any]], Awaitable[None]],
        refuse: Callable[[PolyvoxError], Awaitable[None]],
        *,
        idle_seconds: float,
        is_busy: Callable[[], bool],
    ) -> None:
        self._socket = socket
        self._answer = answer
        self._refuse = refuse
        self._idle = IdleWatch(idle_seconds, is_busy)

    def touch(self) -> None:
        """Count the idle time from now, although nothing was sent."""
        self._idle.touch()

    async def run(self) -> None:
        """Return when the client has gone or the socket is closed."""
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._close_when_idle())
            try:
                with suppress(WebSocketDisconnect):
                    await self._serve()
            finally:
                watching.cancel()

    async def _serve(self) -> None:
        async with aclosing(self._socket.messages(self._refuse)) as messages:
            async for values in messages:
                self._idle.touch()
                await self._answer(values)
                await asyncio.sleep(0)  # messages that came in one packet must not keep others from their turn

    async def _close_when_idle(self) -> None:
        await self._idle.wait()
        with suppress(WebSocketDisconnect):
            await self._socket.close(reason=f"Nothing was sent for {self._idle.seconds:g} s.")
