"""A Wyoming server for the tests, and a client that writes events byte by byte."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from helpers.fakes import PlainToneEngine, running, tone_service
from polyvox.api.dialects.wyoming.event import Event
from polyvox.api.dialects.wyoming.server import WyomingServer
from polyvox.server.connection_limits import ConnectionLimits, LimitReports
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

SECONDS = 5.0


@dataclass
class WyomingClient:
    """One connection. `read` returns None at its end."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def send(self, kind: str, **data: Any) -> None:
        await self.send_raw(Event(kind, data).encoded())

    async def send_raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def read(self) -> Event | None:
        try:
            async with asyncio.timeout(SECONDS):
                head = json.loads(await self.reader.readuntil(b"\n"))
                data = await self.reader.readexactly(head.get("data_length", 0))
                payload = await self.reader.readexactly(head.get("payload_length", 0))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return Event(head["type"], json.loads(data) if data else {}, payload)

    async def read_until(self, kind: str) -> list[Event]:
        """The events up to one of a kind, which must come."""
        events: list[Event] = []
        while not events or events[-1].type != kind:
            event = await self.read()
            assert event is not None, [each.type for each in events]
            events.append(event)
        return events

    async def rest(self) -> list[Event]:
        """The events until the server closes the connection."""
        events = []
        while (event := await self.read()) is not None:
            events.append(event)
        return events


@dataclass
class ServedWyoming:
    """A running server."""

    service: SpeechService
    server: WyomingServer
    port: int

    async def connect(self) -> WyomingClient:
        return WyomingClient(*await asyncio.open_connection("127.0.0.1", self.port))

    def closed(self, limit: str) -> float:
        """Connections that a limit has closed."""
        name = "polyvox_refused_connections_total"
        return self.service.metrics.registry.get_sample_value(name, {"limit": limit}) or 0.0


@asynccontextmanager
async def served_wyoming(
    engine: PlainToneEngine | None = None,
    *,
    service: SpeechService | None = None,
    voices: VoiceService | None = None,
    **settings: Any,
) -> AsyncIterator[ServedWyoming]:
    """Serve Wyoming on a free port of loopback, with a tone engine unless a service is given."""
    speech = tone_service(engine, **settings) if service is None else service
    listener = socket.create_server(("127.0.0.1", 0))
    reports = LimitReports(speech.metrics)
    limits = ConnectionLimits(speech.settings, reports, 10_000)
    async with running(speech):
        chosen = VoiceService.for_service(speech) if voices is None else voices
        server = WyomingServer(speech, chosen, listener, limits, reports.closed)
        await server.start()
        try:
            yield ServedWyoming(speech, server, listener.getsockname()[1])
        finally:
            await server.close()


def audio_of(events: list[Event]) -> bytes:
    """The sound in events, which must be one whole stream of one form."""
    kinds = [event.type for event in events if event.type.startswith("audio-")]
    assert kinds == ["audio-start", *["audio-chunk"] * (len(kinds) - 2), "audio-stop"]
    forms = [
        {name: value for name, value in event.data.items() if name != "provenance"}
        for event in events
        if event.type in ("audio-start", "audio-chunk")
    ]
    assert all(form == forms[0] for form in forms)
    return b"".join(event.payload for event in events)
