"""Calls of the processes of doors: of engines, which make one result each time they are asked, and for tickets."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import structlog

from polyvox.deploy.messages import EngineProfile, ErrorMessage
from polyvox.deploy.replica import EngineReplica
from polyvox.deploy.workers.wire import END, GONE, STOPPED, Channel
from polyvox.errors import PolyvoxError
from polyvox.runtime.precedence import enter_precedence
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.ticket import Ticket
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService

_STREAMS = frozenset({"speak", "convert", "speak_stream"})
_ASKS = frozenset({"prepare", "phonemize", "mixed_voice"})
_TOLD = frozenset({"produced", "pause", "resume", "idle", "read", "finish"})

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Ended = Callable[[Channel], None]
"""Is told that a call has ended, and its connection is free for another."""


class HostedEngines:
    """The engines of this process, each held for as long as a call takes; one that is not loaded is loaded for it."""

    def __init__(self, service: SpeechService) -> None:
        self._service = service
        self._replicas: dict[str, EngineReplica] = {}

    @property
    def _registry(self) -> Registry:
        return self._service.registry

    async def profiles(self) -> dict[str, EngineProfile]:
        """The profiles of all models that are loaded."""
        loaded = [info.id for info in self._registry.models() if info.loaded]
        return {model: await self._described(model) for model in loaded}

    async def answer(self, model: str, method: str, arguments: Sequence[Any]) -> object:
        """The result of a call that has one."""
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

    async def items(self, model: str, method: str, arguments: Sequence[Any]) -> AsyncGenerator[object, None]:
        """The results of a call that has many."""
        if method not in _STREAMS:
            raise ValueError(f"there is no call {method!r}")
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

    async def _described(self, model: str) -> EngineProfile:
        profile = await self._replica(model).describe()
        return replace(profile, fingerprint=await self._service.fingerprints.of(model, self._registry.engine(model)))

    def _replica(self, model: str) -> EngineReplica:
        """The replica of a model that is loaded."""
        replica = self._replicas.get(model)
        if replica is None:
            service = self._service
            replica = self._replicas[model] = EngineReplica(model, service.settings, None, tracer=service.tracer)
        replica.adopt(self._registry.engine(model))
        return replica


class AskCall:
    """A call with one answer, which ends early where its caller leaves."""

    def __init__(self, channel: Channel, ended: Ended, answer: Coroutine[Any, Any, object]) -> None:
        self._channel = channel
        self._ended = ended
        channel.on_message = self._take
        self._answering = asyncio.create_task(answer)
        self._answering.add_done_callback(self._answered)

    def _answered(self, answering: "asyncio.Task[object]") -> None:
        if answering.cancelled():
            return
        if (error := answering.exception()) is not None:
            log.error("a call has failed", exc_info=error)
            self._channel.close()
            return
        self._ended(self._channel)
        self._channel.write(answering.result())

    def _take(self, channel: Channel, message: Any) -> None:  # noqa: ANN401 - whatever was sent
        if message is GONE:
            self._answering.cancel()


class StreamCall:
    """A call whose results are made one by one, each when it is asked for."""

    def __init__(
        self,
        channel: Channel,
        ended: Ended,
        items: Callable[["ArrivingText"], AsyncGenerator[object, None]],
        ticket: Ticket | None,
    ) -> None:
        self._channel = channel
        self._ended = ended
        self._ticket = ticket
        self._wanted: asyncio.Queue[bool] = asyncio.Queue()
        self._text = ArrivingText(channel)
        self._stopped = False
        channel.on_message = self._take
        self._making = asyncio.create_task(self._make(items(self._text)))
        self._making.add_done_callback(self._made)

    async def _make(self, items: AsyncGenerator[object, None]) -> None:
        if self._ticket is not None:
            enter_precedence(self._ticket.precedence)
        async with aclosing(items):
            while True:
                waited = await self._turn() if await self._wanted.get() else 0.0
                item = await anext(items, None)
                if item is None:
                    return
                await self._channel.send(["item", item, waited])

    async def _turn(self) -> float:
        """Wait for the ticket's turn; for how many seconds."""
        began = time.monotonic()
        if self._ticket is not None:
            await self._ticket.turn()
        return time.monotonic() - began

    def _made(self, making: "asyncio.Task[None]") -> None:
        failure = None if making.cancelled() else making.exception()
        if failure is not None and not isinstance(failure, OSError):
            log.error("a call has failed", exc_info=failure)
        if failure is not None or not self._channel.is_open:
            self._channel.close()
            return
        self._ended(self._channel)
        self._channel.write(STOPPED if self._stopped else END)

    def _take(self, channel: Channel, message: Any) -> None:  # noqa: ANN401 - whatever was sent
        if message is GONE:
            self._making.cancel()
        elif message[0] == "next":
            if self._ticket is not None:
                for kind, *arguments in message[2]:
                    tell(self._ticket, kind, arguments)
            self._wanted.put_nowait(message[1])
        elif message[0] == "text":
            self._text.put(message[1])
        elif message[0] == "stop":
            self._stopped = True
            self._making.cancel()


