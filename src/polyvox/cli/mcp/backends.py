"""Backends of `polyvox mcp`: a service in this process, or a running server."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from http import HTTPStatus
from types import TracebackType
from typing import Self

from polyvox.api.dialects.mcp.backend import ClonedVoice, SpeakRequest, SpeechAudio, VoiceRecording
from polyvox.api.dialects.mcp.service_backend import ServiceBackend
from polyvox.cli.speech.speech import SayRequest, remote_speech
from polyvox.client import AsyncClient, VoiceOptions
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.errors import ApiError, AuthenticationError
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Pcm, Voice


class StartingBackend:
    """A service in this process. It loads its model while the agent's host looks at the tools, and calls wait for it.

    One that could not start, for want of a model, is started again by the next call: somebody may have mended it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self._starting: asyncio.Task[ServiceBackend] | None = None

    async def __aenter__(self) -> Self:
        self._starting = asyncio.create_task(self._start())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._starting is not None:
            await asyncio.wait([self._starting])  # a model that loads cannot be stopped, and is then closed
        await self._stack.aclose()

    @asynccontextmanager
    async def speech(self, request: SpeakRequest) -> AsyncIterator[SpeechAudio]:
        async with (await self._started()).speech(request) as audio:
            yield audio

    async def voices(self, model: str | None) -> Sequence[Voice]:
        return await (await self._started()).voices(model)

    async def clone(self, recording: VoiceRecording) -> ClonedVoice:
        return await (await self._started()).clone(recording)

    async def _started(self) -> ServiceBackend:
        if self._starting is None or (self._starting.done() and self._starting.exception() is not None):
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> ServiceBackend:
        catalog = Catalog.installed()
        absence = partial(catalog.absence, settings=self._settings)
        outline = partial(catalog.outline, settings=self._settings)
        service = build_service(self._settings, catalog.factories, absence, outline)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(service.close)
            await service.start()
            service.registry.engine(None)
            voices = VoiceService.for_service(service, OperatorAccess())
            stack.push_async_callback(voices.close)
            self._stack.push_async_exit(stack.pop_all())
        return ServiceBackend(service, voices)


class RemoteBackend:
    """A running server; `model` is the one for calls that name none."""

    def __init__(self, url: str, api_key: str | None, model: str | None) -> None:
        self._url = url
        self._api_key = api_key
        self._model = model
        self._client = AsyncClient(url, api_key)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    @asynccontextmanager
    async def speech(self, request: SpeakRequest) -> AsyncIterator[SpeechAudio]:
        said = SayRequest(
            request.text, request.voice, request.model or self._model, request.language, speed=request.speed
        )
        with _with_advice():
            async with remote_speech(said, self._url, self._api_key) as speech:

                async def pieces() -> AsyncIterator[Pcm]:
                    async for segment in speech.segments:
                        yield segment.pcm

                yield SpeechAudio(speech.sample_rate, speech.channels, speech.warnings, pieces())

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
