"""The lasting connection of a process of doors to the process of the engines: what all of them count and know."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import structlog

from polyvox.deploy.messages import EngineProfile
from polyvox.deploy.workers.link import connected, engines_restart, raised
from polyvox.deploy.workers.wire import Channel

_RECONNECT_SECONDS = 0.2
_TELL_SECONDS = 0.02
_MOST_UNTOLD = 10_000

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class Control:
    """Asks and tells the process of the engines, answers what it asks, and knows its models.

    What is told while that process is not there is told when it is back.
    """

    def __init__(self, socket: Path, worker: int, exposition: Callable[[], Awaitable[bytes]]) -> None:
        self._socket = socket
        self._worker = worker
        self._exposition = exposition
        self._connection: Channel | None = None
        self._answers: dict[int, asyncio.Future[object]] = {}
        self._numbers = count()
        self._untold: list[list[object]] = []
        self._flushing: asyncio.TimerHandle | None = None
        self._keeping: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()
        self.seconds_per_audio: Mapping[str, float] = {}
        """Seconds that each model needs at least for a second of audio, as far as that is known."""
        self.on_profiles: Callable[[Mapping[str, EngineProfile]], None] = lambda profiles: None

    def start(self) -> None:
        self._keeping = asyncio.create_task(self._keep(), name="control")

    async def close(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping

    async def ask(self, what: str, *arguments: object) -> Any:  # noqa: ANN401 - whatever is answered
        """The answer to a question; UnavailableError while the process of the engines is not there."""
        if self._connection is None:
            raise engines_restart()
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            self._flush()
            self._connection.write(["ask", number, what, list(arguments)])
            return raised(await answer)
        finally:
            del self._answers[number]

    def tell(self, what: str, *arguments: object) -> None:
        """Say what needs no answer, in a moment; it is heard before whatever is asked or told later."""
        if len(self._untold) < _MOST_UNTOLD:
            self._untold.append([what, *arguments])
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(_TELL_SECONDS, self._flush)

    def _flush(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        if self._connection is not None and self._untold:
            untold, self._untold = self._untold, []
            self._connection.write(["tell", untold])

    async def _keep(self) -> None:
        while True:
            try:
                connection = await connected(self._socket)
            except OSError:
                await asyncio.sleep(_RECONNECT_SECONDS)
                continue
            try:
                await self._live(connection)
            except OSError as error:
                log.warning("the process of the models has ended", reason=str(error))
            finally:
                self._end(connection)

    async def _live(self, connection: Channel) -> None:
        await connection.send(["control", self._worker])
        self._connection = connection
        self._flush()
        while True:
            kind, *rest = await connection.read()
            if kind == "answer":
                waiting = self._answers.get(rest[0])
                if waiting is not None and not waiting.done():
                    waiting.set_result(rest[1])
            elif kind == "pace":
                self.seconds_per_audio = rest[0]
            elif kind == "profiles":
                self.on_profiles(rest[0])
                self.connected.set()
            elif kind == "exposition":
                connection.write(["reply", rest[0], await self._exposition()])
            elif kind == "sync":
                self._flush()
                connection.write(["reply", rest[0], b""])

    def _end(self, connection: Channel) -> None:
        self._connection = None
        self.connected.clear()
        connection.close()
        for waiting in self._answers.values():
            if not waiting.done():
                waiting.set_exception(engines_restart())
