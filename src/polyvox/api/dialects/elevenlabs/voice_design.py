"""ElevenLabs' voice design: previews of a voice from its description, one of which becomes a registered voice."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Response
from pydantic import Field, StrictBool

from polyvox.api.dependencies import Call, Owner, Service, Voices
from polyvox.api.dialects.elevenlabs.output_format import OutputFormat
from polyvox.api.dialects.elevenlabs.requests import NAME, GenerationFields
from polyvox.api.dialects.elevenlabs.speech import Output
from polyvox.api.dialects.elevenlabs.voices import registered_json
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import PRINTABLE, RequestBody, Text
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.responses.error_body import REGISTRATION_ERRORS
from polyvox.audio.encode import AudioFormat, encode
from polyvox.audio.resample import resampled
from polyvox.errors import InvalidRequestError, NotServedError
from polyvox.service.call_context import CallContext
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.voices.design_previews import DesignPreview
from polyvox.service.voices.voices import Registered, Transcribe, VoiceService
from polyvox.text.detect import detect_language
from polyvox.types import Pcm
from polyvox.voices.designs import design_report
from polyvox.voices.records import VoiceDetails
from polyvox.voices.references import InlineVoice
from polyvox.voices.storage.recordings import wav_bytes

router = APIRouter(prefix="/v1/text-to-voice", route_class=JsonRoute, tags=["ElevenLabs"])

_PREVIEWS = 3
_MAX_DESCRIPTION = 1_000
_MAX_TEXT = 1_000
_MODEL_PREFIX = "eleven_"
_TEXT = (
    "Good morning, and thank you for listening. This is how I sound when I tell a story, give an answer, or read the "
    "news of the day; take your time and decide whether this voice is the one you had in mind."
)
"""Spoken where a request has no text of its own."""
_ERRORS: dict[int | str, dict[str, Any]] = {
    404: {"description": "No such preview."},
    501: {"description": "No model here makes voices from descriptions."},
}


class DesignBody(GenerationFields):
    """A voice to be made."""

    voice_description: Text = Field(max_length=_MAX_DESCRIPTION, description="What the voice is like.")
    text: Text | None = Field(
        None, max_length=_MAX_TEXT, description="What the previews say; a sentence of ours if absent."
    )

    stream_previews: StrictBool = Field(False, description="true: the answer has the previews' ids and no audio.")


class SavedDesignBody(RequestBody):
    """A preview to keep as a voice."""

    voice_name: Text = Field(description="Its name; you have one voice of a name.")
    voice_description: Text = Field(
        "", max_length=_MAX_DESCRIPTION, description="Taken and not read: the preview has one."
    )
    generated_voice_id: str = Field(max_length=64, pattern=PRINTABLE, description="The preview's id.")


@router.post("/design", responses=_ERRORS)
@router.post("/create-previews", responses=_ERRORS)
async def design(body: DesignBody, output: Output, service: Service, voices: Voices, call: Call) -> dict[str, Any]:
    """Three voices that fit a description, each as a preview; they can be kept for an hour."""
    model, text = design_model(body.model_id, service.registry), body.text or _TEXT
    found = []
    for number in range(_PREVIEWS):
        preview = await _preview(body, model, text, None if body.seed is None else body.seed + number, service, call)
        audio = b"" if body.stream_previews else await asyncio.to_thread(_encoded, preview, output)
        found.append(_preview_json(preview, output, voices.previews.add(preview), audio))
    return {"previews": found, "text": text}


@router.get("/{generated_voice_id}/stream", response_class=Response, responses=_ERRORS)
async def preview_audio(
    generated_voice_id: Annotated[str, Path(max_length=64, pattern=PRINTABLE)],
    output: Output,
    voices: Voices,
    owner: Owner,
) -> Response:
    """The audio of a preview."""
    preview = voices.previews.find(generated_voice_id, owner)
    return Response(await asyncio.to_thread(_encoded, preview, output), media_type=output.media_type)


@router.post("", responses=REGISTRATION_ERRORS | _ERRORS)
@router.post("/create-voice-from-preview", responses=REGISTRATION_ERRORS | _ERRORS)
async def save(body: SavedDesignBody, service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Keep a preview as a registered voice.

    Models that clone speak with its recording, models that make voices from descriptions with its description.
    """
    preview = voices.previews.find(body.generated_voice_id, owner)
    registered = await _registered(preview, body.voice_name, service, voices)
    return registered_json(registered.record, owner)


def design_model(model_id: str | None, registry: Registry) -> str:
    """The model for a design: the one named, else the first that makes voices from descriptions."""
    if model_id and not model_id.startswith(_MODEL_PREFIX):
        info = registry.model(model_id)
        if info.available and not info.voice_design:
            raise InvalidRequestError(
                f"The model {model_id!r} does not make voices from descriptions.", field="model_id"
            )
        return model_id
    able = (info.id for info in registry.models() if info.voice_design)
    if (found := next(able, None)) is None:
        raise NotServedError(
            "This server runs no model that makes voices from descriptions; `polyvox models` lists those that do.",
            field="model_id",
        )
    return found


async def _preview(
    body: DesignBody, model: str, text: str, seed: int | None, service: SpeechService, call: CallContext
) -> DesignPreview:
    asked = SpeechBody.model_validate(
        {"input": text, "model": model, "instructions": body.voice_description, "seed": seed}
    )
    pieces: list[Pcm] = []
    async with await service.open(asked.speech_request(NAME), call, whole=True) as session:
        async for chunk in session:
            pieces.append(chunk.pcm)
        rate, tags = session.sample_rate, session.tags(AudioFormat.MP3)
    language = detect_language(text, service.registry.model(model).languages) or ""
    return DesignPreview(call.owner, body.voice_description, text, language, np.concatenate(pieces), rate, tags)


async def _registered(preview: DesignPreview, name: str, service: SpeechService, voices: VoiceService) -> Registered:
    details = VoiceDetails.checked(
        name=name, language=preview.language or None, consent_note="Made from a description; nobody was recorded."
    )
    most = int(service.settings.prompt_max_seconds * preview.sample_rate)
    whole = len(preview.pcm) <= most
    if whole:
        details = replace(details, transcript=preview.text)
    recording = await asyncio.to_thread(wav_bytes, preview.pcm[:most], preview.sample_rate)
    return await voices.register(
        InlineVoice(recording),
        details,
        preview.owner,
        transcribe=Transcribe.NONE if whole else Transcribe.INLINE,
        style=design_report(preview.description),
    )


def _preview_json(preview: DesignPreview, output: OutputFormat, name: str, audio: bytes) -> Mapping[str, Any]:
    return {
        "generated_voice_id": name,
        "audio_base_64": base64.b64encode(audio).decode(),
        "media_type": output.media_type,
        "duration_secs": round(preview.seconds, 3),
        "language": preview.language or None,
    }


def _encoded(preview: DesignPreview, output: OutputFormat) -> bytes:
    pcm = resampled(preview.pcm, preview.sample_rate, output.sample_rate)
    if output.raw is not None:
        return output.raw.pack(pcm)
    return encode(pcm, AudioFormat(output.format), output.sample_rate, preview.tags)
