"""A synthesizer that asks a running server."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

from polyvox.audio.pcm import from_pcm16
from polyvox.client import AsyncClient
from polyvox.screen_reader.synthesizer import Phrase, Samples
from polyvox.types import Voice


class ServerSynthesizer:
    """Speaks through a client; leaving a phrase closes its connection, which ends the server's work."""

    def __init__(self, client: AsyncClient, model: str | None, voices: Sequence[Voice]) -> None:
        self._client = client
        self._model = model
        self.voices = voices

    async def speak(self, phrase: Phrase) -> AsyncGenerator[Samples, None]:
        opening = self._client.stream(
            phrase.text, phrase.voice or None, model=self._model, response_format="pcm", speed=phrase.speed
        )
        async with opening as stream:
            frame_bytes, rest = 2 * stream.channels, b""
            async for data in stream:
                rest += data
                whole = len(rest) - len(rest) % frame_bytes
                if whole:
                    pcm = from_pcm16(rest[:whole], stream.channels)
                    yield Samples(pcm if pcm.ndim == 1 else pcm.mean(axis=1), stream.sample_rate)
                    rest = rest[whole:]


@asynccontextmanager
async def server_synthesizer(url: str, api_key: str | None, model: str | None) -> AsyncIterator[ServerSynthesizer]:
    """Connect to a server, and learn its voices."""
    async with AsyncClient(url, api_key) as client:
        yield ServerSynthesizer(client, model, await client.voices(model))
