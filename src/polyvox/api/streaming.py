"""Speech on its way to an HTTP client: one response owns one session, from admission to the last byte."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import structlog
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from polyvox.api.errors import SESSION_HEADER, note_session
from polyvox.audio.encode import AudioFormat
from polyvox.errors import EngineError, PolyvoxError, StalledError, status_of
from polyvox.service.encoding import encode_whole, encoded
from polyvox.service.session import Session, SessionState
from polyvox.service.speech import SpeechRequest, SpeechService

SAMPLE_RATE_HEADER = "X-Audio-Sample-Rate"
CHANNELS_HEADER = "X-Audio-Channels"
BIT_DEPTH_HEADER = "X-Audio-Bit-Depth"
WARNING_HEADER = "X-Polyvox-Warning"

_NAMES: Mapping[str, str | None] = MappingProxyType({"language": "lang_code"})

_LINEAR = ("audio/pcm", "audio/wav", "audio/L16")

_WRITE_BYTES = 65_536

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class Layout(Protocol):
    """How a session's audio is laid out in a response body."""

    @property
    def media_type(self) -> str: ...

    @property
    def whole(self) -> bool:
        """Whether the body is sent at once, with its length, after the last chunk."""

    def pieces(self, session: Session) -> AsyncGenerator[bytes]:
        """The body, none of its pieces empty; the first one holds audio."""

    def last_words(self, error: PolyvoxError) -> bytes | None:
        """What ends a body that has begun and cannot go on; None where the dialect can only break off."""


@dataclass(frozen=True, slots=True)
class AudioStream:
    """The encoded audio itself, as it is ready."""

    format: AudioFormat
    whole = False

    @property
    def media_type(self) -> str:
        return self.format.media_type

    async def pieces(self, session: Session) -> AsyncGenerator[bytes]:
        async with aclosing(encoded(session, self.format)) as parts:
            async for part in parts:
                if part.data:
                    yield part.data

    def last_words(self, error: PolyvoxError) -> None:
        return None


@dataclass(frozen=True, slots=True)
class AudioFile:
    """One whole file, with the true sizes and durations that a stream's header cannot know."""

    format: AudioFormat
    whole = True

    @property
    def media_type(self) -> str:
        return self.format.media_type

    async def pieces(self, session: Session) -> AsyncGenerator[bytes]:
        yield await encode_whole(session, self.format)

    def last_words(self, error: PolyvoxError) -> None:
        return None


class StreamAbortedError(Exception):
    """Raised to the server so that it cuts the connection: the client must not take a torn body for a whole one."""


class SpeechResponse(Response):
    """Speaks a request. Nothing is sent before there is audio, so every early failure has its own status.

    Whoever leaves first ends both sides: a client that goes away, even while it queues, frees its session at once.
    `names` gives the dialect's own names of fields, or None for those that it has not, for errors to point at.
    """

    def __init__(
        self, service: SpeechService, request: SpeechRequest, layout: Layout, names: Mapping[str, str | None] = _NAMES
    ) -> None:
        super().__init__()
        self._service = service
        self._request = request
        self._layout = layout
        self._names = names

    def file_headers(self, session: Session, body: bytes) -> Mapping[str, str]:
        """What else a dialect says of a whole file."""
        return {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        speaking = asyncio.create_task(self._speak(scope, send))
        leaving = asyncio.create_task(_disconnect(receive))
        try:
            await asyncio.wait({speaking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            speaking.cancel()
            leaving.cancel()
            await asyncio.wait({speaking, leaving})
        if not speaking.cancelled():
            self._result_in_dialect(speaking)

    def _result_in_dialect(self, speaking: asyncio.Task[None]) -> None:
        """Raise what a session raised, its field called as callers of this door call it."""
        try:
            speaking.result()
        except PolyvoxError as error:
            if error.field is not None:
                error.field = self._names.get(error.field, error.field)
            raise

    async def _speak(self, scope: Scope, send: Send) -> None:
        async with await self._service.open(self._request) as session:
            note_session(scope, session.id)
            client = _Client(send, self._service.settings.stall_seconds)
            try:
                async with aclosing(_typed(self._layout.pieces(session), session.id)) as pieces:
                    if self._layout.whole:
                        await self._send_whole(session, pieces, client)
                    else:
                        await self._send_stream(session, pieces, client)
            except PolyvoxError as error:
                if session.state is not SessionState.FAILED:  # a session that failed has counted itself
                    self._service.metrics.failed(error)
                if not client.started:
                    raise
                await self._break_off(session, client, error)

    async def _send_whole(self, session: Session, pieces: AsyncIterator[bytes], client: "_Client") -> None:
        body = b"".join([piece async for piece in pieces])
        headers = self._session_headers(session)
        headers["Content-Length"] = str(len(body))
        headers.update(self.file_headers(session, body))
        await client.start(headers)
        await client.write(body)
        await client.finish()

    async def _send_stream(self, session: Session, pieces: AsyncIterator[bytes], client: "_Client") -> None:
        first = await anext(pieces, b"")
        headers = self._session_headers(session)
        headers["X-Accel-Buffering"] = "no"
        await client.start(headers)
        await client.write(first)
        async for piece in pieces:
            await client.write(piece)
        await client.finish()

    async def _break_off(self, session: Session, client: "_Client", error: PolyvoxError) -> None:
        """End a body that has begun, with the dialect's last words to a client that still listens."""
        log.warning("stream broken off", code=status_of(error).code)
        last_words = None if isinstance(error, StalledError) else self._layout.last_words(error)
        if last_words is None:
            raise StreamAbortedError(f"session {session.id}: {error.message}") from error
        await client.write(last_words)
        await client.finish()

    def _session_headers(self, session: Session) -> MutableHeaders:
        headers = MutableHeaders(
            {
                "Content-Type": self._layout.media_type,
                "Cache-Control": "no-store",
                SESSION_HEADER: session.id,
                SAMPLE_RATE_HEADER: str(session.sample_rate),
                CHANNELS_HEADER: str(session.channels),
            }
        )
        if self._layout.media_type.startswith(_LINEAR):
            headers[BIT_DEPTH_HEADER] = "16"
        if session.warnings:
            text = " ".join(" ".join(session.warnings).split())
            headers[WARNING_HEADER] = text.encode("ascii", "replace").decode()
        return headers


class _Client:
    """The way to one client: small writes, each of which must get through in time."""

    def __init__(self, send: Send, stall_seconds: float) -> None:
        self._send = send
        self._stall_seconds = stall_seconds
        self.started = False

    async def start(self, headers: MutableHeaders) -> None:
        self.started = True
        await self._send({"type": "http.response.start", "status": 200, "headers": headers.raw})

    async def write(self, data: bytes) -> None:
        for start in range(0, len(data), _WRITE_BYTES):
            piece = data[start : start + _WRITE_BYTES]
            try:
                async with asyncio.timeout(self._stall_seconds):
                    await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            except TimeoutError as error:
                raise StalledError(f"The client took nothing for {self._stall_seconds:g} s; read faster.") from error

    async def finish(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


async def _typed(pieces: AsyncGenerator[bytes], session_id: str) -> AsyncGenerator[bytes]:
    """The pieces as they are; a defect on the way becomes an error that a client may see."""
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except PolyvoxError:
        raise
    except Exception as error:
        log.exception("speech failed")
        raise EngineError(f"The speech failed; the cause is in the server's log under session {session_id}.") from error


async def _disconnect(receive: Receive) -> None:
    """Return when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        continue
