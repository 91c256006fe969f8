"""The client of a socket: what its address asks of every context, and the requests that contexts become."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Query

from polyvox.api.dependencies import Call, Service, Voices
from polyvox.api.dialects.elevenlabs.output_format import DEFAULT_FORMAT, OutputFormat, parse_output_format
from polyvox.api.dialects.elevenlabs.requests import NAME, GenerationFields, VoiceSettings, speech_body
from polyvox.api.dialects.elevenlabs.voices import VoiceDirectory
from polyvox.api.requests.forms import Fields
from polyvox.api.requests.speech_requests import speech_request
from polyvox.service.call_context import CallContext
from polyvox.service.contexts.speech_context import ContextOptions, SpeechContext
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService

_IDLE_SECONDS = 20.0
_MAX_IDLE_SECONDS = 180.0
_MIN_IDLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class SocketCaller:
    """A client of one socket. `idle_seconds` is how long it may send nothing while nothing is spoken."""

    service: SpeechService
    voices: VoiceService
    call: CallContext
    fields: GenerationFields
    output: OutputFormat
    auto_mode: bool
    sync_alignment: bool
    idle_seconds: float

    async def request(self, voice_id: str, settings: VoiceSettings | None = None) -> SpeechRequest:
        """A request in a voice, still without a text."""
        directory = VoiceDirectory.of(self.service, self.voices, self.call.owner, self.fields.model_id)
        voice = await directory.target(voice_id)
        asked = speech_body(self.fields, "", voice, settings, self.output, self.service.registry, directory.model)
        request = await speech_request(asked, NAME, self.service, self.voices, self.call.owner)
        return replace(request, kind=None, words=True)

    def late_words(self, request: SpeechRequest) -> bool:
        """Return whether a request's words are timed only after they were spoken."""
        return VoiceDirectory(self.service, self.voices, self.call.owner, request.model).late_words

    def context(self, request: SpeechRequest) -> SpeechContext:
        """A context whose messages are spoken one by one with `auto_mode`, else by clauses."""
        options = ContextOptions(eager=self.auto_mode, patience=self.idle_seconds)
        return SpeechContext(self.service, request, self.call, options)


async def _caller(
    service: Service,
    voices: Voices,
    call: Call,
    model_id: str | None = None,
    output_format: str = DEFAULT_FORMAT,
    language_code: str | None = None,
    apply_text_normalization: str | None = None,
    seed: str | None = None,
    auto_mode: bool = False,
    sync_alignment: bool = False,
    inactivity_timeout: Annotated[float, Query(allow_inf_nan=False)] = _IDLE_SECONDS,
) -> SocketCaller:
    """The client of a socket; an address that cannot be obeyed is refused before the socket opens."""
    given = {
        "model_id": model_id,
        "language_code": language_code,
        "apply_text_normalization": apply_text_normalization,
        "seed": seed,
    }
    fields = Fields(given).parsed(GenerationFields)
    directory = VoiceDirectory.of(service, voices, call.owner, model_id)
    service.registry.model(directory.model)  # refuses one that is unknown
    return SocketCaller(
        service,
        voices,
        call,
        fields,
        parse_output_format(output_format),
        auto_mode,
        sync_alignment,
        min(max(inactivity_timeout, _MIN_IDLE_SECONDS), _MAX_IDLE_SECONDS),
    )


Caller = Annotated[SocketCaller, Depends(_caller)]
