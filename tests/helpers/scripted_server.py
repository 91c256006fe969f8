"""A server that answers OpenAI's speech call from a script of delays, so that every figure is known beforehand."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

SAMPLE_RATE = 8_000


@dataclass(slots=True)
class ScriptedServer:
    """`pieces[text]` is a list of (seconds to wait, seconds of audio to send); `refusals[text]` a status instead."""

    url: str
    pieces: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    bodies: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    async def answer(self, request: "Request") -> "Response":
        from starlette.responses import JSONResponse, StreamingResponse

        self.times.append(time.perf_counter())
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        if status := self.refusals.get(body["input"]):
            error = {"message": f"This is a {status}.", "type": "t", "param": None, "code": "c"}
            return JSONResponse({"error": error}, status_code=status)
        return StreamingResponse(
            self._audio(self.pieces[body["input"]]),
            media_type="audio/pcm",
            headers={"X-Audio-Sample-Rate": str(SAMPLE_RATE), "X-Audio-Channels": "1"},
        )

    async def _audio(self, pieces: list[tuple[float, float]]) -> AsyncIterator[bytes]:
        for delay, seconds in pieces:
            await asyncio.sleep(delay)
            if seconds < 0:
                raise ConnectionError("The script breaks off here.")
            yield bytes(2 * round(seconds * SAMPLE_RATE))


@pytest.fixture
def scripted_server() -> Iterator[ScriptedServer]:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Route

    listener = socket.create_server(("127.0.0.1", 0))
    scripted = ScriptedServer(f"http://127.0.0.1:{listener.getsockname()[1]}")
    app = Starlette(routes=[Route("/v1/audio/speech", scripted.answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield scripted
    finally:
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()
