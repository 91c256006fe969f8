"""Uvicorn's WebSocket protocol, whose unfinished messages count against the memory for request bodies."""

from asyncio import BaseTransport
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from polyvox.errors import OverloadedError
from polyvox.service.pending_bodies import PIECE_BYTES

if TYPE_CHECKING:
    from polyvox.cli.guarded_http import GuardedConfig


class GuardedWebSocket(WebSocketsSansIOProtocol):
    """One WebSocket. A message counts from its first byte until the application can have it."""

    config: "GuardedConfig"

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.conn.debug = False  # at the log level debug it would write down headers and messages, so keys and texts
        host = self.client[0] if self.client else None
        self._body = self.config.bodies.open(self.config.clients.group(host))
        self._frame_bytes = 0
        self._unparsed_bytes = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self._body.close()
        self.config.connections.remove(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unparsed_bytes += len(data)
        super().data_received(data)
        try:
            self._body.hold(self._frame_bytes + self._unparsed_bytes)
        except OverloadedError as error:
            self._close(error.message)

    async def send(self, message: Any) -> None:  # noqa: ANN401 - one of uvicorn's private types
        await super().send(message)
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

    def send_receive_event_to_app(self) -> None:
        self._frame_bytes = 0
        super().send_receive_event_to_app()

    def _count(self, event: Frame) -> None:
        self._frame_bytes += len(event.data) + PIECE_BYTES
        self._unparsed_bytes = 0

    def _close(self, reason: str) -> None:
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.fail(CloseCode.TRY_AGAIN_LATER, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
