"""A client of ElevenLabs' sockets that notes what comes, and an engine whose words have no times."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from helpers.fakes import PlainToneEngine
from polyvox.types import AudioChunk, Capabilities

Message = dict[str, Any]


class WordlessEngine(PlainToneEngine):
    """A tone engine without word timings."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, word_timings=False)

    def _chunk(self, *args: Any) -> AudioChunk:
        return replace(super()._chunk(*args), words=())


class SocketClient:
    """One socket: `say` sends, `until` reads."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.seen: list[Message] = []

    async def say(self, *messages: Message) -> None:
        for message in messages:
            await self.socket.send(json.dumps(message))

    async def receive(self, seconds: float = 10.0) -> Message:
        message: Message = json.loads(await asyncio.wait_for(self.socket.recv(), seconds))
        self.seen.append(message)
        return message

    async def until(self, **wanted: object) -> Message:
        """Read up to a message that has these fields."""
        while True:
            message = await self.receive()
            if wanted.items() <= message.items():
                return message

    async def close_code(self) -> int:
        """Read until the server closes."""
        try:
            while True:
                await self.receive()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd is not None else 1006

    def audio(self, **wanted: object) -> bytes:
        """The audio of all messages that have these fields."""
        return b"".join(base64.b64decode(one["audio"]) for one in self._with(wanted) if one.get("audio"))

    def alignments(self, name: str = "alignment", **wanted: object) -> list[Message]:
        return [one[name] for one in self._with(wanted) if one.get(name)]

    def _with(self, wanted: dict[str, object]) -> list[Message]:
        return [one for one in self.seen if wanted.items() <= one.items()]


@asynccontextmanager
async def connected(url: str, path: str, key: str = "none", **query: object) -> AsyncIterator[SocketClient]:
    """A socket at a path of a server."""
    address = f"{url.replace('http', 'ws', 1)}{path}?{urlencode(query)}"
    async with connect(address, additional_headers={"xi-api-key": key}, proxy=None) as socket:
        yield SocketClient(socket)
