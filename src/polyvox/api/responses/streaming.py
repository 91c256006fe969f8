"""Speech as an HTTP response: one response owns one session, from admission to the last byte."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from types import MappingProxyType

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from polyvox.api.answer_headers import LINK_HEADER, PROVENANCE_HEADER, RATE_HEADERS, provenance_headers, rate_headers
from polyvox.api.body_format import BodyFormat
from polyvox.api.dependencies import call_of
from polyvox.api.errors import StreamAbortedError, note_session
from polyvox.api.middleware.request_ids import REQUEST_ID_HEADER
from polyvox.api.refusals import RETRY_HEADER, SESSION_HEADER
from polyvox.api.responses.cached_answers import (
    AGE_HEADER,
    CACHE_HEADER,
    ETAG_HEADER,
    cache_headers,
    is_unchanged,
    unchanged_status,
)
from polyvox.api.responses.client_writer import ClientWriter, ended_or_left
from polyvox.errors import EngineError, PolyvoxError, StalledError, status_of
from polyvox.service.session import Session, SessionState
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.text.warnings import one_line

SAMPLE_RATE_HEADER = "X-Audio-Sample-Rate"
CHANNELS_HEADER = "X-Audio-Channels"
BIT_DEPTH_HEADER = "X-Audio-Bit-Depth"
WARNING_HEADER = "X-Polyvox-Warning"
CHUNKS_HEADER = "X-Polyvox-Chunks"
"""1 in a request asks for the ranges of the chunks; a whole answer gives them under this name."""

PUBLIC_HEADERS = (
    SESSION_HEADER,
    SAMPLE_RATE_HEADER,
    CHANNELS_HEADER,
    BIT_DEPTH_HEADER,
    WARNING_HEADER,
    CHUNKS_HEADER,
    RETRY_HEADER,
    REQUEST_ID_HEADER,
    CACHE_HEADER,
    AGE_HEADER,
    ETAG_HEADER,
    PROVENANCE_HEADER,
    LINK_HEADER,
    *RATE_HEADERS,
)
"""Headers of all doors that web pages of other origins may read."""

FieldNames = Mapping[str, str | None]
"""A dialect's names of a speech request's fields, by the service's names; None where the dialect has no such field."""

_LINEAR = ("audio/pcm", "audio/wav", "audio/L16")

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class SpeechResponse(Response):
    """Speaks a request. Nothing is sent before there is audio, so every early failure has its own status.

    Whichever side ends first ends the other: a client that goes away, even while it queues, frees its session at once.
    Errors call fields by the names that the door declares for the path; `names` replaces some of them for one request.
    `headers` are further ones of the answer.
    """

    def __init__(
        self,
        service: SpeechService,
        request: SpeechRequest,
        body_format: BodyFormat,
        names: FieldNames = MappingProxyType({}),
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self._more_headers = headers
        self._service = service
        self._request = request
        self._body_format = body_format
        self._names = names

    def file_headers(self, session: Session, size: int) -> Mapping[str, str]:
        """Further headers of a whole file of so many bytes."""
        return {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        speaking = await ended_or_left(self._speak(scope, send), receive)
        if not speaking.cancelled():
            self._raise_in_dialect(speaking, {**scope["app"].state.field_names[scope["path"]], **self._names})

    def _raise_in_dialect(self, speaking: asyncio.Task[None], names: FieldNames) -> None:
        """Raise the session's error, if any, with the dialect's name of the field."""
        try:
            speaking.result()
        except PolyvoxError as error:
            if error.field is not None:
                error.field = names.get(error.field, error.field)
            raise

    async def _speak(self, scope: Scope, send: Send) -> None:
        given, whole = Headers(scope=scope), self._body_format.buffered
        async with await self._service.open(self._request, call_of(scope), whole=whole) as session:
            note_session(scope, session.id)
            client = ClientWriter(send, self._service.settings.stall_seconds)
            if is_unchanged(given, session, self._body_format):
                await client.start(self._session_headers(session), unchanged_status(scope["method"]))
                await client.finish()
                return
            try:
                async with aclosing(_typed(self._body_format.parts(session), session.id)) as parts:
                    if whole:
                        await self._send_file(session, parts, client, chunks=given.get(CHUNKS_HEADER) == "1")
                    else:
                        await self._send_stream(session, parts, client)
            except PolyvoxError as error:
                if session.state is not SessionState.FAILED:  # a session that failed has counted itself
                    self._service.metrics.failed(error)
                if not client.started:
                    raise
                await self._break_off(session, client, error)

    async def _send_file(
        self, session: Session, parts: AsyncIterator[bytes], client: ClientWriter, *, chunks: bool
    ) -> None:
        body = [part async for part in parts]
        size = sum(map(len, body))
        headers = self._session_headers(session)
        headers["Content-Length"] = str(size)
        if chunks:
            headers[CHUNKS_HEADER] = str(session.chunks)
        headers.update(self.file_headers(session, size))
        await client.start(headers)
        for part in body:
            await client.write(part)
        await client.finish()

    async def _send_stream(self, session: Session, parts: AsyncIterator[bytes], client: ClientWriter) -> None:
        first = await anext(parts, b"")
        headers = self._session_headers(session)
        headers["X-Accel-Buffering"] = "no"
        await client.start(headers)
        await client.write(first)
        async for part in parts:
            await client.write(part)
        await client.finish()

    async def _break_off(self, session: Session, client: ClientWriter, error: PolyvoxError) -> None:
        """End a body that has begun: with the dialect's error tail, or by cutting the connection."""
        log.warning("stream broken off", code=status_of(error).code)
        error_tail = None if isinstance(error, StalledError) else self._body_format.error_tail(error)
        if error_tail is None:
            raise StreamAbortedError(f"session {session.id}: {error.message}") from error
        await client.write(error_tail)
        await client.finish()

    def _session_headers(self, session: Session) -> MutableHeaders:
        headers = MutableHeaders(
            {
                "Content-Type": self._body_format.media_type,
                "Cache-Control": "no-store",
                SESSION_HEADER: session.id,
                SAMPLE_RATE_HEADER: str(session.sample_rate),
                CHANNELS_HEADER: str(session.channels),
            }
        )
        headers.update(rate_headers(session.quota_lease.tightest))
        headers.update(cache_headers(session, self._body_format))
        headers.update(provenance_headers(session))
        headers.update(self._more_headers)
        if self._body_format.media_type.startswith(_LINEAR):
            headers.setdefault(BIT_DEPTH_HEADER, "16")
        if session.warnings:
            headers[WARNING_HEADER] = one_line(session.warnings)
        return headers


async def _typed(parts: AsyncGenerator[bytes], session_id: str) -> AsyncGenerator[bytes]:
    """Pass the parts on; turn an unexpected exception into an `EngineError`."""
    try:
        async with aclosing(parts):
            async for part in parts:
                yield part
    except PolyvoxError:
        raise
    except Exception as error:
        log.exception("speech failed")
        raise EngineError(f"The speech failed; the cause is in the server's log under session {session_id}.") from error
