"""SpeechEventStream: speech as server-sent events."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from polyvox.api.dialects.cartesia.events import Event, audio_events, done_event, error_event, words_event
from polyvox.api.dialects.cartesia.output_format import OutputFormat
from polyvox.api.dialects.cartesia.words import SentWords
from polyvox.errors import PolyvoxError
from polyvox.service.session import Session


@dataclass(slots=True)
class SpeechEventStream:
    """Server-sent events: words, audio, and the end."""

    output: OutputFormat
    text: str
    timestamps: bool
    context_id: str | None
    _session_id: str = field(default="", init=False)
    media_type = "text/event-stream; charset=utf-8"
    buffered = False

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        self._session_id = session.id
        words = SentWords()
        async with aclosing(self.output.encoded(session)) as parts:
            async for part in parts:
                if self.timestamps and part.chunk is not None and part.chunk.words:
                    yield self._written(words_event(words.timestamps(part.chunk.words, self.text)))
                for event in audio_events(part.data, part.chunk):
                    yield self._written(event)
        yield self._written(done_event(session.warnings))

    def error_tail(self, error: PolyvoxError) -> bytes:
        return self._written(error_event(error) | {"request_id": self._session_id})

    def _written(self, event: Event) -> bytes:
        if self.context_id is not None:
            event["context_id"] = self.context_id
        content = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
        return f"event: {event['type']}\ndata: {content}\n\n".encode()
