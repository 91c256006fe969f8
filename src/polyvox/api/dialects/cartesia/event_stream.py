"""SpeechEventStream: speech as server-sent events."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from polyvox.api.dialects.cartesia.bodies import EventsBody
from polyvox.api.dialects.cartesia.events import Event, audio_events, done_event, error_event
from polyvox.api.dialects.cartesia.words import SentWords
from polyvox.errors import PolyvoxError
from polyvox.service.session import Session


@dataclass(slots=True)
class SpeechEventStream:
    """Server-sent events: words, phonemes, audio, and the end."""

    body: EventsBody
    _session_id: str = field(default="", init=False)
    media_type = "text/event-stream; charset=utf-8"
    buffered = False

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        self._session_id = session.id
        words = SentWords(self.body)
        async with aclosing(self.body.output_format.encoded(session)) as parts:
            async for part in parts:
                timed = () if part.chunk is None else part.chunk.words
                for event in words.events(timed, self.body.transcript):
                    yield self._written(event)
                for event in audio_events(part.data, part.chunk):
                    yield self._written(event)
        yield self._written(done_event(session.warnings))

    def error_tail(self, error: PolyvoxError) -> bytes:
        return self._written(error_event(error) | {"request_id": self._session_id})

    def _written(self, event: Event) -> bytes:
        if self.body.context_id is not None:
            event["context_id"] = self.body.context_id
        content = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
        return f"event: {event['type']}\ndata: {content}\n\n".encode()
