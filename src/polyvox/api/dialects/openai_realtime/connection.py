"""RealtimeConnection: obeys the client events of one socket."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from polyvox.api.dialects.openai_realtime.client_events import (
    ContentFields,
    ItemCreate,
    ItemReference,
    ItemTruncate,
    ResponseCancel,
    ResponseFields,
)
from polyvox.api.dialects.openai_realtime.conversation import Conversation
from polyvox.api.dialects.openai_realtime.dialect import Dialect
from polyvox.api.dialects.openai_realtime.event_error import NOT_SUPPORTED, EventError
from polyvox.api.dialects.openai_realtime.ids import new_id
from polyvox.api.dialects.openai_realtime.input_audio import InputAudio
from polyvox.api.dialects.openai_realtime.item import HeardItem, Item, Message, SpokenItem, spoken_of
from polyvox.api.dialects.openai_realtime.outbox import Outbox
from polyvox.api.dialects.openai_realtime.response import Response, ResponsePlan
from polyvox.api.dialects.openai_realtime.session_options import SessionChange, SessionKind, SessionOptions
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions
from polyvox.api.dialects.openai_realtime.turn_transcriber import Turn, TurnTranscriber
from polyvox.api.requests.forms import Fields
from polyvox.api.requests.speech_requests import speech_request
from polyvox.api.sockets.context_pool import ContextPool
from polyvox.api.sockets.json_socket import JsonSocket, MessageError
from polyvox.errors import InvalidRequestError, PolyvoxError, TextError
from polyvox.service.admission.pending_bodies import PendingBody
from polyvox.service.call_context import CallContext
from polyvox.service.contexts.speech_context import SpeechContext
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

NAME = "openai-realtime"

_MAX_EVENT_ID = 512
_OPERATIONS = {
    "input_audio_buffer.append": Operation.LISTEN,
    "input_audio_buffer.commit": Operation.LISTEN,
    "response.create": Operation.SPEAK,
}
"""Events that a key has to allow; what it may do is looked up again for each."""

ClientEvent = Mapping[str, Any]


class RealtimeConnection:
    """One session, its conversation, the sound that is heard, and the responses that are being spoken."""

    def __init__(
        self,
        socket: JsonSocket,
        dialect: Dialect,
        options: SessionOptions,
        service: SpeechService,
        voices: VoiceService,
        call: CallContext,
        memory: PendingBody,
    ) -> None:
        self._socket = socket
        self._dialect = dialect
        self._options = options
        self._service = service
        self._voices = voices
        self._call = call
        self._id = new_id("sess")
        self._outbox = Outbox(socket, dialect)
        self._conversation = Conversation(service.settings.max_input_chars)
        self._contexts = ContextPool(service.settings.max_contexts_per_connection)
        self._responses: dict[str, Response] = {}
        listening, seconds = service.listening, service.settings.listen_session_seconds
        self._transcriber = TurnTranscriber(listening, call, NAME, memory, self._outbox)
        self._input = InputAudio(
            options.input, listening, seconds, memory, self._outbox, self._add_turn, self._interrupt
        )
        self._handlers: Mapping[str, Callable[[ClientEvent], Awaitable[None]]] = {
            "session.update": self._update_session,
            "transcription_session.update": self._update_transcription,
            "input_audio_buffer.append": self._input.append,
            "input_audio_buffer.commit": lambda _: self._input.commit(),
            "input_audio_buffer.clear": lambda _: self._input.clear(),
            "conversation.item.create": self._create_item,
            "conversation.item.retrieve": self._retrieve_item,
            "conversation.item.truncate": self._truncate_item,
            "conversation.item.delete": self._delete_item,
            "response.create": self._create_response,
            "response.cancel": self._cancel_response,
            "output_audio_buffer.clear": self._clear_output,
        }

    async def run(self) -> None:
        """Answer events until the client leaves."""
        async with self._contexts, self._transcriber:
            await self._outbox.send(self._session_event("created"), session=self._session_fields())
            async for message in self._socket.messages(self._refuse):
                await self._obey(message)

    async def _refuse(self, error: MessageError) -> None:
        await self._outbox.send_error(error, None)

    async def _obey(self, message: ClientEvent) -> None:
        try:
            name = message.get("type")
            handler = self._handler(name)
            if name in _OPERATIONS:
                self._service.accounts.access.require(_OPERATIONS[name], self._call.owner)
            await handler(message)
        except PolyvoxError as error:
            await self._outbox.send_error(error, _event_id(message))

    def _handler(self, name: object) -> Callable[[ClientEvent], Awaitable[None]]:
        if isinstance(name, str) and name in self._handlers:
            return self._handlers[name]
        raise InvalidRequestError(f"'type' must be one of {', '.join(self._handlers)}.", field="type")

    async def _update_session(self, message: ClientEvent) -> None:
        await self._change_session(self._dialect.updated(self._options, message))

    async def _update_transcription(self, message: ClientEvent) -> None:
        options = self._options.of_kind(SessionKind.TRANSCRIPTION)
        await self._change_session(self._dialect.updated(options, message))

    async def _change_session(self, change: SessionChange) -> None:
        change = await self._with_recogniser(change)
        options = change.options
        if options.kind is not self._options.kind:
            self._service.accounts.access.require(options.kind.operation, self._call.owner)
        options.shown(self._service.registry)
        self._options = options
        self._input.configure(options.input)
        warnings = {"warnings": list(change.warnings)} if change.warnings else {}
        await self._outbox.send(self._session_event("updated"), session=self._session_fields(), **warnings)

    async def _with_recogniser(self, change: SessionChange) -> SessionChange:
        """The change without transcripts where nobody here can write them: the rest of a session must not suffer."""
        options = change.options
        asked = options.input.transcription
        if asked is None:
            return change
        try:
            chosen = await asyncio.to_thread(self._service.listening.recognisers.choose, asked.model, asked.task)
        except PolyvoxError as error:
            if options.kind is SessionKind.TRANSCRIPTION:
                raise
            silent = replace(options, input=replace(options.input, transcription=None))
            return SessionChange(silent, (*change.warnings, f"There will be no transcripts: {error.message}"))
        return SessionChange(options, (*change.warnings, *chosen.warnings))

    def _session_event(self, name: str) -> str:
        is_transcription = self._options.kind is SessionKind.TRANSCRIPTION
        return f"transcription_session.{name}" if is_transcription else f"session.{name}"

    def _session_fields(self) -> dict[str, Any]:
        shown = self._options.shown(self._service.registry)
        return {"object": shown.kind.object_name, "id": self._id, **self._dialect.session_fields(shown)}

    async def _create_item(self, message: ClientEvent) -> None:
        event = Fields(message).parsed(ItemCreate)
        if event.item.heard is not None:
            await self._create_heard_item(event, event.item.heard)
            return
        item = Message.of(event.item.checked("item"))
        self._check_length(item.chars, "item.content")
        await self._add_item(item, event.previous_item_id)

    async def _create_heard_item(self, event: ItemCreate, part: ContentFields) -> None:
        """Add a turn that the client has recorded itself: with its transcript, or with sound to transcribe."""
        item = HeardItem(event.item.id or new_id("item"), part.transcript)
        self._check_length(item.chars, "item.content")
        turn = b""
        if part.audio is not None:
            self._service.accounts.access.require(Operation.LISTEN, self._call.owner)
            turn = await self._input.recorded(part.audio)
        await self._add_item(item, event.previous_item_id)
        if part.transcript is None:
            await self._transcribe(item, turn)

    async def _add_turn(self, item_id: str, turn: bytes) -> None:
        """Take a turn that was heard into the conversation, and have it transcribed."""
        item = HeardItem(item_id, None if turn else "")
        previous = self._conversation.add(item)
        await self._outbox.send("input_audio_buffer.committed", previous_item_id=previous, item_id=item_id)
        await self._tell_item(item, previous)
        await self._transcribe(item, turn)

    async def _transcribe(self, item: HeardItem, turn: bytes) -> None:
        if turn and self._options.input.transcription is not None:
            await self._transcriber.submit(Turn(item, turn, self._options.input.transcription))

    async def _add_item(self, item: Item, after: str) -> None:
        await self._tell_item(item, self._conversation.add(item, after))

    async def _tell_item(self, item: Item, previous: str | None) -> None:
        for name in ("conversation.item.added", "conversation.item.done"):
            await self._outbox.send(name, previous_item_id=previous, item=item.fields())

    async def _retrieve_item(self, message: ClientEvent) -> None:
        item = self._item(Fields(message).parsed(ItemReference).item_id, "retrieve")
        await self._outbox.send("conversation.item.retrieved", item=item.fields())

    async def _delete_item(self, message: ClientEvent) -> None:
        item = self._item(Fields(message).parsed(ItemReference).item_id, "delete")
        self._conversation.remove(item)
        await self._outbox.send("conversation.item.deleted", item_id=item.id)

    async def _truncate_item(self, message: ClientEvent) -> None:
        """Keep of a response's text what was said before the client stopped playing it, and stop making more."""
        event = Fields(message).parsed(ItemTruncate)
        item = self._item(event.item_id, "truncate")
        if not isinstance(item, SpokenItem):
            raise EventError(
                "Only the speech of a response can be truncated.", "item_truncate_invalid_item_id", field="item_id"
            )
        for response in self._live():
            if response.item is item:
                await self._stop(response)
        item.truncate(event.audio_end_ms)
        await self._outbox.send(
            "conversation.item.truncated",
            item_id=item.id,
            content_index=event.content_index,
            audio_end_ms=event.audio_end_ms,
        )

    def _item(self, item_id: str, action: str) -> Item:
        item = self._conversation.find(item_id)
        if item is None:
            raise EventError(
                f"There is no item {item_id!r} to {action}; it was deleted, or had to make room.",
                f"item_{action}_invalid_item_id",
                field="item_id",
            )
        return item

    async def _create_response(self, message: ClientEvent) -> None:
        if self._options.kind is SessionKind.TRANSCRIPTION:
            raise EventError(
                "A session for transcription has no responses; open one of type 'realtime'.", NOT_SUPPORTED
            )
        asked = self._dialect.response_request(self._options.speech, message)
        in_conversation = asked.fields.conversation == "auto"
        if in_conversation:
            await self._wait_for_conversation()
        items = self._items_to_speak(asked.fields)
        plan = ResponsePlan(
            self._text(items),
            asked.options.shown(self._service.registry),
            self._conversation if in_conversation else None,
            asked.fields.metadata,
        )
        response = Response(plan, self._outbox, self._dialect)
        context = await self._context(plan.text, asked.options)
        ended = partial(self._note_end, response)
        self._contexts.open(response.id, context, response.deliver, response.fail, ended)
        self._responses = {each.id: each for each in (*self._live(), response)}
        if in_conversation:
            self._conversation.note_spoken(items)

    async def _wait_for_conversation(self) -> None:
        """A conversation has one response at a time; the last events of the one before may still be on their way."""
        for response in self._live():
            if not response.in_conversation:
                continue
            if response.in_progress:
                raise EventError(
                    f"The conversation has an active response, {response.id}; cancel it, wait for its 'response.done', "
                    "or set 'response.conversation' to 'none'.",
                    "conversation_already_has_active_response",
                )
            await response.ended.wait()

    def _items_to_speak(self, fields: ResponseFields) -> Sequence[Item]:
        if fields.input is None:
            return self._conversation.items_to_speak()
        places = [(f"response.input[{index}]", given) for index, given in enumerate(fields.input)]
        return [
            self._item(given.id or "", "retrieve")
            if given.type == "item_reference"
            else Message.of(given.checked(place))
            for place, given in places
        ]

    def _text(self, items: Sequence[Item]) -> str:
        spoken = spoken_of(items)
        if any(isinstance(item, HeardItem) for item in spoken):
            raise EventError(
                "There is no language model here that would answer what was heard; create an item with the text of "
                "the answer first, as a message of the assistant's.",
                NOT_SUPPORTED,
                field="response.input",
            )
        self._check_length(sum(item.chars for item in spoken), "response.input")
        text = "\n".join(item.text for item in spoken)
        if not text.strip():
            raise TextError(
                "There is nothing to speak: give 'response.input' a user's message, or create one in the conversation.",
                field="response.input",
            )
        return text

    def _check_length(self, chars: int, field: str) -> None:
        limit = self._service.settings.max_input_chars
        if chars > limit:
            raise TextError(f"The text has {chars:,} characters; send {limit:,} at most in one response.", field=field)

    async def _context(self, text: str, options: SpeechOptions) -> SpeechContext:
        """The context that speaks a text."""
        request = await speech_request(options.speech_body(), NAME, self._service, self._voices, self._call.owner)
        context = SpeechContext(self._service, request, self._call)
        context.push(text)
        context.end()
        return context

    async def _cancel_response(self, message: ClientEvent) -> None:
        wanted = Fields(message).parsed(ResponseCancel).response_id
        speaking = [response for response in self._live() if response.in_progress]
        if wanted is not None:
            speaking = [response for response in speaking if response.id == wanted]
        if not speaking:
            raise EventError("There is no response to cancel; it has ended already.", "response_cancel_not_active")
        await self._stop(max(speaking, key=lambda response: response.in_conversation))

    async def _clear_output(self, message: ClientEvent) -> None:
        """Stop all speech of the conversation; what was sent already is in the client's hands."""
        speaking = [response for response in self._live() if response.in_conversation and response.in_progress]
        if not speaking:
            raise EventError("There is no sound to clear; no response is being spoken.", "response_cancel_not_active")
        for response in speaking:
            await self._stop(response)
            await self._outbox.send("output_audio_buffer.cleared", response_id=response.id)

    async def _interrupt(self) -> None:
        """Stop what the conversation says, since somebody begins to speak."""
        for response in self._live():
            if response.in_conversation and response.in_progress:
                await self._stop(response, "turn_detected")

    def _note_end(self, response: Response) -> None:
        if response.in_conversation:
            self._input.note_response(response.item.seconds)

    async def _stop(self, response: Response, reason: str = "client_cancelled") -> None:
        """Stop a response, and return when its last event has been sent."""
        response.cancel(reason)
        context = self._contexts.get(response.id)
        if context is not None:
            await context.cancel()
            await response.ended.wait()

    def _live(self) -> Sequence[Response]:
        return [response for response in self._responses.values() if not response.ended.is_set()]


def _event_id(message: ClientEvent) -> str | None:
    """The client's id of an event, by which it knows which one an error is about."""
    given = message.get("event_id")
    return given if isinstance(given, str) and len(given) <= _MAX_EVENT_ID else None
