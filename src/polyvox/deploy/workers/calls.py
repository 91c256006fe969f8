"""Calls of the processes of doors: each connection's messages in their order, and the answers to them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

from polyvox.deploy.messages import EngineProfile, ErrorMessage
from polyvox.deploy.replica import EngineReplica
from polyvox.deploy.workers.wire import STOPPED, Connection
from polyvox.errors import PolyvoxError
from polyvox.runtime.precedence import enter_precedence
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.ticket import Ticket
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService

_UNREAD_MESSAGES = 8
_STREAMS = frozenset({"speak", "convert", "speak_stream"})
_ASKS = frozenset({"prepare", "phonemize", "mixed_voice"})
GONE = None
"""In place of a message once the other process has closed its end."""


class Inbox:
    """The messages of a connection, read ahead of whoever works for it, so that an end is noticed at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._messages: asyncio.Queue[Any] = asyncio.Queue(_UNREAD_MESSAGES)
        self._gone = False
        self._reading = asyncio.create_task(self._read())

    async def get(self) -> Any:  # noqa: ANN401 - whatever was sent
        """The next message, or GONE from then on."""
        message = GONE if self._gone else await self._messages.get()
        self._gone = message is GONE
        return message

    async def _read(self) -> None:
        try:
            while True:
                await self._messages.put(await self._connection.read())
        except OSError:
            await self._messages.put(GONE)

    async def close(self) -> None:
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        self._connection.close()


class EngineCalls:
    """Calls of engines, which are held for as long as one takes; a model that is not loaded is loaded for it."""

    def __init__(self, service: SpeechService, tickets: "TicketCalls") -> None:
        self._service = service
        self._tickets = tickets
        self._replicas: dict[str, EngineReplica] = {}

    @property
    def _registry(self) -> Registry:
        return self._service.registry

    async def profiles(self) -> dict[str, EngineProfile]:
        """The profiles of all models that are loaded."""
        loaded = [info.id for info in self._registry.models() if info.loaded]
        return {model: await self._described(model) for model in loaded}

    async def _described(self, model: str) -> EngineProfile:
        profile = await self._replica(model).describe()
        return replace(profile, fingerprint=await self._service.fingerprints.of(model, self._registry.engine(model)))

    async def ask(self, connection: Connection, inbox: Inbox, model: str, method: str, arguments: Any) -> bool:  # noqa: ANN401
        """Answer one call, unless its caller leaves before; whether it is still there."""
        answering = asyncio.create_task(self._answer(model, method, arguments))
        leaving = asyncio.create_task(inbox.get())
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                return False
            await connection.send(answering.result())
            return True
        finally:
            await _cancelled(answering, leaving)

    async def _answer(self, model: str, method: str, arguments: Any) -> object:  # noqa: ANN401 - of many kinds
        try:
            with await self._registry.hold(model):
                if method == "describe":
                    return await self._described(model)
                if method not in _ASKS:
                    raise ValueError(f"there is no call {method!r}")
                answer: object = await getattr(self._replica(model), method)(*arguments)
                return answer
        except PolyvoxError as error:
            return ErrorMessage.of(error)

    async def stream(
        self,
        connection: Connection,
        inbox: Inbox,
        model: str,
        method: str,
        arguments: Any,  # noqa: ANN401 - of many kinds
        ticket: str,
        takes_text: bool,
    ) -> bool:
        """Make one item each time that the caller asks for it; whether it is still there at the end."""
        if method not in _STREAMS:
            raise ValueError(f"there is no call {method!r}")
        text = _ArrivingText(connection)
        wanted = asyncio.Semaphore(0)
        items = self._items(model, method, (text, *arguments) if takes_text else arguments)
        making = asyncio.create_task(self._make(connection, items, wanted, ticket))
        try:
            while not making.done():
                reading = asyncio.create_task(inbox.get())
                try:
                    await asyncio.wait((making, reading), return_when=asyncio.FIRST_COMPLETED)
                    message: Any = reading.result() if reading.done() else ("end",)
                finally:
                    await _cancelled(reading)
                if message is GONE:
                    return False
                if message[0] == "next":
                    wanted.release()
                elif message[0] == "text":
                    text.put(message[1])
                elif message[0] == "stop":
                    await _cancelled(making)
                    await connection.send(STOPPED)
                    return True
            making.result()
            return True
        finally:
            await _cancelled(making)

    async def _make(
        self, connection: Connection, items: AsyncGenerator[object, None], wanted: asyncio.Semaphore, ticket: str
    ) -> None:
        self._tickets.enter_precedence(ticket)
        async with aclosing(items):
            while True:
                await wanted.acquire()
                item = await anext(items, None)
                await connection.send(item)
                if item is None:
                    return

    async def _items(self, model: str, method: str, arguments: Any) -> AsyncGenerator[object, None]:  # noqa: ANN401
        try:
            hold = await self._registry.hold(model)
        except PolyvoxError as error:
            yield ErrorMessage.of(error)
            return
        with hold:
            made: AsyncGenerator[object, None] = getattr(self._replica(model), method)(*arguments)
            async with aclosing(made):
                async for item in made:
                    yield item

    def _replica(self, model: str) -> EngineReplica:
        """What speaks for a model that is loaded."""
        replica = self._replicas.get(model)
        if replica is None:
            service = self._service
            replica = self._replicas[model] = EngineReplica(model, service.settings, None, tracer=service.tracer)
        replica.adopt(self._registry.engine(model))
        return replica


