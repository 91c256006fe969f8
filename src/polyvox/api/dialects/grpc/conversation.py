"""The client's side of a `Converse` call: a config, then text in fragments, an end, or a cancellation."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import structlog

from polyvox.api.dialects.grpc.schema import Message
from polyvox.api.requests.fields import RequestBody, Text
from polyvox.api.requests.forms import Fields
from polyvox.errors import InvalidRequestError, PolyvoxError, StalledError, TextError
from polyvox.service.session import Session

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class _Fragment(RequestBody):
    text: Text


class Conversation:
    """Reads the client's messages ahead of the engine, so that a cancellation takes effect while audio is made."""

    def __init__(self, messages: AsyncIterator[Message], *, max_chars: int, patience: float) -> None:
        self.cancelled = False
        self._messages = messages
        self._max_chars = max_chars
        self._patience = patience
        self._chars = 0
        self._ended = False
        # Bounded by `max_chars`. A bounded queue would keep a cancellation waiting behind the text.
        self._fragments: asyncio.Queue[str | None] = asyncio.Queue()

    async def config(self) -> Message:
        """The first message, which holds voice, format and the like."""
        try:
            async with asyncio.timeout(self._patience):
                first = await anext(self._messages, None)
        except TimeoutError as error:
            raise StalledError(f"No config came for {self._patience:g} s; send it first.") from error
        if first is None or first.WhichOneof("event") != "config":
            raise InvalidRequestError("The first message must hold a config; an empty one will do.", field="config")
        config: Message = first.config
        return config

    async def fragments(self) -> AsyncGenerator[str]:
        """The text as it arrives; `StalledError` when none comes for `patience` seconds."""
        while True:
            try:
                async with asyncio.timeout(self._patience):
                    fragment = await self._fragments.get()
            except TimeoutError as error:
                raise StalledError(f"No text came for {self._patience:g} s; send text, or an end.") from error
            if fragment is None:
                return
            yield fragment

    @asynccontextmanager
    async def read_during(self, session: Session) -> AsyncIterator[None]:
        """Read the client's messages for as long as the block lasts; a cancellation ends the session."""
        reading = asyncio.create_task(self._read(session))
        try:
            yield
        finally:
            reading.cancel()
            await asyncio.wait([reading])

    async def _read(self, session: Session) -> None:
        try:
            async for message in self._messages:
                if message.WhichOneof("event") == "cancel":
                    self.cancelled = True
                    session.cancel()
                    return
                self._take(message)
            self._end()
        except PolyvoxError as error:
            session.cancel(error)
        except Exception:
            log.exception("conversation cannot be read", session=session.id)
            session.cancel(PolyvoxError(f"The server failed; the cause is in its log under {session.id}."))

    def _take(self, message: Message) -> None:
        event = message.WhichOneof("event")
        if event == "end":
            self._end()
            return
        if event != "text":
            raise InvalidRequestError("After the config, send text, an end or a cancel.", field=event)
        if self._ended:
            raise InvalidRequestError("Text came after the end; open another call for it.", field="text")
        text = Fields({"text": message.text}).parsed(_Fragment).text
        self._chars += len(text)
        if self._chars > self._max_chars:
            raise TextError(
                f"The text has more than the {self._max_chars:,} characters that this server takes; send it in several "
                "calls.",
                field="text",
            )
        if text:
            self._fragments.put_nowait(text)

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._fragments.put_nowait(None)
