"""A client of the native socket for the tests: many contexts, each checked as its messages come."""

import asyncio
import base64
import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

PATH = "/v1/realtime/speech"
FINAL = {"done", "cancelled"}


@dataclass
class HeardContext:
    """What came of one context. Sequence numbers and samples must follow each other without a hole."""

    started: dict[str, Any] = field(default_factory=dict)
    audio: list[bytes] = field(default_factory=list)
    words: list[dict[str, Any]] = field(default_factory=list)
    visemes: list[dict[str, int]] = field(default_factory=list)
    timing_source: str = ""
    flushed: list[str | int] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    final: dict[str, Any] = field(default_factory=dict)
    samples: int = 0
    first_audio: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def pcm(self) -> bytes:
        return b"".join(self.audio)

    def take_audio(self, sequence: int, start: int, end: int, data: bytes) -> None:
        assert not self.ended.is_set(), "audio after the end"
        assert sequence == len(self.audio), f"piece {sequence} after {len(self.audio) - 1}"
        if self.started["format"] == "pcm":
            assert start == self.samples
            assert len(data) == 2 * self.started["channels"] * (end - start)
        self.samples = end
        self.audio.append(data)
        self.first_audio.set()

    def take(self, event: dict[str, Any]) -> None:
        assert not self.ended.is_set(), f"{event} after the end"
        match event["type"]:
            case "started":
                self.started = event
            case "audio":
                data = base64.b64decode(event["data"])
                self.take_audio(event["sequence"], event["start_sample"], event["end_sample"], data)
            case "words":
                self.words += event["words"]
                self.timing_source = event["timing_source"]
            case "visemes":
                self.visemes += event["visemes"]
            case "flushed":
                self.flushed.append(event["id"])
            case "error":
                self.errors.append(event)
        if event["type"] in FINAL or event.get("ended"):
            self.final = event
            self.first_audio.set()
            self.ended.set()


class RealtimeClient:
    """One socket, and the last context of each name on it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.contexts: dict[str, HeardContext] = {}
        self.other: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._numbers: dict[int, HeardContext] = {}

    async def send(self, kind: str, context: str | None = None, **fields: object) -> None:
        named = {} if context is None else {"context": context}
        await self.socket.send(json.dumps({"type": kind, **named, **fields}))

    async def start(self, context: str, **fields: object) -> HeardContext:
        heard = self.contexts[context] = HeardContext()
        await self.send("start", context, **fields)
        return heard

    async def speak(self, context: str, text: str, **fields: object) -> HeardContext:
        """Start a context, send its text at once, and wait for its end."""
        heard = await self.start(context, **fields)
        await self.send("text", context, text=text)
        await self.send("end", context)
        await heard.ended.wait()
        return heard

    async def read(self) -> None:
        async for message in self.socket:
            if isinstance(message, bytes):
                number, sequence, start, end = struct.unpack(">IIII", message[:16])
                self._numbers[number].take_audio(sequence, start, end, message[16:])
                continue
            event = json.loads(message)
            heard = self.contexts.get(event.get("context"))
            if heard is None:
                self.other.put_nowait(event)
                continue
            if event["type"] == "started":
                if heard.ended.is_set():  # its name is used again
                    heard = self.contexts[event["context"]] = HeardContext()
                self._numbers[event["number"]] = heard
            heard.take(event)


@asynccontextmanager
async def realtime_client(url: str, path: str = PATH, **options: Any) -> AsyncIterator[RealtimeClient]:
    """A client that reads for as long as the block lasts; what it finds wrong ends the block."""
    async with connect(url.replace("http", "ws", 1) + path, **options) as socket, asyncio.TaskGroup() as group:
        client = RealtimeClient(socket)
        reading = group.create_task(client.read())
        yield client
        reading.cancel()