class ArrivingText:
    """The pieces of a text, each asked for when the engine needs it."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()

    def put(self, piece: str | None) -> None:
        self._pieces.put_nowait(piece)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        await self._channel.send(["text"])
        piece = await self._pieces.get()
        if piece is None:
            raise StopAsyncIteration
        return piece


class TicketCalls:
    """Tickets of sessions in other processes, by their names there; one whose connection ends is released."""

    def __init__(self, registry: Registry, admission: AdmissionController) -> None:
        self._registry = registry
        self._admission = admission
        self.tickets: dict[str, Ticket] = {}

    def enter(self, channel: Channel, ended: Ended, name: str, *fields: Any) -> None:  # noqa: ANN401 - of a request
        """Enter the queue for a session; its connection is that of the ticket until it releases that."""
        asked = AdmissionRequest(*fields)
        try:
            ticket = self._admission.enter(asked, self._registry.pace(asked.model))
        except PolyvoxError as error:
            ended(channel)
            channel.write(ErrorMessage.of(error))
            return
        self.tickets[name] = ticket
        TicketCall(channel, ticket, lambda: self._released(name, channel, ended))

    def _released(self, name: str, channel: Channel, ended: Ended) -> None:
        del self.tickets[name]
        if channel.is_open:
            ended(channel)
            channel.write(["released"])


class TicketCall:
    """One ticket, which does what its session in another process says."""

    def __init__(self, channel: Channel, ticket: Ticket, released: Callable[[], None]) -> None:
        self._channel = channel
        self._ticket = ticket
        self._released = released
        self._waits: set[asyncio.Task[None]] = set()
        ticket.on_drop = lambda: channel.write(["drop"])
        channel.on_message = self._take
        channel.write(ticket.is_granted)
        if not ticket.is_granted:
            self._wait("granted", ticket.granted())

    def _take(self, channel: Channel, message: Any) -> None:  # noqa: ANN401 - whatever was sent
        if message is GONE:
            self._release()
            return
        for kind, *arguments in message:
            if kind == "release":
                self._release()
            elif kind == "turn":
                self._wait(kind, self._ticket.turn())
            elif kind == "text_came":
                self._wait(kind, self._ticket.text_came())
            else:
                tell(self._ticket, kind, arguments)

    def _release(self) -> None:
        for wait in self._waits:
            wait.cancel()
        self._ticket.release()
        self._released()

    def _wait(self, kind: str, call: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._answered(kind, call))
        self._waits.add(task)
        task.add_done_callback(self._waits.discard)

    async def _answered(self, kind: str, call: Coroutine[Any, Any, None]) -> None:
        try:
            await call
        except PolyvoxError as error:
            self._channel.write([kind, ErrorMessage.of(error)])
        else:
            self._channel.write([kind])


def tell(ticket: Ticket, kind: str, arguments: Sequence[Any]) -> None:
    """Let a ticket know what its session has done."""
    if kind not in _TOLD:
        raise ValueError(f"a ticket is not told {kind!r}")
    getattr(ticket, kind)(*arguments)
