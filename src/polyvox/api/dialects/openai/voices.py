"""OpenAI's `audio.voices.create`: a recording becomes a registered voice."""

from typing import Any

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from polyvox.api.dependencies import Owner, Voices
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import RequestBody
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.error_body import REGISTRATION_ERRORS
from polyvox.errors import InvalidRequestError
from polyvox.voices.records import VoiceDetails
from polyvox.voices.references import InlineVoice

router = APIRouter(route_class=JsonRoute)

_SAMPLE = "audio_sample"


class CreatedVoice(RequestBody):
    """A voice to clone; the form's file `audio_sample` is its recording."""

    name: str = Field(description="Its name; you have one voice of a name.")
    type: str = Field(_SAMPLE, max_length=40, description="`audio_sample`; voices from prompts are not made here.")
    consent: str | None = Field(
        None, max_length=200, description="The id of the speaker's consent, which you keep; it is noted at the voice."
    )


@router.post(
    "/audio/voices",
    tags=["voices"],
    dependencies=[Depends(refuse_foreign_pages)],
    responses=REGISTRATION_ERRORS,
    openapi_extra=json_or_form(CreatedVoice, _SAMPLE),
)
async def create_voice(request: Request, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Register a voice from a recording."""
    fields = await read_fields(request, _SAMPLE)
    body = fields.parsed(CreatedVoice)
    if body.type != _SAMPLE:
        raise InvalidRequestError(
            f"'type' must be {_SAMPLE!r}; POST /v1/text-to-voice/design makes voices from descriptions.", field="type"
        )
    if fields.file is None:
        raise InvalidRequestError(f"Send the recording as the form's part {_SAMPLE!r}.", field=_SAMPLE)
    stated = True if body.consent is not None else None
    details = VoiceDetails.checked(name=body.name, consent=stated, consent_note=body.consent)
    record = (await voices.register(InlineVoice(fields.file), details, owner)).record
    return {
        "id": record.id,
        "object": "audio.voice",
        "type": _SAMPLE,
        "name": record.name,
        "created_at": int(record.created),
    }
