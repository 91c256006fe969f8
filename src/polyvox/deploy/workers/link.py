"""The way from a process of doors to the process of the engines."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from structlog.contextvars import get_contextvars

from polyvox.deploy.messages import DeferredVoice, ErrorMessage, picklable
from polyvox.deploy.remote_engine import RemoteEngine, ReplicaLostError
from polyvox.deploy.workers.wire import END, STOPPED, Channel
from polyvox.engines.base import SupportsStreamingText, SupportsStyle
from polyvox.errors import UnavailableError
from polyvox.service.telemetry.tracing import outgoing_headers
from polyvox.types import AudioChunk, PreparedVoice, Utterance
from polyvox.voices.mixing import MixTerm

RETRY_SECONDS = 5.0
_MOST_IDLE = 256
_STOP_SECONDS = 10.0


class CallTicket(Protocol):
    """The ticket of the session that a call works for, as far as the call has to know it."""

    name: str

    async def take_turn(self) -> None:
        """Wait for the turn that the session has asked for, if any."""

    def due(self) -> tuple[bool, list[list[object]]]:
        """The turn that the session has asked for, and what its ticket has not been told yet, for a call to carry."""

    def waited(self, seconds: float) -> None:
        """Called after a turn that was carried: how long it took."""


current_ticket: ContextVar[CallTicket | None] = ContextVar("polyvox_ticket", default=None)
"""The ticket of the session that a task works for."""


async def connected(socket: Path) -> Channel:
    """A new connection; OSError where nobody listens."""
    _, channel = await asyncio.get_running_loop().create_unix_connection(Channel, str(socket))
    return channel


def engines_restart() -> UnavailableError:
    """The error while the process of the engines is not there."""
    return UnavailableError(
        f"The process with the models has ended and is started again; try again in {RETRY_SECONDS:.0f} s.",
        retry=True,
        retry_after=RETRY_SECONDS,
    )


class Link:
    """Connections to the process of the engines: one for each call under way, used again when that has ended."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._idle: list[Channel] = []

    async def open(self) -> Channel:
        """A connection for one call; OSError where nobody listens."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
            connection.close()
        return await connected(self._socket)

    def give_back(self, connection: Channel) -> None:
        """Keep a connection whose call has ended."""
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    async def ask(self, call: str, *arguments: object) -> Any:  # noqa: ANN401 - whatever is answered
        """Make a call with one answer; OSError where the other process ends before it."""
        connection = await self.open()
        try:
            await connection.send([call, *arguments])
            answer = await connection.read()
        except BaseException:
            connection.close()
            raise
        self.give_back(connection)
        return answer

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


class LinkTransport:
    """Implements `Transport` with calls to a model in the process of the engines."""

    def __init__(self, model: str, link: Link) -> None:
        self._model = model
        self._link = link

    async def ask(self, method: str, *arguments: object, voice: str = "") -> object:
        ticket = current_ticket.get()
        if ticket is not None:
            await ticket.take_turn()
        try:
            answer: object = await self._link.ask("ask", self._model, method, arguments)
        except OSError as error:
            raise ReplicaLostError from error
        return answer

    async def stream(
        self, method: str, *arguments: object, voice: str = "", pieces: AsyncIterator[str] | None = None
    ) -> AsyncGenerator[object, None]:
        """Stream results; each is made when it is asked for, as by a generator in this process."""
        try:
            connection = await self._link.open()
            items, ended = _Items(connection, pieces), False
            try:
                connection.write(["stream", self._model, method, arguments, items.ticket_name, pieces is not None])
                while (item := await items.next()) is not None:
                    yield item
                ended = True
            finally:
                await items.close()
                if ended or await _stopped(connection):
                    self._link.give_back(connection)
        except OSError as error:
            raise ReplicaLostError from error


class _Items:
    """The results of a call, and the text that it asks for while it is made.

    A turn of the session's ticket is taken with the result that it is for, so that both take one way to and fro.
    """

    def __init__(self, connection: Channel, pieces: AsyncIterator[str] | None) -> None:
        self._connection = connection
        self._pieces = pieces
        self._piece: asyncio.Future[str | None] | None = None
        self._ticket = current_ticket.get()
        self.ticket_name = "" if self._ticket is None else self._ticket.name

    async def next(self) -> object:
        """The next result; None at the end."""
        turn, told = (False, []) if self._ticket is None else self._ticket.due()
        await self._connection.send(["next", turn, told])
        message = await (self._connection.read() if self._pieces is None else self._read_beside_text(self._pieces))
        if message == END:
            return None
        _, item, waited = message
        if self._ticket is not None and turn:
            self._ticket.waited(waited)
        result: object = item
        return result

    async def _read_beside_text(self, pieces: AsyncIterator[str]) -> Any:  # noqa: ANN401 - a message
        while True:
            reading = asyncio.ensure_future(self._connection.read())
            try:
                while not reading.done():
                    await asyncio.wait(
                        [each for each in (reading, self._piece) if each is not None],
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                    await self._send_text()
            finally:
                reading.cancel()
            if reading.result() != ["text"]:
                return reading.result()
            self._piece = asyncio.ensure_future(anext(pieces, None))

    async def _send_text(self) -> None:
        if self._piece is not None and self._piece.done():
            piece, self._piece = self._piece, None
            await self._connection.send(["text", piece.result()])

    async def close(self) -> None:
        if self._piece is not None:
            self._piece.cancel()
            await asyncio.wait([self._piece])


async def _stopped(connection: Channel) -> bool:
    """Stop the call of a connection; whether the engine has let go of it."""
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await connection.send(["stop"])
            while await connection.read() != STOPPED:
                continue
    except (OSError, TimeoutError, asyncio.CancelledError):
        connection.close()
        return False
    return True


class _WithStyle(RemoteEngine):
    @property
    def style_model(self) -> str:
        return self._profile.style_model

    def voice_from_style(
        self, mix: "list[MixTerm] | tuple[MixTerm, ...]", offset: npt.NDArray[np.float32], language: str
    ) -> PreparedVoice:
        return DeferredVoice.of_style(self.name, mix, offset, language)


class _WithStreamingText(RemoteEngine):
    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        """Speak a text that is still arriving. It is not started over: what has come of it is gone."""
        assert isinstance(self._transport, LinkTransport)
        session = get_contextvars().get("session", "")
        items = self._transport.stream("speak_stream", picklable(utterance), session, outgoing_headers(), pieces=pieces)
        try:
            async with aclosing(items):
                async for item in items:
                    yield self._unwrap(item)
        except ReplicaLostError:
            raise engines_restart() from None


NEARBY: Mapping[type, type[RemoteEngine]] = MappingProxyType(
    {SupportsStyle: _WithStyle, SupportsStreamingText: _WithStreamingText}
)
"""Abilities of engines that this way has besides those of every transport."""


def raised(answer: object) -> Any:  # noqa: ANN401 - whatever was answered
    """The answer to a call, unless it is an error."""
    if isinstance(answer, ErrorMessage):
        raise answer.error()
    return answer
