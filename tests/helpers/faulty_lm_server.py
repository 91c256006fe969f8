"""A completions server that follows a script: it answers, drops, stalls, refuses, and cuts its bytes anywhere."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Scene = Callable[["Client"], Awaitable[None]]


@dataclass(slots=True)
class Client:
    """One connection, its request read."""

    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader
    headers: dict[str, str]
    body: dict[str, Any]

    async def head(self, status: str = "200 OK", kind: str = "text/event-stream") -> None:
        await self.raw(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def events(self, *events: dict[str, Any]) -> None:
        for event in events:
            await self.raw(b"data: " + json.dumps(event).encode() + b"\n\n")

    async def texts(self, *texts: str, end: str | None = None) -> None:
        for text in texts:
            await self.events({"choices": [{"index": 0, "text": text, "finish_reason": None}]})
        if end is not None:
            await self.events({"choices": [{"index": 0, "text": "", "finish_reason": end}]})
            await self.raw(b"data: [DONE]\n\n")

    async def left(self) -> None:
        """Wait until the client has gone."""
        await self.reader.read()


@dataclass(slots=True)
class FaultyServer:
    """Plays one scene for each connection, the last one again and again; remembers what it was asked."""

    scenes: Sequence[Scene]
    url: str = ""
    asked: list[Client] = field(default_factory=list)
    over: int = 0
    probed: str = "200 OK"
    """The answer to the question for its models, by which it is watched."""
    probes: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
            if head[0].startswith("GET "):
                self.probes += 1
                await Client(writer, reader, {}, {}).head(self.probed)
                return
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            client = Client(writer, reader, headers, body)
            self.asked.append(client)
            await self.scenes[min(len(self.asked), len(self.scenes)) - 1](client)
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the client left first, as some tests want
        finally:
            self.over += 1
            writer.close()


@asynccontextmanager
async def faulty_server(*scenes: Scene) -> AsyncIterator[FaultyServer]:
    faulty = FaultyServer(scenes)
    server = await asyncio.start_server(faulty.serve, "127.0.0.1", 0)
    faulty.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield faulty
    finally:
        server.close()


def speech(codes: Iterable[int]) -> str:
    """Tokens as the model writes them."""
    return "".join(f"<|s_{code}|>" for code in codes)
