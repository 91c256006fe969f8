"""Uvicorn's WebSocket protocol with limits on the memory and the time that one client's frames take."""

from asyncio import BaseTransport, TimerHandle
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from polyvox.errors import OverloadedError
from polyvox.server.guarded_config import GuardedConfig
from polyvox.server.unread import end_unread
from polyvox.service.admission.pending_bodies import PIECE_BYTES

_SMALL_SLICE, _LARGE_SLICE = 128, 65_536
_MANY_FRAMES = 16
_MESSAGE_BYTES = 512
"""Memory of a short message that waits for the application."""
_LINGER_SECONDS = 10.0
_SILENT_SECONDS = 2.0
"""Time without a message to the client after which nothing on its socket is taken to be under way."""


class GuardedWebSocket(WebSocketsSansIOProtocol):
    """One WebSocket. What was received counts against the memory for request bodies until the application has it.

    A packet can hold thousands of frames. They are parsed in slices, between which other connections have their turn,
    and a slice with messages waits until the application has taken those of the slice before.
    """

    config: GuardedConfig

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.conn.debug = False  # at the log level debug it would write down headers and messages, so keys and texts
        host = self.client[0] if self.client else None
        self._body = self.config.bodies.open(self.config.clients.group(host))
        self._frame_bytes = 0
        self._unparsed_bytes = 0
        self._waiting = bytearray()
        self._slice = _SMALL_SLICE
        self._frames = 0
        self._parse_is_due = False
        self._abort_timer: TimerHandle | None = None
        if (own := transport.get_extra_info("socket")) is not None:
            end_unread(own, self.config.stall_seconds)
        self._sent_at = -_SILENT_SECONDS
        self._shutdown_timer: TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._body.close()
        self._waiting.clear()
        for timer in (self._abort_timer, self._shutdown_timer):
            if timer is not None:
                timer.cancel()
        self.config.connections.remove(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        if not self.handshake_initiated:
            self._slice = len(self._waiting)
        if not self._parse_is_due and not self.read_paused:
            self._parse()

    async def receive(self) -> Any:  # noqa: ANN401 - one of uvicorn's private types
        message = await super().receive()
        if not self.disconnected:
            self._hold()
        self._go_on()
        return message

    def shutdown(self) -> None:
        """Close the socket of a server that stops, once no more speech comes; uvicorn waits for `drain_seconds`."""
        silent = self.loop.time() - self._sent_at
        if silent >= _SILENT_SECONDS or self.close_sent:
            super().shutdown()
        else:
            self._shutdown_timer = self.loop.call_later(_SILENT_SECONDS - silent, self.shutdown)

    async def run_asgi(self) -> None:
        """Run the application. When it has ended, a client that does not read has a moment left to do so."""
        await super().run_asgi()
        if not self.disconnected:
            self._abort_timer = self.loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def _parse(self) -> None:
        """Parse a slice of what was received; slices grow while they hold few frames."""
        self._parse_is_due = False
        if self.transport.is_closing():
            self._waiting.clear()
            return
        data, self._frames = bytes(self._waiting[: self._slice]), 0
        del self._waiting[: self._slice]
        self._unparsed_bytes += len(data)
        super().data_received(data)
        self._slice = _SMALL_SLICE if self._frames > _MANY_FRAMES else min(_LARGE_SLICE, 2 * self._slice)
        self._hold()
        self._go_on()

    def _hold(self) -> None:
        size = self._frame_bytes + self._unparsed_bytes + len(self._waiting) + _MESSAGE_BYTES * self.queue.qsize()
        try:
            self._body.hold(size)
        except OverloadedError as error:
            self._close(error.message)

    def _go_on(self) -> None:
        """Have the next slice parsed soon, or more received where there is none; the application has to keep up."""
        if self.read_paused or self._parse_is_due or self.transport.is_closing():
            return
        if self._waiting:
            self._parse_is_due = True
            self.transport.pause_reading()
            self.loop.call_soon(self._parse)
        else:
            self.transport.resume_reading()

    async def send(self, message: Any) -> None:  # noqa: ANN401 - one of uvicorn's private types
        await super().send(message)
        self._sent_at = self.loop.time()
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # a refusal completes it; uvicorn would log an error for each

    def handle_text(self, event: Frame) -> None:
        self._count(event)
        super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        self._count(event)
        super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        self._count(event)
        super().handle_cont(event)

    def handle_ping(self) -> None:
        """Answer a ping, unless the client does not even read the answers to others."""
        self._frames += 1
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def handle_pong(self, event: Frame) -> None:
        self._frames += 1
        super().handle_pong(event)

    def send_receive_event_to_app(self) -> None:
        self._frame_bytes = 0
        super().send_receive_event_to_app()

    def handle_parser_exception(self) -> None:
        """Count a client that breaks the protocol, by frames that cannot be or text that is no UTF-8."""
        self.config.reports.closed("invalid")
        super().handle_parser_exception()

    def _count(self, event: Frame) -> None:
        self._frames += 1
        self._frame_bytes += len(event.data) + PIECE_BYTES
        self._unparsed_bytes = 0

    def _close(self, reason: str) -> None:
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.fail(CloseCode.TRY_AGAIN_LATER, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
