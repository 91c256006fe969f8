"""CartesiaConnection: one client's socket, and what each of its messages does."""

from collections.abc import Mapping
from itertools import count
from typing import Any
from uuid import uuid4

from polyvox.api.dialects.cartesia.bodies import MAX_ID_CHARS, ContextMessage, OpeningMessage
from polyvox.api.dialects.cartesia.delivery import ContextDelivery
from polyvox.api.dialects.cartesia.events import done_event, error_event
from polyvox.api.dialects.cartesia.failed_contexts import FailedContexts
from polyvox.api.dialects.cartesia.speech import cartesia_request
from polyvox.api.requests.forms import Fields
from polyvox.api.sockets.context_pool import ContextPool
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.api.sockets.message_loop import MessageLoop
from polyvox.errors import InvalidRequestError, PolyvoxError
from polyvox.service.call_context import CallContext
from polyvox.service.contexts.speech_context import ContextOptions, SpeechContext
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService


class CartesiaConnection:
    """Reads messages until the client leaves.

    The first message with a context's id opens it, and says how it sounds; the fields of later ones that would change
    that are not read, since clients fill them with defaults. An error ends the context that it is about, and no other.
    """

    def __init__(self, socket: JsonSocket, service: SpeechService, voices: VoiceService, call: CallContext) -> None:
        self._socket = socket
        self._service = service
        self._voices = voices
        self._call = call
        self._pool = ContextPool(service.settings.max_contexts_per_connection)
        self._messages = MessageLoop(
            socket,
            self._answer,
            self._refuse,
            idle_seconds=service.settings.socket_idle_seconds,
            is_busy=lambda: len(self._pool) > 0,
        )
        self._open: dict[str, ContextDelivery] = {}
        self._failed = FailedContexts()
        self._numbers = count()

    async def run(self) -> None:
        """Serve the client until it leaves, or is idle for too long."""
        async with self._pool:
            await self._messages.run()

    async def _refuse(self, error: PolyvoxError) -> None:
        """Answer what is no JSON object."""
        await self._socket.send(error_event(error, done=False) | {"context_id": None})

    async def _answer(self, values: Mapping[str, Any]) -> None:
        given = _given_id(values)
        context_id = given or uuid4().hex
        try:
            message = Fields(values).parsed(ContextMessage)
            if message.cancel:
                self._failed.forget(context_id)
                await self._cancel(context_id)
            else:
                await self._speak(context_id, message, values)
        except PolyvoxError as error:
            speaks_on = context_id in self._open and self._open[context_id].ended
            event = error_event(error, done=not speaks_on) | {"context_id": given}
            if not speaks_on:
                await self._cancel(context_id)
                if values.get("continue") is True:
                    self._failed.add(context_id, event)
            await self._socket.send(event)

    async def _speak(self, context_id: str, message: ContextMessage, values: Mapping[str, Any]) -> None:
        delivery = self._open.get(context_id)
        if delivery is None:
            if (error := self._failed.answer(context_id, goes_on=message.goes_on)) is not None:
                await self._socket.send(error)
                return
            if not message.goes_on and not message.transcript.strip():
                await self._socket.send(done_event(()) | {"context_id": context_id})  # the end of what never began
                return
            delivery = await self._opened(context_id, Fields(values).parsed(OpeningMessage))
        delivery.push(message.transcript, flush=message.flush, goes_on=message.goes_on)

    async def _opened(self, context_id: str, opening: OpeningMessage) -> ContextDelivery:
        if opening.output_format.container != "raw":
            raise InvalidRequestError(
                "'output_format.container' must be raw over a WebSocket; POST /tts/bytes has wav and mp3.",
                field="output_format.container",
            )
        silent = opening.model_copy(update={"transcript": ""})
        request = await cartesia_request(silent, self._service, self._voices, self._call.owner)
        delay = opening.max_buffer_delay_ms / 1_000
        options = ContextOptions(max_delay=delay, eager=delay == 0)
        context = SpeechContext(self._service, request, self._call, options)
        # The client may use its id again as soon as it is told of the end; the key in the pool is another each time.
        delivery = ContextDelivery(self._socket, context_id, opening, context, key=str(next(self._numbers)))

        async def deliver(context: SpeechContext) -> None:
            await delivery.run(context)
            self._forget(context_id, delivery)
            await delivery.finish()

        async def fail(error: PolyvoxError) -> None:
            self._forget(context_id, delivery)
            if not delivery.ended:
                self._failed.add(context_id, error_event(error) | {"context_id": context_id})
            await delivery.fail(error)

        self._pool.open(delivery.key, context, deliver, fail)
        self._open[context_id] = delivery
        return delivery

    async def _cancel(self, context_id: str) -> None:
        """Stop a context; a client that cancels is told nothing more of it."""
        delivery = self._open.get(context_id)
        if delivery is not None:
            delivery.silenced = True
            del self._open[context_id]
            await self._pool.cancel(delivery.key)

    def _forget(self, context_id: str, delivery: ContextDelivery) -> None:
        if self._open.get(context_id) is delivery:
            del self._open[context_id]


def _given_id(values: Mapping[str, Any]) -> str | None:
    """The context that a message names, if its name can be used."""
    given = values.get("context_id")
    return given if isinstance(given, str) and 0 < len(given) <= MAX_ID_CHARS else None
