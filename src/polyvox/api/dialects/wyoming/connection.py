"""One client's connection: its events are answered in turn, its texts spoken and its recordings heard one by one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Protocol

from polyvox.api.dialects.wyoming.arriving_recording import ArrivingRecording, transcription_wishes
from polyvox.api.dialects.wyoming.event import AUDIO_CHUNK, Event, EventError, EventReader, EventWriter
from polyvox.api.dialects.wyoming.voices import WyomingVoices
from polyvox.api.requests.forms import Fields
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.requests.speech_requests import speech_request
from polyvox.audio.encode import AudioFormat
from polyvox.errors import InvalidRequestError, OverloadedError, StalledError
from polyvox.provenance.marks import ORIGIN
from polyvox.service.admission.pending_bodies import PendingBody
from polyvox.service.call_context import CallContext
from polyvox.service.contexts.context_encoding import EncodedEvent, encoded_context
from polyvox.service.contexts.speech_context import SpeechContext
from polyvox.service.encoding import EncodedChunk, encoded
from polyvox.service.keys.client_names import client_name
from polyvox.service.keys.operations import Operation
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.records import SHARED_OWNER

EVENTS = {
    "describe": Operation.LIST,
    "ping": Operation.PROBE,
    "synthesize": Operation.SPEAK,
    "synthesize-start": Operation.SPEAK,
    "synthesize-chunk": Operation.SPEAK,
    "synthesize-stop": Operation.SPEAK,
    "transcribe": Operation.LISTEN,
    "audio-start": Operation.LISTEN,
    AUDIO_CHUNK: Operation.LISTEN,
    "audio-stop": Operation.LISTEN,
}
"""The operation of every event that is answered."""
_DOOR = "wyoming"
_WIDTH = 2  # bytes of a sample
_PAYLOAD_BYTES = 16_384
_MAX_WAITING = 16
"""Texts that a client may send ahead while another is spoken."""
_RETRY_SECONDS = 1.0

Job = Callable[[], Awaitable[None]]


class Turns(Protocol):
    """Is told whose turn it is on a connection: a client that has asked for nothing may have to make room."""

    def busy(self) -> None: ...

    def idle(self) -> None: ...


class WyomingConnection:
    """Answers one client until it leaves. What goes wrong is raised, for the protocol has no way on from there."""

    def __init__(
        self,
        service: SpeechService,
        voices: VoiceService,
        reader: EventReader,
        writer: EventWriter,
        turns: Turns,
        address: str,
        recording: PendingBody,
    ) -> None:
        self._service = service
        self._voices = voices
        self._named = WyomingVoices(service, voices)
        self._reader = reader
        self._writer = writer
        self._turns = turns
        self._call = CallContext(client_name(SHARED_OWNER, address))
        self._jobs: asyncio.Queue[Job] = asyncio.Queue(_MAX_WAITING)
        self._unfinished = 0
        self._context: SpeechContext | None = None
        self._recording = ArrivingRecording(service.settings, recording)
        self._wishes: dict[str, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._finished = asyncio.Event()
        self._finished.set()

    @property
    def is_idle(self) -> bool:
        """True if nothing is being spoken or waits for it."""
        return not self._unfinished

    async def run(self) -> None:
        """Read and speak until the client leaves, something goes wrong, or the connection is stopped."""
        self._tasks = {asyncio.create_task(self._read()), asyncio.create_task(self._speak())}
        try:
            done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if not task.cancelled():
                    task.result()
        finally:
            self.stop()
            await asyncio.wait(self._tasks)
            self._finished.set()

    def stop(self) -> None:
        """End it, with whatever is being spoken."""
        for task in self._tasks:
            task.cancel()

    async def finish(self) -> None:
        """Wait until what was asked for is spoken."""
        await self._finished.wait()

    async def _read(self) -> None:
        while (line := await self._line()) is not None and (event := await self._reader.rest(line)) is not None:
            await self._answer(event)

    async def _line(self) -> bytes | None:
        """The beginning of an event; a client that is spoken to may be silent for as long as that takes."""
        while True:
            try:
                async with asyncio.timeout(self._service.settings.wyoming_idle_seconds):
                    return await self._reader.line()
            except TimeoutError as error:
                if self.is_idle:
                    raise StalledError("The client asked for nothing in a long time.") from error

    async def _answer(self, event: Event) -> None:
        if event.type not in EVENTS:
            return
        self._service.accounts.access.require(EVENTS[event.type], SHARED_OWNER)
        match event.type:
            case "describe":
                await self._writer.send(Event("info", await self._named.info()))
            case "ping":
                await self._writer.send(Event("pong", {"text": event.data.get("text")}))
            case "synthesize" if self._context is None:  # within a stream, the same text once more for other servers
                request = await self._request(event.data, _text_of(event))
                self._later(lambda: self._speak_whole(request))
            case "synthesize-start":
                await self._begin(event)
            case "synthesize-chunk":
                self._stream.push(_text_of(event))
            case "synthesize-stop":
                self._stream.end()
                self._context = None
            case _:
                self._take_recording(event)

    def _take_recording(self, event: Event) -> None:
        match event.type:
            case "transcribe":
                self._wishes = event.data
            case "audio-start":
                self._recording.begin(event.data)
            case "audio-chunk":
                self._recording.add(event.payload)
            case "audio-stop":
                wishes, self._wishes = self._wishes, {}
                request = ListeningRequest(self._recording.ended(), *transcription_wishes(wishes), _DOOR)
                self._later(lambda: self._hear(request))

    async def _hear(self, request: ListeningRequest) -> None:
        try:
            transcript = await self._service.listening.listen(request, self._call)
        finally:
            self._recording.release(len(request.recording))
        await self._writer.send(Event("transcript", {"text": transcript.text, "language": transcript.language}))

    async def _begin(self, event: Event) -> None:
        if self._context is not None:
            raise InvalidRequestError("'synthesize-start' came before the last text's 'synthesize-stop'.")
        request = await self._request(event.data, "")
        context = self._context = SpeechContext(self._service, request, self._call)
        self._later(lambda: self._speak_stream(context, request.model))

    @property
    def _stream(self) -> SpeechContext:
        if self._context is None:
            raise InvalidRequestError("'synthesize-start' must come before a part of a text or its end.")
        return self._context

    async def _request(self, data: dict[str, Any], text: str) -> SpeechRequest:
        choice = await self._named.choose(data.get("voice"))
        values: dict[str, object] = {
            "input": text,
            "model": choice.model,
            "voice": choice.voice,
            "lang_code": choice.language,
        }
        if data.get("text_format") == "ssml":
            values["ssml"] = True
        body = Fields({name: value for name, value in values.items() if value is not None}).parsed(SpeechBody)
        return await speech_request(body, _DOOR, self._service, self._voices, self._call.owner)

    def _later(self, job: Job) -> None:
        try:
            self._jobs.put_nowait(job)
        except asyncio.QueueFull:
            raise OverloadedError(
                f"{_MAX_WAITING} texts of this connection wait already; open another.", retry_after=_RETRY_SECONDS
            ) from None
        self._unfinished += 1
        self._finished.clear()
        self._turns.busy()

    async def _speak(self) -> None:
        while True:
            job = await self._jobs.get()
            await job()
            self._unfinished -= 1
            if self.is_idle:
                self._turns.idle()
                self._finished.set()

    async def _speak_whole(self, request: SpeechRequest) -> None:
        opened = await self._service.open(request, self._call)
        async with opened as session, aclosing(encoded(session, AudioFormat.PCM)) as parts:
            await self._send_audio(parts, request.model)

    async def _speak_stream(self, context: SpeechContext, model: str | None) -> None:
        async with context, aclosing(encoded_context(context, AudioFormat.PCM)) as parts:
            await self._send_audio(parts, model)
        await self._writer.send(Event("synthesize-stopped"))

    @property
    def _origin(self) -> dict[str, str]:
        """The field of `audio-start` that says that what follows is synthetic; other clients ignore it."""
        return {"provenance": ORIGIN} if self._service.notary.marks_answers else {}

    async def _send_audio(self, parts: AsyncIterator[EncodedChunk | EncodedEvent], model: str | None) -> None:
        """Send the sound; one `audio-start`, also where there is nothing to hear."""
        form: dict[str, Any] | None = None
        async for part in parts:
            if form is None and part.chunk is not None:
                channels = 1 if part.chunk.pcm.ndim == 1 else part.chunk.pcm.shape[1]
                form = {"rate": part.chunk.sample_rate, "width": _WIDTH, "channels": channels}
                await self._writer.send(Event("audio-start", form | self._origin))
            for start in range(0, len(part.data), _PAYLOAD_BYTES):
                await self._writer.send(Event("audio-chunk", form or {}, part.data[start : start + _PAYLOAD_BYTES]))
        if form is None:
            known = self._service.registry.model(model).capabilities
            rate, channels = (24_000, 1) if known is None else (known.sample_rate, known.channels)
            await self._writer.send(Event("audio-start", {"rate": rate, "width": _WIDTH, "channels": channels}))
        await self._writer.send(Event("audio-stop"))


def _text_of(event: Event) -> str:
    text = event.data.get("text")
    if not isinstance(text, str):
        raise EventError(f"'{event.type}' needs a 'text'.")
    return text
