"""The one admission of several processes, as those with the doors see it."""

import asyncio
import time
from collections.abc import Callable
from uuid import uuid4

from polyvox.deploy.messages import ErrorMessage
from polyvox.deploy.workers.control import Control
from polyvox.deploy.workers.link import Link, current_ticket, engines_restart, raised
from polyvox.deploy.workers.wire import Connection
from polyvox.errors import PolyvoxError


class RemoteAdmission:
    """Implements `Admission` with the controller in the process of the engines.

    Its figures are those of that process, which shows them; here they are 0.
    """

    active = 0
    waiting = 0
    limit = 0

    def __init__(self, link: Link, control: Control) -> None:
        self._link = link
        self._control = control

    def expected_wait(self) -> float:
        return 0.0

    def completed(self, model: str, audio: float, busy_seconds: float) -> None:
        self._control.tell("completed", model, audio, busy_seconds)

    def least_seconds(self, model: str, audio: float) -> float:
        return self._control.seconds_per_audio.get(model, 0.0) * audio

    async def admit(
        self,
        model: str,
        client: str,
        *,
        chars: int,
        max_wait: float,
        paced: bool,
        background: bool,
        continues: bool,
        capacity: float | None,
    ) -> "RemoteTicket":
        """A ticket of the one controller, which knows the capacity of its models itself."""
        name = uuid4().hex
        try:
            connection = await self._link.open()
            try:
                await connection.send(("enter", name, model, client, chars, max_wait, paced, background, continues))
                granted = raised(await connection.read())
            except PolyvoxError:
                self._link.give_back(connection)
                raise
            except BaseException:
                connection.close()
                raise
        except OSError:
            raise engines_restart() from None
        return RemoteTicket(name, connection, granted, self._link.give_back)


class RemoteTicket:
    """Implements `SessionTicket` with a ticket in the process of the engines.

    That ticket lives as long as its connection, so that nobody's slot is held by a process that was killed.
    """

    def __init__(
        self, name: str, connection: Connection, granted: bool, give_back: Callable[[Connection], None]
    ) -> None:
        self.on_drop: Callable[[], None] = lambda: None
        self._name = name
        self._connection = connection
        self._give_back = give_back
        self._granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if granted:
            self._granted.set_result(None)
        self._answer: asyncio.Future[None] | None = None
        self._lost = False
        self._released = False
        self._plays_until = 0.0
        self._paused_at: float | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def seconds_ahead(self) -> float:
        """Seconds of audio ahead of a client that has played since the first audio, except while it did not read."""
        if not self._plays_until:
            return 0.0
        return self._plays_until - (time.monotonic() if self._paused_at is None else self._paused_at)

    async def granted(self) -> None:
        await asyncio.shield(self._granted)

    async def turn(self) -> None:
        current_ticket.set(self._name)
        await self._asked("turn")

    async def text_came(self) -> None:
        await self._asked("text_came")

    def produced(self, audio: float, seconds: float | None) -> None:
        self._plays_until = max(time.monotonic(), self._plays_until) + audio
        self._tell("produced", audio, seconds)

    def pause(self) -> None:
        if self._paused_at is None:
            self._paused_at = time.monotonic()
        self._tell("pause")

    def resume(self) -> None:
        if self._paused_at is not None:
            self._plays_until += time.monotonic() - self._paused_at
            self._paused_at = None
        self._tell("resume")

    def idle(self) -> None:
        self._tell("idle")

    def read(self) -> None:
        self._tell("read")

    def finish(self) -> None:
        self._tell("finish")

    def release(self) -> None:
        self._tell("release")
        self._released = True

    def _tell(self, *message: object) -> None:
        if not (self._lost or self._released):  # the connection may be another's by then
            self._connection.write(message)

    async def _asked(self, what: str) -> None:
        """Wait for an answer of the controller's ticket."""
        if self._lost:
            raise engines_restart()
        self._answer = asyncio.get_running_loop().create_future()
        self._tell(what)
        await self._answer

    async def _read(self) -> None:
        """Take what the controller's ticket says, until it has let go."""
        try:
            while (message := await self._connection.read()) != ("released",):
                self._take(*message)
        except OSError:
            self._lost = True
            self._connection.close()
            for waiting in (self._granted, self._answer):
                if waiting is not None and not waiting.done():
                    waiting.set_exception(engines_restart())
        else:
            self._give_back(self._connection)
        if self._granted.done() and not self._granted.cancelled():
            self._granted.exception()  # nobody may wait for it any more

    def _take(self, kind: str, error: ErrorMessage | None = None) -> None:
        if kind == "drop":
            self.on_drop()
            return
        waiting = self._granted if kind == "granted" else self._answer
        if waiting is not None and not waiting.done():
            if error is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(error.error())
