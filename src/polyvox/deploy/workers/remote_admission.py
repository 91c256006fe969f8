"""The one admission of several processes, as those with the doors see it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import astuple
from typing import Any
from uuid import uuid4

from polyvox.deploy.messages import ErrorMessage
from polyvox.deploy.workers.control import Control
from polyvox.deploy.workers.link import Link, current_ticket, engines_restart, raised
from polyvox.deploy.workers.wire import GONE, Channel
from polyvox.errors import PolyvoxError
from polyvox.service.admission.admission_request import AdmissionRequest

_READ_SECONDS = 1.0
"""A client that reads is noted so often: only one that has read nothing for seconds may have to make room."""


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

    async def admit(self, asked: AdmissionRequest, capacity: float | None) -> "RemoteTicket":
        """A ticket of the one controller, which knows the capacity of its models itself."""
        name = uuid4().hex
        try:
            connection = await self._link.open()
            try:
                await connection.send(["enter", name, *astuple(asked)])
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

    That ticket lives as long as its connection, so that nobody's slot is held by a process that was killed. What it is
    told in one step of the event loop goes in one message, that of an engine's call where one begins.
    """

    def __init__(self, name: str, channel: Channel, granted: bool, give_back: Callable[[Channel], None]) -> None:
        self.on_drop: Callable[[], None] = lambda: None
        self.name = name
        self._channel = channel
        self._give_back = give_back
        self._loop = asyncio.get_running_loop()
        self._granted: asyncio.Future[None] = self._loop.create_future()
        if granted:
            self._granted.set_result(None)
        self._answer: asyncio.Future[None] | None = None
        self._untold: list[list[object]] = []
        self._turn_is_due = False
        self._turn_seconds = 0.0
        self._lost = False
        self._released = False
        self._read_at = 0.0
        self._plays_until = 0.0
        self._paused_at: float | None = None
        channel.on_message = self._take

    @property
    def seconds_ahead(self) -> float:
        """Seconds of audio ahead of a client that has played since the first audio, except while it did not read."""
        if not self._plays_until:
            return 0.0
        return self._plays_until - (time.monotonic() if self._paused_at is None else self._paused_at)

    async def granted(self) -> None:
        await asyncio.shield(self._granted)

    async def turn(self) -> None:
        """Have the turn taken with the engine's next call: what asks no engine is in nobody's way."""
        if self._lost:
            raise engines_restart()
        self._turn_is_due = True
        current_ticket.set(self)

    async def take_turn(self) -> None:
        if self._turn_is_due:
            self._turn_is_due = False
            await self._asked("turn")

    def due(self) -> tuple[bool, list[list[object]]]:
        turn, self._turn_is_due = self._turn_is_due, False
        untold, self._untold = self._untold, []
        return turn, untold

    def waited(self, seconds: float) -> None:
        self._turn_seconds += seconds

    async def text_came(self) -> None:
        await self._asked("text_came")

    def produced(self, audio: float, seconds: float | None) -> None:
        waited, self._turn_seconds = self._turn_seconds, 0.0
        self._plays_until = max(time.monotonic(), self._plays_until) + audio
        self._tell("produced", audio, None if seconds is None else max(0.0, seconds - waited))

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
        if time.monotonic() - self._read_at > _READ_SECONDS:
            self._read_at = time.monotonic()
            self._tell("read")

    def finish(self) -> None:
        self._tell("finish")

    def release(self) -> None:
        self._tell("release")
        self._released = True

    def _tell(self, *message: object) -> None:
        if self._lost or self._released:  # the connection may be another's by then
            return
        if not self._untold:
            self._loop.call_soon(self._send)
        self._untold.append(list(message))

    def _send(self) -> None:
        if self._untold and not self._lost:
            untold, self._untold = self._untold, []
            self._channel.write(untold)

    async def _asked(self, what: str) -> None:
        """Wait for an answer of the controller's ticket."""
        if self._lost:
            raise engines_restart()
        self._answer = self._loop.create_future()
        self._tell(what)
        await self._answer

    def _take(self, channel: Channel, message: Any) -> None:  # noqa: ANN401 - whatever was sent
        """Take what the controller's ticket says, until it has let go."""
        if message is GONE:
            self._end(engines_restart())
            return
        kind, *errors = message
        if kind == "released":
            self._end(None)
            channel.on_message = None
            self._give_back(channel)
        elif kind == "drop":
            self.on_drop()
        else:
            error: ErrorMessage | None = errors[0] if errors else None
            _settle(self._granted if kind == "granted" else self._answer, None if error is None else error.error())

    def _end(self, error: PolyvoxError | None) -> None:
        self._lost = True
        for waiting in (self._granted, self._answer):
            _settle(waiting, error)


def _settle(waiting: "asyncio.Future[None] | None", error: PolyvoxError | None) -> None:
    if waiting is None or waiting.done():
        return
    if error is None:
        waiting.set_result(None)
    else:
        waiting.set_exception(error)
        waiting.exception()  # nobody may wait for it any more
