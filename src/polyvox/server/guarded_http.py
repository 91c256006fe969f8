"""Uvicorn's HTTP protocol with limits on connections, headers and the time they take."""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from polyvox.server.connection_limits import Transport
from polyvox.server.guarded_config import GuardedConfig

MAX_HEADER_FIELDS = 100
"""Of one request; granian has the same limit built in."""
_TLS_HELLO = b"\x16\x03"
_TLS_REMEDY = (
    "A client spoke TLS (https or wss) to a port without; start the server with --tls auto or --ssl-certfile, or give "
    "the client an http:// or ws:// address."
)


class GuardedHttp(HttpToolsProtocol):
    """One connection. Its client has to send headers in time, and not too many of them."""

    config: GuardedConfig
    admitted_as: Transport | None = None
    """The transport that the connection was admitted as before the protocol had it, if any."""

    def __init__(
        self,
        config: GuardedConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = config.connections
        self._deadline: asyncio.TimerHandle | None = None
        self._in_headers = False
        self._header_bytes = 0
        self._header_fields = 0
        self._unparsed_bytes = 0
        self._too_large = False
        self._is_tls = False
        self._upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        descriptor = transport.get_extra_info("socket").fileno()
        host = self.client[0] if self.client else None
        if self._limits.admit(transport, host, descriptor, self.admitted_as):
            self._start_deadline()
        else:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections are open; try again in a moment.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        self._limits.remove(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._is_tls = self._is_tls or (self.cycle is None and data.startswith(_TLS_HELLO))
        self._unparsed_bytes += len(data)
        super().data_received(data)
        if self._upgraded or self.transport.is_closing():
            return
        if self._unparsed_bytes > self.config.max_header_bytes:  # part of one header, or of a chunk's extensions
            self._too_large = True
            self.send_400_response("")
        elif self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._start_deadline()

    def handle_websocket_upgrade(self) -> None:
        self._upgraded = True
        self._stop_deadline()
        self._limits.serve(self.transport)
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        if not self._too_large:
            self.config.reports.closed("invalid", remedy=_TLS_REMEDY if self._is_tls else "")
            super().send_400_response(msg)
            return
        self.config.reports.closed("headers")
        fix = f"Send at most {MAX_HEADER_FIELDS} headers and {self.config.max_header_bytes} bytes of them."
        self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, fix)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = True
        self._header_bytes = self._header_fields = self._unparsed_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. One after the body, a trailer, is dropped: the request has been checked without it."""
        self._header_fields += 1
        self._count(len(name) + len(value))
        if self._in_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        before = self.cycle
        super().on_headers_complete()
        self._in_headers = False
        self._unparsed_bytes = 0
        self._stop_deadline()
        if self.cycle is not before and self.scope["http_version"] == "1.0":
            self.cycle.send = _CloseDelimited(self.cycle).send  # type: ignore[method-assign]

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed_bytes = 0
        super().on_message_complete()
        if self.cycle is not None and not self.cycle.response_complete:
            self._limits.serve(self.transport)

    def on_response_complete(self) -> None:
        pipelined = bool(self.pipeline)
        super().on_response_complete()
        if not pipelined:
            self._limits.wait(self.transport)

    def _count(self, size: int) -> None:
        self._unparsed_bytes = 0
        self._header_bytes += size
        if self._header_bytes > self.config.max_header_bytes or self._header_fields > MAX_HEADER_FIELDS:
            self._too_large = True
            raise ValueError("too many headers")  # ends the parser, which has `send_400_response` called

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.config.header_seconds, self._on_deadline)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _on_deadline(self) -> None:
        self.config.reports.closed("header_timeout")
        if self._in_headers:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The headers did not arrive in time; send them faster.")
        else:
            self.transport.abort()

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        head += f"Content-Length: {len(message)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
        self.transport.write((head + message).encode())
        self.transport.close()


class _CloseDelimited:
    """Answers an HTTP/1.0 client, which knows no chunks: a body of unknown length ends with the connection."""

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._send = cycle.send
        self._open_ended = False

    async def send(self, message: Any) -> None:  # noqa: ANN401 - one of uvicorn's private types
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message.get("headers", ())}
            self._open_ended = b"content-length" not in names
            if self._open_ended:
                self._cycle.chunked_encoding = False
        elif self._open_ended:
            self._cycle.expected_content_length = len(message.get("body", b""))
        await self._send(message)
