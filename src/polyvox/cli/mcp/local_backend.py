"""The backend of `polyvox mcp` that makes speech in this process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Self

from polyvox.api.dialects.mcp.backend import ClonedVoice, SpeakRequest, SpeechAudio, VoiceRecording
from polyvox.api.dialects.mcp.service_backend import ServiceBackend
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Voice


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
