"""A gRPC client that begins a message and never ends it, which no library would do."""

import contextlib
import socket
import struct

from helpers.processes import ProgramProcess

_DATA, _HEADERS, _SETTINGS, _PING, _WINDOW_UPDATE = 0, 1, 4, 6, 8
_END_HEADERS, _ACK = 4, 1
_FRAME_BYTES = 16_384
_WINDOW = 65_535


class UnfinishedCall:
    """One connection with one call, whose message is announced as `size` bytes long."""

    def __init__(self, server: ProgramProcess, method: str, size: int, *fields: tuple[str, str]) -> None:
        host, port = server.grpc.rsplit(":", 1)
        self.connection = socket.create_connection((host, int(port)), timeout=1.0)
        self._windows = {0: _WINDOW, 1: _WINDOW}
        self._pending = struct.pack(">BI", 0, size)
        self._left = size
        self._received = b""
        self.ended = False
        self.connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(_SETTINGS, 0, 0, b""))
        head = [(":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "127.0.0.1")]
        head += [("content-type", "application/grpc"), ("te", "trailers"), *fields]
        block = b"".join(b"\x00" + _text(name) + _text(value) for name, value in head)
        self.connection.sendall(_frame(_HEADERS, _END_HEADERS, 1, block))

    def send_all_but(self, rest: int) -> int:
        """Send the message but for its last bytes, as far as the server allows; the bytes that were sent."""
        sent = 0
        with contextlib.suppress(OSError):
            while self._left > rest and not self.ended:
                room = min(self._windows[0], self._windows[1], _FRAME_BYTES)
                if room <= len(self._pending):
                    self._read()
                    continue
                count = min(room - len(self._pending), self._left - rest)
                data, self._pending = self._pending + bytes(count), b""
                self.connection.sendall(_frame(_DATA, 0, 1, data))
                self._windows = {stream: window - len(data) for stream, window in self._windows.items()}
                self._left -= count
                sent += count
        return sent

    def _read(self) -> None:
        """Take what the server says: more room, or the end."""
        data = self.connection.recv(65_536)
        self.ended = self.ended or not data
        self._received += data
        while len(self._received) >= 9:
            length = int.from_bytes(self._received[:3], "big")
            if len(self._received) < 9 + length:
                return
            kind, flags, stream = struct.unpack(">BBI", self._received[3:9])
            payload, self._received = self._received[9 : 9 + length], self._received[9 + length :]
            self._take(kind, flags, stream, payload)

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == _WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload, "big")
        elif kind in (_SETTINGS, _PING) and not flags & _ACK:
            if kind == _SETTINGS:
                rows = (payload[at : at + 6] for at in range(0, len(payload), 6))
                settings = dict(struct.unpack(">HI", row) for row in rows)
                self._windows[1] += settings.get(4, _WINDOW) - _WINDOW
            self.connection.sendall(_frame(kind, _ACK, 0, b"" if kind == _SETTINGS else payload))
        elif kind not in (_SETTINGS, _PING):
            self.ended = True


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def _text(text: str) -> bytes:
    """A string of a header, uncompressed; those here are short."""
    return bytes([len(text)]) + text.encode()
