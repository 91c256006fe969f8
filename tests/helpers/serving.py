"""The HTTP doors for the tests: called in process, or served by a real server on a free port."""

import asyncio
import contextlib
import io
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from typing import Any

import av
import httpx

from helpers.fakes import running
from polyvox.api.app import create_app
from polyvox.api.door import Door
from polyvox.api.doors import DOORS
from polyvox.server.certificate import Certificate
from polyvox.server.descriptors import raise_descriptor_limit
from polyvox.server.granian_server import EmbeddedGranian, http1_options
from polyvox.server.guarded_config import GuardedConfig
from polyvox.server.guarded_http import GuardedHttp
from polyvox.server.guarded_websocket import GuardedWebSocket
from polyvox.server.uvicorn_server import GuardedServer
from polyvox.service.speech import SpeechService
from polyvox.service.voices.fitting import FittingService
from polyvox.service.voices.voices import VoiceService


@contextlib.asynccontextmanager
async def called(
    service: SpeechService, voices: VoiceService | None = None, *, doors: Sequence[Door] = DOORS, **options: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app without a network between them; what the app raises counts as a broken connection."""
    transport = httpx.ASGITransport(app=create_app(service, voices, doors=doors), raise_app_exceptions=False)
    async with running(service), httpx.AsyncClient(transport=transport, base_url="http://door", **options) as client:
        yield client


@contextlib.contextmanager
def served(
    service: SpeechService,
    voices: VoiceService | None = None,
    doors: Sequence[Door] = DOORS,
    certificate: Certificate | None = None,
    fitting: FittingService | None = None,
    **options: Any,
) -> Iterator[str]:
    """The base URL of a real server in a thread of its own; it starts and closes the service."""
    app = create_app(service, voices, fitting, doors=doors)
    options = {
        "http": GuardedHttp,
        "ws": GuardedWebSocket,
        "log_config": None,
        "timeout_graceful_shutdown": 2,
    } | options
    server = GuardedServer(GuardedConfig(app, service, raise_descriptor_limit(), **options), certificate)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    host, port = listener.getsockname()[:2]
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        wait_for(lambda: server.started or not thread.is_alive(), seconds=60.0)
        yield f"{'http' if certificate is None else 'https'}://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()


served_by_uvicorn = served


@contextlib.contextmanager
def served_by_granian(
    service: SpeechService, doors: Sequence[Door] = DOORS, certificate: Certificate | None = None
) -> Iterator[str]:
    """The same by the other server."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    host, port = listener.getsockname()[:2]
    stopping: list[Callable[[], object]] = []

    async def serve() -> None:
        app = create_app(service, doors=doors)
        server = EmbeddedGranian(app, listener, 128, http1_options(service.settings), certificate=certificate)
        async with app.router.lifespan_context(app):
            stopping.append(partial(asyncio.get_running_loop().call_soon_threadsafe, server.stop))
            await server.serve()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        wait_for(lambda: bool(stopping) or not thread.is_alive(), seconds=60.0)
        yield f"{'http' if certificate is None else 'https'}://{host}:{port}"
    finally:
        stopping[0]()
        thread.join()


def wait_for(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Return when the condition holds; fail when it does not in time."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.005)


def raw_post(url: str, body: bytes) -> socket.socket:
    """A connection on which a speech request has been sent and nothing read."""
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=10)
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


def decoded_seconds(data: bytes) -> float:
    """How long an audio file plays, by decoding all of it."""
    with av.open(io.BytesIO(data)) as container:
        return sum(frame.samples / frame.sample_rate for frame in container.decode(audio=0))


def error_of(response: httpx.Response) -> dict[str, Any]:
    """The error in a response, which must have OpenAI's shape and hold one sentence."""
    body = response.json()
    assert set(body) == {"error"}
    error = body["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"].endswith(".") or "; run: " in error["message"]  # a command is to be copied as it stands
    assert "\n" not in error["message"]
    assert len(error["message"]) < 300
    return error
