"""Events of the Wyoming protocol on the wire: a line of JSON, then more JSON, then bytes."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from polyvox import __version__
from polyvox.api.requests.body import off_the_loop
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError
from polyvox.service.admission.pending_bodies import PendingBody

LINE_BYTES = 65_536
"""Longest first line of an event; longer texts come as the data behind it."""
AUDIO_CHUNK = "audio-chunk"
_PIECE_BYTES = 65_536


class EventError(InvalidRequestError):
    """Bytes that are no event, or one above a limit; what follows them cannot be read either."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `payload` is audio."""

    type: str
    data: dict[str, Any] = field(default_factory=dict)
    payload: bytes = b""

    def encoded(self) -> bytes:
        """The event as it is sent."""
        data = json.dumps(self.data, ensure_ascii=False).encode("utf-8", "replace") if self.data else b""
        head: dict[str, object] = {"type": self.type, "version": __version__}
        head |= {"data_length": len(data)} if data else {}
        head |= {"payload_length": len(self.payload)} if self.payload else {}
        return b"".join((json.dumps(head).encode(), b"\n", data, self.payload))


class EventReader:
    """Reads the events of one client. Every length is checked before that many bytes are waited for.

    The stream's own limit must be `LINE_BYTES`. Data is counted in `body` while it is read, and so is a recording;
    other payloads, which no event needs, are dropped as they come.
    """

    def __init__(self, stream: asyncio.StreamReader, body: PendingBody, settings: Settings) -> None:
        self._stream = stream
        self._body = body
        self._max_bytes = settings.max_body_bytes
        self._seconds = settings.body_timeout_seconds
        self._min_rate = settings.body_min_rate

    async def line(self) -> bytes | None:
        """The first line of the next event, None where the client has left; nothing is lost if this is cancelled."""
        try:
            return await self._stream.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            raise EventError(
                f"The first line of an event is over {LINE_BYTES:,} bytes; send long texts as data."
            ) from error
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def rest(self, line: bytes) -> Event | None:
        """The event that begins with this line, None where the client leaves before its end."""
        head = _object(line)
        kind, data = head.get("type"), head.get("data") or {}
        if not isinstance(kind, str) or not isinstance(data, dict):
            raise EventError("An event needs a 'type' that is text, and 'data' that is an object.")
        data_bytes, payload_bytes = self._length(head, "data_length"), self._length(head, "payload_length")
        try:
            kept = payload_bytes if kind == AUDIO_CHUNK else 0
            self._body.hold(data_bytes + kept)
            async with asyncio.timeout(self._seconds + (data_bytes + payload_bytes) / self._min_rate):
                more = await self._stream.readexactly(data_bytes)
                payload = await self._stream.readexactly(kept)
                await self._drop(payload_bytes - kept)
            return Event(kind, data | (await off_the_loop(more, _object) if more else {}), payload)
        except TimeoutError as error:
            raise EventError("The rest of an event did not arrive in time; send it faster.") from error
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        finally:
            self._body.close()

    def _length(self, head: dict[str, Any], name: str) -> int:
        length = head.get(name) or 0
        if type(length) is not int or length < 0:
            raise EventError(f"'{name}' of an event must be a number of bytes.")
        if length > self._max_bytes:
            raise EventError(f"'{name}' of an event is over this server's limit of {self._max_bytes:,} bytes.")
        return length

    async def _drop(self, count: int) -> None:
        while count:
            count -= len(await self._stream.readexactly(min(count, _PIECE_BYTES)))


class EventWriter:
    """Sends events to one client, one at a time. `ConnectionError` where it has left or does not read."""

    def __init__(self, stream: asyncio.StreamWriter, stall_seconds: float) -> None:
        self._stream = stream
        self._stall_seconds = stall_seconds
        self._sending = asyncio.Lock()

    async def send(self, event: Event) -> None:
        async with self._sending:
            self._stream.write(event.encoded())
            try:
                async with asyncio.timeout(self._stall_seconds):
                    await self._stream.drain()
            except TimeoutError as error:
                self._stream.transport.abort()
                raise ConnectionAbortedError("the client does not read") from error


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EventError("An event begins with a line of JSON; this server speaks Wyoming here, not HTTP.") from error
    if not isinstance(found, dict):
        raise EventError("An event must be a JSON object.")
    return found
