"""HTTP requests as bytes, which no client library would send, each over a connection of its own."""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """What came back before the server closed; `status` is 0 where that was nothing."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def exchanged(address: tuple[str, int], request: bytes, seconds: float = 30.0, *, end: bool = False) -> RawAnswer:
    """The answer to a request that asks for the connection to be closed; TimeoutError where it does not come.

    With `end`, the server is told that nothing will follow.
    """
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection(*address)
        try:
            writer.write(request)
            received = await _read_all(reader, writer, end)
        finally:
            writer.close()
    return parsed(received)


async def _read_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: bool) -> bytes:
    """All bytes of the answer; a server that refuses early resets the connection while the rest is still being sent."""
    received = b""
    try:
        await writer.drain()
        if end:
            writer.write_eof()
        while not _is_whole(received) and (piece := await reader.read(65_536)):
            received += piece
    except OSError:
        return received
    return received


def _is_whole(received: bytes) -> bool:
    """Whether an answer of known length is here, after which a connection may stay open."""
    head, end, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    return bool(end) and length is not None and len(body) >= int(length[1])


def request_bytes(method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes = b"") -> bytes:
    lines = [b"%s %s HTTP/1.1" % (method.encode(), target), b"Host: 127.0.0.1", b"Connection: close"]
    lines += [b"%s: %s" % header for header in headers]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def parsed(received: bytes) -> RawAnswer:
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    words = first.split(b" ")
    if len(words) < 2 or not words[1].isdigit():
        return RawAnswer(0, {}, received)
    if words[1] == b"100":
        return parsed(body)
    pairs = (line.decode("latin-1").partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    if headers.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return RawAnswer(int(words[1]), headers, body)


def _unchunked(data: bytes) -> bytes:
    pieces = []
    while data:
        size, _, rest = data.partition(b"\r\n")
        length = int(size, 16)
        pieces.append(rest[:length])
        data = rest[length + 2 :]
    return b"".join(pieces)