class _ArrivingText:
    """The pieces of a text, each asked for when the engine needs it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()

    def put(self, piece: str | None) -> None:
        self._pieces.put_nowait(piece)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        await self._connection.send(("text",))
        piece = await self._pieces.get()
        if piece is None:
            raise StopAsyncIteration
        return piece


class TicketCalls:
    """Tickets of sessions in other processes; one whose connection ends is released."""

    def __init__(self, service: SpeechService, admission: AdmissionController) -> None:
        self._service = service
        self._admission = admission
        self._tickets: dict[str, Ticket] = {}

    def enter_precedence(self, name: str) -> None:
        """Let the task work for the stream of a ticket, where it has one."""
        ticket = self._tickets.get(name)
        if ticket is not None:
            enter_precedence(ticket.precedence)

    async def hold(
        self,
        connection: Connection,
        inbox: Inbox,
        name: str,
        model: str,
        client: str,
        chars: int,
        max_wait: float,
        paced: bool,
        background: bool,
        continues: bool,
    ) -> bool:
        """Enter the queue, and obey the session until it releases its ticket; whether its process is still there."""
        try:
            ticket = self._admission.enter(
                model,
                client,
                chars,
                max_wait,
                paced=paced,
                background=background,
                continues=continues,
                capacity=self._service.registry.pace(model),
            )
        except PolyvoxError as error:
            await connection.send(ErrorMessage.of(error))
            return True
        self._tickets[name] = ticket
        waits: set[asyncio.Task[None]] = set()
        ticket.on_drop = lambda: connection.write(("drop",))
        try:
            connection.write(ticket.is_granted)
            if not ticket.is_granted:
                _kept(waits, _answered(connection, "granted", ticket.granted()))
            while (message := await inbox.get()) is not GONE:
                kind, *arguments = message
                if kind == "release":
                    break
                if kind in ("turn", "text_came"):
                    _kept(waits, _answered(connection, kind, getattr(ticket, kind)()))
                elif kind in _TOLD:
                    getattr(ticket, kind)(*arguments)
            else:
                return False
        finally:
            del self._tickets[name]
            await _cancelled(*waits)
            ticket.release()
        await connection.send(("released",))
        return True


_TOLD = frozenset({"produced", "pause", "resume", "idle", "read", "finish"})


async def _answered(connection: Connection, kind: str, answer: Any) -> None:  # noqa: ANN401 - a coroutine
    try:
        await answer
    except PolyvoxError as error:
        connection.write((kind, ErrorMessage.of(error)))
    else:
        connection.write((kind,))


def _kept(tasks: "set[asyncio.Task[None]]", call: Any) -> None:  # noqa: ANN401 - a coroutine
    task = asyncio.create_task(call)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _cancelled(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel what is under way of some tasks, and wait until it has ended."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
