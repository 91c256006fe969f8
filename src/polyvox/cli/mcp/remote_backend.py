"""The backend of `polyvox mcp` that asks a running server. It loads its HTTP client with the first call."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Self

from polyvox.api.dialects.mcp.backend import ClonedVoice, SpeakRequest, SpeechAudio, VoiceRecording
from polyvox.cli.slim_httpx import slim_httpx
from polyvox.errors import ApiError, AuthenticationError
from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.client import AsyncClient, VoiceOptions
    from polyvox.types import Pcm


class RemoteBackend:
    """A running server; `model` is the one for calls that name none."""

    def __init__(self, url: str, api_key: str | None, model: str | None) -> None:
        self._url = url
        self._api_key = api_key
        self._model = model

    @cached_property
    def _client(self) -> "AsyncClient":
        with slim_httpx():
            from polyvox.client import AsyncClient

        return AsyncClient(self._url, self._api_key)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "_client" in self.__dict__:
            await self._client.close()

    @asynccontextmanager
    async def speech(self, request: SpeakRequest) -> AsyncIterator[SpeechAudio]:
        with slim_httpx():
            from polyvox.cli.speech.speech import SayRequest, remote_speech

        said = SayRequest(
            request.text,
            request.voice,
            request.model or self._model,
            request.language,
            speed=request.speed,
            instructions=request.instructions,
        )
        with _with_advice():
            async with remote_speech(said, self._url, self._api_key) as speech:

                async def pieces() -> "AsyncIterator[Pcm]":
                    async for segment in speech.segments:
                        yield segment.pcm

                yield SpeechAudio(speech.sample_rate, speech.channels, speech.warnings, pieces(), speech.tags)

    async def voices(self, model: str | None) -> Sequence[Voice]:
        with _with_advice():
            return await self._client.voices(model or self._model)

    async def clone(self, recording: VoiceRecording) -> ClonedVoice:
        options: VoiceOptions = {"consent": True}
        if recording.transcript is not None:
            options["transcript"] = recording.transcript
        if recording.language is not None:
            options["language"] = recording.language
        if recording.consent_note is not None:
            options["consent_note"] = recording.consent_note
        with _with_advice():
            voice = await self._client.register_voice(recording.name, recording.data, **options)
        return ClonedVoice(voice.id, voice.name, voice.transcript, voice.duration, voice.warnings)


@contextmanager
def _with_advice() -> Iterator[None]:
    """Say where a key goes: an agent's host has no header to put it into."""
    try:
        yield
    except ApiError as error:
        if error.status == HTTPStatus.UNAUTHORIZED:
            raise AuthenticationError(
                "The server asks for a key: put it as POLYVOX_API_KEY into the environment of `polyvox mcp`."
            ) from error
        raise
