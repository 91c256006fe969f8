"""A context's audio as the messages of a socket."""

import base64
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from polyvox.api.dialects.elevenlabs.alignment import Alignment, CharacterAligner
from polyvox.api.dialects.elevenlabs.output_format import OutputFormat
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.service.contexts.context_encoding import EncodedEvent
from polyvox.service.contexts.speech_context import SpeechContext

_PIECE_BYTES = 98_304
"""Audio of one message: some clients read up to 1 MiB, and one that plays at once wants it soon."""

Written = Callable[[str, Alignment, float], Mapping[str, Any]]
"""A message of some audio in base64, and of the characters that are spoken from a time on, in seconds."""


@dataclass(frozen=True, slots=True)
class AudioMessages:
    """Sends what a context speaks: `written` makes a message of audio, `flushed` that of a flush, if there is one.

    Characters go with the first piece of the chunk that they are spoken in; where an encoder holds all of that back,
    with the next. The times of one message may therefore reach beyond its own audio, never beyond that of the chunk.
    Those of a message count from where those of the last one ended, or with `by_audio` from the start of its chunk;
    the two differ where the audio begins with silence.
    """

    socket: JsonSocket
    output: OutputFormat
    written: Written
    flushed: Mapping[str, Any] | None = None
    by_audio: bool = False
    late: bool = False
    """True if words are timed after they were spoken."""

    async def deliver(self, context: SpeechContext) -> None:
        """Send all of a context."""
        aligner, waiting, origin = CharacterAligner(spaced=True, late=self.late), Alignment(), 0.0
        async with aclosing(self.output.encoded_context(context)) as events:
            async for event in events:
                if event.chunk is not None:
                    if not waiting:
                        by_audio = self.by_audio and not self.late
                        origin = event.chunk.start / event.chunk.sample_rate if by_audio else aligner.time
                    waiting += aligner.chunk(context.text, event.chunk)
                waiting = await self._send(event, waiting, origin)
        if waiting:
            await self.socket.send(self.written("", waiting, origin))

    async def _send(self, event: EncodedEvent, waiting: Alignment, origin: float) -> Alignment:
        """Send an event; the characters that are still to be sent."""
        if event.flushed is not None and self.flushed is not None:
            await self.socket.send(self.flushed)
        for start in range(0, len(event.data), _PIECE_BYTES):
            audio = base64.b64encode(event.data[start : start + _PIECE_BYTES]).decode()
            await self.socket.send(self.written(audio, waiting, origin))
            waiting = Alignment()
        return waiting
