"""RealtimeConnection: obeys the client events of one socket."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from polyvox.api.dialects.openai_realtime.client_events import (
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
from polyvox.api.dialects.openai_realtime.item import Item, Message, SpokenItem, spoken_of
from polyvox.api.dialects.openai_realtime.outbox import Outbox
from polyvox.api.dialects.openai_realtime.response import Response, ResponsePlan
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions
from polyvox.api.requests.forms import Fields
from polyvox.api.requests.speech_requests import speech_request
from polyvox.api.sockets.context_pool import ContextPool
from polyvox.api.sockets.json_socket import JsonSocket, MessageError
from polyvox.errors import InvalidRequestError, PolyvoxError, TextError
from polyvox.service.call_context import CallContext
from polyvox.service.contexts.speech_context import SpeechContext
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

NAME = "openai-realtime"

_MAX_EVENT_ID = 512
_LISTENING = ("input_audio_buffer.", "transcription_session.")

ClientEvent = Mapping[str, Any]


class RealtimeConnection:
    """One session, its conversation, and the responses that are being spoken."""

    def __init__(
        self,
        socket: JsonSocket,
        dialect: Dialect,
        options: SpeechOptions,
        service: SpeechService,
        voices: VoiceService,
        call: CallContext,
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
        self._handlers: Mapping[str, Callable[[ClientEvent], Awaitable[None]]] = {
            "session.update": self._update_session,
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
        async with self._contexts:
            await self._outbox.send("session.created", session=self._session_fields())
            async for message in self._socket.messages(self._refuse):
                await self._obey(message)

    async def _refuse(self, error: MessageError) -> None:
        await self._outbox.send_error(error, None)

    async def _obey(self, message: ClientEvent) -> None:
        try:
            await self._handler(message.get("type"))(message)
        except PolyvoxError as error:
            await self._outbox.send_error(error, _event_id(message))

    def _handler(self, name: object) -> Callable[[ClientEvent], Awaitable[None]]:
        if isinstance(name, str) and name in self._handlers:
            return self._handlers[name]
        if isinstance(name, str) and name.startswith(_LISTENING):
            raise EventError(
                f"'{name[:60]}' cannot be obeyed: this server speaks and does not listen. Send text as messages.",
                NOT_SUPPORTED,
                field="type",
            )
        raise InvalidRequestError(f"'type' must be one of {', '.join(self._handlers)}.", field="type")

    async def _update_session(self, message: ClientEvent) -> None:
        options = self._dialect.updated(self._options, message)
        self._service.registry.resolve(options.served_model)
        self._options = options
        await self._outbox.send("session.updated", session=self._session_fields())

    def _session_fields(self) -> dict[str, Any]:
        shown = self._options.shown(self._service.registry)
        return {"object": "realtime.session", "id": self._id, **self._dialect.session_fields(shown)}

    async def _create_item(self, message: ClientEvent) -> None:
        event = Fields(message).parsed(ItemCreate)
        item = Message.of(event.item.checked("item"))
        self._check_length(item.chars, "item.content")
        previous = self._conversation.add(item, event.previous_item_id)
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
        asked = self._dialect.response_request(self._options, message)
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
        self._contexts.open(response.id, context, response.deliver, response.fail)
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

    async def _stop(self, response: Response) -> None:
        """Stop a response, and return when its last event has been sent."""
        response.cancel()
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
