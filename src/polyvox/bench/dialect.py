"""APIs that can be put under load: a dialect sends one request and yields its audio as it arrives."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from polyvox.client import AsyncClient

SAMPLE_BYTES = 2


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One request of a load, independent of the dialect."""

    text: str
    voice: str
    model: str


class Connection(Protocol):
    """A connection to one server."""

    def speak(self, request: LoadRequest) -> AsyncIterator[float]:
        """Yield the seconds of audio in each piece of the answer the moment it arrives; raise `PolyvoxError`."""


class Dialect(Protocol):
    """An API that can be put under load."""

    @property
    def name(self) -> str: ...

    def connect(self, url: str, api_key: str | None) -> AbstractAsyncContextManager[Connection]:
        """Open a connection for any number of concurrent requests. It has no time limits: the load sets them."""


class OpenAIConnection:
    """Speech over `POST /v1/audio/speech`, as raw PCM so that no container header passes for audio."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def speak(self, request: LoadRequest) -> AsyncIterator[float]:
        async with self._client.stream(
            request.text, request.voice, model=request.model, response_format="pcm"
        ) as stream:
            bytes_per_second = stream.sample_rate * stream.channels * SAMPLE_BYTES
            async for data in stream:
                yield len(data) / bytes_per_second


class OpenAIDialect:
    """OpenAI's speech API, and every server that has it."""

    name = "openai"

    @asynccontextmanager
    async def connect(self, url: str, api_key: str | None) -> AsyncIterator[OpenAIConnection]:
        # Proxies of the environment would be measured along with the server.
        async with AsyncClient(url, api_key, timeout=None, trust_env=False) as client:
            yield OpenAIConnection(client)
