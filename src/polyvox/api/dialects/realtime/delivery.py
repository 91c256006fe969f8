"""One context's way to its client: audio in sequence, word timings, flushes, and how it ended."""

from collections.abc import Callable, Sequence
from contextlib import aclosing

from polyvox.api.dialects.realtime import events
from polyvox.api.dialects.realtime.caller import Caller
from polyvox.api.dialects.realtime.frames import AudioPiece, pieces
from polyvox.api.dialects.realtime.messages import FIELD_NAMES, FlushId, Start
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.audio.encode import AudioFormat
from polyvox.errors import PolyvoxError
from polyvox.service.contexts.context_encoding import EncodedEvent, encoded_context
from polyvox.service.contexts.speech_context import SpeechContext
from polyvox.service.speech_request import SpeechOutput, SpeechRequest
from polyvox.service.words.viseme_track import Viseme, VisemeTrack

_SAMPLE_BYTES = 2


class ContextDelivery:
    """Sends one context; `number` stands for it in binary frames. `on_flushed` is told of each flush that is done."""

    def __init__(
        self,
        socket: JsonSocket,
        caller: Caller,
        request: SpeechRequest,
        start: Start,
        number: int,
        on_flushed: Callable[[], None],
    ) -> None:
        self._socket = socket
        self._on_flushed = on_flushed
        self._caller = caller
        self._request = request
        self._start = start
        self._number = number
        self._format = start.audio_format
        self._flush_ids: dict[int, FlushId] = {}
        self._sequence = 0
        self._chunks = 0
        self._samples = 0
        self._muted = False
        self._visemes = VisemeTrack()

    def note_flush(self, number: int, flush_id: FlushId | None) -> None:
        """Remember by which id the client knows a flush."""
        if flush_id is not None:
            self._flush_ids[number] = flush_id

    def mute(self) -> None:
        """Send nothing more of the context by itself; it is being cancelled."""
        self._muted = True

    async def run(self, context: SpeechContext) -> None:
        """Send all of the context."""
        output = await self._caller.service.output(self._request, self._caller.call)
        await self._socket.send(events.started(self._start, self._number, output, self._caller.connection_id))
        sample_bytes = _SAMPLE_BYTES * output.channels if self._format is AudioFormat.PCM else None
        async with aclosing(encoded_context(context, self._format)) as parts:
            async for part in parts:
                await self._send_part(part, sample_bytes)
        await self._send_visemes(self._visemes.finish())
        await self._send(self._done(context, output))

    async def fail(self, error: PolyvoxError) -> None:
        """Tell the client what ended the context."""
        error.field = FIELD_NAMES.get(error.field or "", error.field)
        await self._send(events.error(error, self._start.context, ended=True))

    async def confirm_cancel(self) -> None:
        await self._socket.send(events.cancelled(self._start.context, self._samples, self._chunks))

    async def _send_part(self, part: EncodedEvent, sample_bytes: int | None) -> None:
        if part.flushed is not None:
            self._on_flushed()
            flush_id = self._flush_ids.pop(part.flushed, part.flushed)
            await self._send(events.flushed(self._start.context, flush_id))
            return
        start, end = self._samples, self._samples
        if part.chunk is not None:
            start, end = part.chunk.start, part.chunk.end
        for piece in pieces(part.data, start, end, sample_bytes):
            await self._send_piece(piece)
        if part.chunk is not None:
            self._samples, self._chunks = end, self._chunks + 1
            timed = self._start.word_timings or self._start.phoneme_timings
            if timed and part.chunk.words:
                phonemes = self._start.phoneme_timings
                await self._send(events.words(self._start.context, part.chunk, phonemes=phonemes))
            await self._send_visemes(self._visemes.add(part.chunk))

    async def _send_visemes(self, shown: Sequence[Viseme]) -> None:
        if self._start.visemes and shown:
            await self._send(events.visemes(self._start.context, shown))

    async def _send_piece(self, piece: AudioPiece) -> None:
        sequence, self._sequence = self._sequence, self._sequence + 1
        if not self._start.binary:
            await self._send(events.audio(self._start.context, sequence, piece))
        elif not self._muted:
            await self._socket.send_bytes(piece.frame(self._number, sequence))

    async def _send(self, event: events.Event) -> None:
        if not self._muted:
            await self._socket.send(event)

    def _done(self, context: SpeechContext, output: SpeechOutput) -> events.Event:
        return events.done(
            self._start.context,
            samples=self._samples,
            chunks=self._chunks,
            sample_rate=output.sample_rate,
            characters=len(context.text),
            warnings=context.warnings,
        )
