"""One gRPC call: its owner, its deadline, its messages and errors on the wire."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from typing import NoReturn, Protocol
from urllib.parse import unquote
from uuid import uuid4

import grpc
import structlog

from polyvox.api.answer_headers import provenance_headers, rate_headers
from polyvox.api.dialects.grpc.schema import Message
from polyvox.api.middleware.request_ids import REQUEST_ID_HEADER, given_request_id
from polyvox.api.refusals import SESSION_HEADER
from polyvox.api.responses.streaming import CHANNELS_HEADER, CHUNKS_HEADER, SAMPLE_RATE_HEADER, WARNING_HEADER
from polyvox.errors import (
    DeadlineError,
    OverloadedError,
    PolyvoxError,
    QuotaError,
    RateLimitError,
    StalledError,
    UnavailableError,
    status_of,
)
from polyvox.service.admission.pending_bodies import PendingBody
from polyvox.service.call_context import CallContext
from polyvox.service.keys.client_names import client_name
from polyvox.service.session import Session, SessionState
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.consent import CONSENT_HEADER, calling
from polyvox.text.warnings import one_line
from polyvox.voices.records import SHARED_OWNER

CODE_KEY = "x-error-code"
FIELD_KEY = "x-error-field"
RETRY_KEY = "retry-after"
PUSHBACK_KEY = "grpc-retry-pushback-ms"
"""gRPC's own clients obey this one where they are set to retry."""

MESSAGE_BYTES = 65_536
"""Most audio of one message: well below the default limit of clients, 4 MiB, and a whole number of samples."""

Metadata = Sequence[tuple[str, str | bytes]]

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class Context(Protocol):
    """The part of `grpc.aio.ServicerContext` that is used."""

    def invocation_metadata(self) -> Metadata | None: ...

    def peer(self) -> str: ...

    def time_remaining(self) -> float | None: ...

    async def send_initial_metadata(self, metadata: Metadata) -> None: ...

    async def write(self, message: Message) -> None: ...

    def set_trailing_metadata(self, metadata: Metadata) -> None: ...

    async def abort(self, code: object, details: str, trailing_metadata: Metadata) -> NoReturn: ...


class Call:
    """A call under way; `owner` is the owner id of its key, `body` the memory of its message."""

    def __init__(self, context: Context, stall_seconds: float, body: PendingBody) -> None:
        self.owner = SHARED_OWNER
        self.stall_seconds = stall_seconds
        self._context = context
        self._body = body
        self._session_id = ""
        self._given_id = given_request_id(self._metadata(REQUEST_ID_HEADER))
        self.request_id = self._given_id or uuid4().hex

    @asynccontextmanager
    async def session(self, service: SpeechService, request: SpeechRequest) -> AsyncIterator[Session]:
        """A session that lives no longer than the call; its metadata goes to the client before any audio."""
        asked = replace(request, deadline=self._seconds_left())
        async with await service.open(asked, self._call_context()) as session:
            self._session_id = session.id
            self._body.close()
            await self._context.send_initial_metadata(self._session_metadata(session))
            try:
                yield session
            except PolyvoxError as error:
                if session.state is not SessionState.FAILED:  # a session that failed has counted itself
                    service.metrics.failed(error)
                raise
            if session.warnings:  # again, since a text that was still arriving may have added some
                self._context.set_trailing_metadata(((WARNING_HEADER.lower(), one_line(session.warnings)),))

    def _call_context(self) -> CallContext:
        return CallContext(self._client, self.owner, request_id=self._given_id)

    @property
    def _client(self) -> str:
        return client_name(self.owner, host_of(self._context.peer()))

    def stating(self) -> AbstractContextManager[None]:
        """Hold what the metadata says of consent to the use of a recording."""
        return calling(self._client, self._metadata(CONSENT_HEADER))

    @property
    def wants_chunks(self) -> bool:
        """True if the caller asks for the ranges of the chunks where its service does not give them by itself."""
        return self._metadata(CHUNKS_HEADER) == "1"

    def _metadata(self, name: str) -> str | None:
        given = dict(self._context.invocation_metadata() or ()).get(name.lower())
        return given if isinstance(given, str) else None

    async def send(self, message: Message) -> None:
        """Send a message; a client that accepts none for too long loses the call."""
        try:
            async with asyncio.timeout(self.stall_seconds):
                await self._context.write(message)
        except TimeoutError as error:
            raise StalledError(f"The client took nothing for {self.stall_seconds:g} s; read faster.") from error

    async def fail(self, error: PolyvoxError) -> NoReturn:
        """End the call with an error from the table."""
        status = status_of(error)
        log.debug("answered with an error", code=status.code, field=error.field, session=self._session_id or None)
        trailers = [(CODE_KEY, status.code), (REQUEST_ID_HEADER, self.request_id)]
        if error.field is not None:
            trailers.append((FIELD_KEY, _ascii(error.field)))
        if self._session_id:
            trailers.append((SESSION_HEADER.lower(), self._session_id))
        if isinstance(error, OverloadedError):
            trailers.append((RETRY_KEY, str(max(1, math.ceil(error.retry_after)))))
            pushback = -1 if isinstance(error, QuotaError) else math.ceil(1000 * error.retry_after)
            trailers.append((PUSHBACK_KEY, str(pushback)))
            if isinstance(error, RateLimitError):
                trailers += [(name.lower(), value) for name, value in rate_headers(error).items()]
        elif isinstance(error, UnavailableError):
            trailers += _retry_trailers(error)
        await self._context.abort(grpc.StatusCode[status.grpc], error.message, tuple(trailers))

    @property
    def has_session(self) -> bool:
        """True once the service has taken the request, which then counts its errors itself."""
        return bool(self._session_id)

    @property
    def reference(self) -> str:
        """The id of the call in the log."""
        return self._session_id or self.request_id

    def _session_metadata(self, session: Session) -> Metadata:
        metadata = [
            (REQUEST_ID_HEADER, self.request_id),
            (SESSION_HEADER.lower(), session.id),
            (SAMPLE_RATE_HEADER.lower(), str(session.sample_rate)),
            (CHANNELS_HEADER.lower(), str(session.channels)),
        ]
        metadata += [(name.lower(), value) for name, value in rate_headers(session.quota_lease.tightest).items()]
        metadata += [(name.lower(), value) for name, value in provenance_headers(session).items()]
        if session.warnings:
            metadata.append((WARNING_HEADER.lower(), one_line(session.warnings)))
        return tuple(metadata)

    def _seconds_left(self) -> float | None:
        seconds = self._context.time_remaining()
        if seconds is not None and seconds <= 0:
            raise DeadlineError("The call's deadline has passed; allow more time.")
        return seconds


def host_of(peer: str) -> str:
    """The address in gRPC's name for a client, `ipv4:127.0.0.1:50000` or `ipv6:[::1]:50000`, percent-encoded."""
    return unquote(peer).partition(":")[2].rpartition(":")[0].strip("[]")


def _retry_trailers(error: UnavailableError) -> list[tuple[str, str]]:
    """The time at which gRPC's own retries may come; a negative pushback ends them."""
    if error.retry_after is not None:
        seconds = max(1, math.ceil(error.retry_after))
        return [(RETRY_KEY, str(seconds)), (PUSHBACK_KEY, str(1000 * seconds))]
    return [(PUSHBACK_KEY, "-1")] if error.retry is False else []


def _ascii(text: str) -> str:
    """As a value of metadata: one line of printable ASCII."""
    return " ".join(text.split()).encode("ascii", "replace").decode()
