"""How each API is asked for speech. A dialect turns one request into the audio it answers with, as it arrives."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import httpx

from polyvox.errors import InvalidRequestError

SAMPLE_BYTES = 2
MAX_ERROR_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, in words that every dialect can put in its own way."""

    text: str
    voice: str
    model: str


class RefusedError(Exception):
    """The server answered with something other than audio. `overloaded` tells "try later" from "broken"."""

    def __init__(self, reason: str, *, status: int | None = None, overloaded: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.overloaded = overloaded


class Caller(Protocol):
    """An open line to one server."""

    def speak(self, ask: Ask) -> AsyncIterator[float]:
        """The seconds of sound in each piece of audio, the moment the piece is here; or `RefusedError`."""


class Dialect(Protocol):
    """An API that can be put under load."""

    @property
    def name(self) -> str: ...

    def connect(self, url: str, api_key: str | None) -> AbstractAsyncContextManager[Caller]:
        """Open a line that may carry any number of requests at once. It sets no time limits: the load does."""


class OpenAICaller:
    """Speech over `POST /v1/audio/speech`, as raw PCM so that no container header passes for audio."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def speak(self, ask: Ask) -> AsyncIterator[float]:
        body = {"model": ask.model, "input": ask.text, "voice": ask.voice, "response_format": "pcm"}
        try:
            async with self._client.stream("POST", "/v1/audio/speech", json=body) as response:
                if response.status_code != httpx.codes.OK:
                    raise await _refusal(response)
                rate, channels = audio_layout(response.headers)
                bytes_per_second = rate * channels * SAMPLE_BYTES
                async for piece in response.aiter_raw():
                    yield len(piece) / bytes_per_second
        except httpx.HTTPError as error:
            raise RefusedError(str(error) or type(error).__name__) from error


class OpenAIDialect:
    """OpenAI's speech API, and whoever speaks it."""

    name = "openai"

    @asynccontextmanager
    async def connect(self, url: str, api_key: str | None) -> AsyncIterator[OpenAICaller]:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        base = url.rstrip("/").removesuffix("/v1")
        async with httpx.AsyncClient(
            base_url=base,
            headers=headers,
            timeout=None,  # noqa: S113 - whoever sends the load bounds each request as a whole
            limits=limits,
            trust_env=False,
        ) as client:
            yield OpenAICaller(client)


DIALECTS: tuple[Dialect, ...] = (OpenAIDialect(),)


def dialect_named(name: str) -> Dialect:
    """The dialect of that name."""
    for dialect in DIALECTS:
        if dialect.name == name:
            return dialect
    known = ", ".join(dialect.name for dialect in DIALECTS)
    raise InvalidRequestError(f"Unknown dialect {name!r}; choose one of: {known}.", field="dialect")


def audio_layout(headers: httpx.Headers) -> tuple[int, int]:
    """Sample rate and channels of raw PCM: 24 kHz mono, as OpenAI documents, unless the server says otherwise."""
    return _positive(headers, "x-audio-sample-rate", "24000"), _positive(headers, "x-audio-channels", "1")


def _positive(headers: httpx.Headers, name: str, default: str) -> int:
    value = headers.get(name, default)
    if not value.isdecimal() or int(value) == 0:
        raise RefusedError(f"the header {name} is {value[:40]!r}, not a number above 0")
    return int(value)


async def _refusal(response: httpx.Response) -> RefusedError:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_ERROR_BYTES:
            break
    return RefusedError(
        f"{response.status_code}: {error_sentence(body) or response.reason_phrase}",
        status=response.status_code,
        overloaded=response.status_code == httpx.codes.TOO_MANY_REQUESTS,
    )


def error_sentence(body: bytes) -> str:
    """The sentence in an OpenAI error body, where there is one."""
    try:
        found = json.loads(body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    return str(found)
