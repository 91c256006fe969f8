"""A synthesizer in this process."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

from polyvox.config import Settings
from polyvox.screen_reader.synthesizer import Phrase, Samples
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.local_service import running_service
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance, Voice


class ServiceSynthesizer:
    """Speaks with the default model of a service."""

    def __init__(self, service: SpeechService) -> None:
        self._service = service
        self.voices: Sequence[Voice] = tuple(service.registry.voices(None))

    async def speak(self, phrase: Phrase) -> AsyncGenerator[Samples, None]:
        request = SpeechRequest(Utterance(phrase.text, phrase.voice, speed=phrase.speed), door="speechd")
        async with await self._service.open(request, LOCAL_CALL) as session:
            async for chunk in session:
                yield Samples(chunk.pcm if chunk.pcm.ndim == 1 else chunk.pcm.mean(axis=1), chunk.sample_rate)


@asynccontextmanager
async def service_synthesizer(settings: Settings) -> AsyncIterator[ServiceSynthesizer]:
    """Load the default model of the settings; it is freed when the block ends."""
    async with running_service(settings) as service:
        yield ServiceSynthesizer(service)
