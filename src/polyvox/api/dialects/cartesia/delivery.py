"""ContextDelivery: one context's way to its client."""

from contextlib import aclosing
from functools import partial

from polyvox.api.dialects.cartesia.bodies import OpeningMessage
from polyvox.api.dialects.cartesia.events import (
    Event,
    audio_events,
    done_event,
    error_event,
    flush_event,
)
from polyvox.api.dialects.cartesia.words import SentWords
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import PolyvoxError
from polyvox.service.contexts.speech_context import Flushed, SpeechContext
from polyvox.types import AudioChunk


class ContextDelivery:
    """Sends a context's words, phonemes, audio and flushes, and how it ended; nothing more once it is silenced.

    Clients count the flushes that they ask for. A context that speaks each message at once makes more of them, which
    are not reported.
    """

    def __init__(
        self, socket: JsonSocket, context_id: str, opening: OpeningMessage, context: SpeechContext, key: str
    ) -> None:
        self._socket = socket
        self._context_id = context_id
        self._opening = opening
        self._words = SentWords(opening)
        self._flushes: dict[int, int] = {}
        self._flush_id = 1
        self._asked = 0
        self.context = context
        self.key = key
        self.silenced = False
        self.ended = False

    def push(self, text: str, *, flush: bool, goes_on: bool) -> None:
        """Take what a message says."""
        self.context.push(text)
        if flush:
            self._asked += 1
            self._flushes[self.context.flush()] = self._asked
        if not goes_on:
            self.context.end()
            self.ended = True

    async def run(self, context: SpeechContext) -> None:
        """Deliver everything up to the end."""
        async with aclosing(aiter(context)) as events:
            async for event in events:
                if isinstance(event, Flushed):
                    await self._report_flush(event.number)
                else:
                    await self._send_chunk(event.chunk)

    async def finish(self) -> None:
        """Tell the client that the context is complete."""
        await self._send(done_event(self.context.warnings))

    async def fail(self, error: PolyvoxError) -> None:
        """Tell the client why the context ends here."""
        await self._send(error_event(error))

    async def _send_chunk(self, chunk: AudioChunk) -> None:
        for event in self._words.events(chunk.words, self.context.text):
            await self._send(event | {"flush_id": self._flush_id})
        data = await self.context.executor.run(partial(self._opening.output_format.pack, chunk.pcm))
        for event in audio_events(data, chunk):
            await self._send(event | {"flush_id": self._flush_id})

    async def _report_flush(self, number: int) -> None:
        flush_id = self._flushes.pop(number, None)
        if flush_id is not None:
            self._flush_id = flush_id + 1
            await self._send(flush_event(flush_id))

    async def _send(self, event: Event) -> None:
        if not self.silenced:
            await self._socket.send(event | {"context_id": self._context_id})
