"""Timed speech requests over plain `http.client`: `polyvox.client` costs about as much as what is measured here."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from polyvox.errors import PolyvoxError

READ_BYTES = 262_144
TIMEOUT = 300.0
SAMPLE_RATE = 24_000


@dataclass(frozen=True, slots=True)
class RequestTiming:
    """One request: seconds to the first byte of audio, seconds to the last, and seconds of audio."""

    first: float
    total: float
    audio: float


@contextmanager
def connection_to(url: str) -> Iterator[HTTPConnection]:
    """A connection for any number of requests; the server closes it when it has been idle for some seconds."""
    parts = urlsplit(url)
    with closing(HTTPConnection(str(parts.hostname), parts.port, timeout=TIMEOUT)) as connection:
        connection.connect()
        yield connection


def timed_request(
    connection: HTTPConnection,
    text: str,
    *,
    voice: str,
    model: str,
    audio_format: str = "pcm",
    on_first: Callable[[], None] = lambda: None,
) -> RequestTiming:
    """Request a text as speech; `on_first` is called when the first audio has arrived."""
    body = json.dumps({"model": model, "input": text, "voice": voice, "response_format": audio_format}).encode()
    try:
        began = time.perf_counter()
        connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise PolyvoxError(f"The server answered {response.status}: {response.read(500).decode(errors='replace')}")
        received = len(response.read1(READ_BYTES))
        first = time.perf_counter() - began
        on_first()
        while piece := response.read1(READ_BYTES):
            received += len(piece)
        return RequestTiming(first, time.perf_counter() - began, received / (2 * SAMPLE_RATE))
    except (OSError, HTTPException) as error:
        raise PolyvoxError(f"The connection to the server broke off: {str(error) or type(error).__name__}.") from error
