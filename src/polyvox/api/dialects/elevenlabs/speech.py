"""ElevenLabs' text-to-speech over HTTP."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response

from polyvox.api.body_format import AudioFile, BodyFormat
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.elevenlabs.output_format import DEFAULT_FORMAT, OutputFormat, parse_output_format
from polyvox.api.dialects.elevenlabs.requests import NAME, TextToSpeechBody, speech_body
from polyvox.api.dialects.elevenlabs.timestamps import TimestampedFile, TimestampedStream
from polyvox.api.dialects.elevenlabs.voices import VoiceDirectory
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import PRINTABLE
from polyvox.api.requests.speech_requests import speech_request
from polyvox.api.responses.plain_audio import PlainAudio
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.service.speech_request import SpeechRequest

router = APIRouter(prefix="/v1/text-to-speech", route_class=JsonRoute, tags=["ElevenLabs"])

MAX_VOICE_CHARS = 1_000
_ERRORS: dict[int | str, dict[str, Any]] = {
    404: {"description": "No such voice or model."},
    503: {"description": "The model cannot be had now."},
}
AUDIO: dict[int | str, dict[str, Any]] = _ERRORS | {
    200: {"description": "The audio.", "content": {audio.media_type: {} for audio in AudioFormat}}
}
TIMESTAMPS: dict[int | str, dict[str, Any]] = _ERRORS | {
    200: {
        "description": "`audio_base64`, and under `alignment` the `characters`, `character_start_times_seconds` and "
        "`character_end_times_seconds`; the stream has one such object a line.",
        "content": {"application/json": {}},
    }
}


async def _output_format(
    output_format: Annotated[
        str, Query(description="`mp3_44100_128`, `pcm_24000`, `opus_48000_64`, `wav_24000`, `ulaw_8000` and the like.")
    ] = DEFAULT_FORMAT,
) -> OutputFormat:
    return parse_output_format(output_format)


Output = Annotated[OutputFormat, Depends(_output_format)]


@dataclass(frozen=True, slots=True)
class Speech:
    """A request as the service takes it, its text, and whether its words are timed after they were spoken."""

    request: SpeechRequest
    text: str
    late_words: bool

    @property
    def timed(self) -> SpeechRequest:
        """The request with word timings."""
        return replace(self.request, words=True)


async def _speech(
    voice_id: Annotated[
        str, Path(max_length=MAX_VOICE_CHARS, pattern=PRINTABLE, description="A voice of `/v1/voices`, by id or name.")
    ],
    body: TextToSpeechBody,
    output: Output,
    service: Service,
    voices: Voices,
    owner: Owner,
) -> Speech:
    directory = VoiceDirectory.of(service, voices, owner, body.model_id)
    voice = await directory.target(voice_id)
    asked = speech_body(body, body.text, voice, body.voice_settings, output, service.registry, directory.model)
    request = await speech_request(asked, NAME, service, voices, owner)
    return Speech(request, body.text, replace(directory, model=request.model).late_words)


Asked = Annotated[Speech, Depends(_speech)]


@router.post("/{voice_id}", response_class=Response, responses=AUDIO)
async def convert(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a text. The audio streams while it is made; a WAV file is sent when its length is known."""
    return SpeechResponse(service, asked.request, plain_audio(output))


@router.post("/{voice_id}/stream", response_class=Response, responses=AUDIO)
async def stream(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a text; the audio streams while it is made."""
    return SpeechResponse(service, asked.request, PlainAudio(output))


@router.post("/{voice_id}/with-timestamps", response_class=Response, responses=TIMESTAMPS)
async def convert_with_timestamps(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a text, with the times of its characters, as one JSON object."""
    return SpeechResponse(service, asked.timed, TimestampedFile(output, asked.text, asked.late_words))


@router.post("/{voice_id}/stream/with-timestamps", response_class=Response, responses=TIMESTAMPS)
async def stream_with_timestamps(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a text, with the times of its characters, as one JSON object a line while the audio is made."""
    return SpeechResponse(service, asked.timed, TimestampedStream(output, asked.text, asked.late_words))


def plain_audio(output: OutputFormat) -> BodyFormat:
    """The audio of an answer that need not stream: a WAV file as a whole, with its true length."""
    return AudioFile(AudioFormat.WAV) if output.format is AudioFormat.WAV else PlainAudio(output)
