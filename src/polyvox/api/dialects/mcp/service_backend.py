"""ServiceBackend: the tools' work done by the services of this process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from polyvox.api.dialects.mcp.backend import ClonedVoice, SpeakRequest, SpeechAudio, VoiceRecording
from polyvox.api.dialects.openai.door import voices_of
from polyvox.api.requests.languages import language_tag
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.requests.speech_requests import speech_request
from polyvox.audio.encode import NO_TAGS
from polyvox.service.call_context import CallContext
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Pcm, Voice
from polyvox.voices.records import VoiceDetails
from polyvox.voices.references import InlineVoice

DOOR_NAME = "mcp"


class ServiceBackend:
    """The services on behalf of one caller."""

    def __init__(self, service: SpeechService, voices: VoiceService, call: CallContext = CallContext()) -> None:
        self._service = service
        self._voices = voices
        self._call = call

    @asynccontextmanager
    async def speech(self, request: SpeakRequest) -> AsyncIterator[SpeechAudio]:
        if request.language is not None:
            language_tag(request.language, "language")
        body = SpeechBody.model_validate(
            {
                "input": request.text,
                "voice": request.voice,
                "model": request.model,
                "speed": request.speed,
                "lang_code": request.language,
                "instructions": request.instructions,
            }
        )
        made = await speech_request(body, DOOR_NAME, self._service, self._voices, self._call.owner)
        async with await self._service.open(made, self._call) as session:

            async def pieces() -> AsyncIterator[Pcm]:
                async for chunk in session:
                    yield chunk.pcm

            tags = NO_TAGS if session.marks is None else session.marks.tags
            yield SpeechAudio(session.sample_rate, session.channels, session.warnings, pieces(), tags)

    async def voices(self, model: str | None) -> Sequence[Voice]:
        return await voices_of(model, self._service, self._voices, self._call.owner)

    async def clone(self, recording: VoiceRecording) -> ClonedVoice:
        details = VoiceDetails.checked(
            name=recording.name,
            transcript=recording.transcript,
            language=recording.language,
            consent=True,
            consent_note=recording.consent_note,
        )
        registered = await self._voices.register(InlineVoice(recording.data), details, self._call.owner)
        record = registered.record
        return ClonedVoice(record.id, record.name, record.transcript, record.duration, registered.warnings)
