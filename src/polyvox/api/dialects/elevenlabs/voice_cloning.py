"""ElevenLabs' instant voice cloning: a recording becomes a registered voice."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BeforeValidator, Field

from polyvox.api.dependencies import Owner, Voices
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute, parse_json
from polyvox.api.requests.fields import RequestBody
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.error_body import REGISTRATION_ERRORS
from polyvox.errors import InvalidRequestError
from polyvox.voices.records import VoiceDetails
from polyvox.voices.references import InlineVoice

router = APIRouter(
    prefix="/v1/voices", route_class=JsonRoute, tags=["ElevenLabs"], dependencies=[Depends(refuse_foreign_pages)]
)

_MAX_LABELS_CHARS = 10_000


def _read_labels(labels: object) -> object:
    """Accept labels as an object, or as JSON in a form's text."""
    if not isinstance(labels, str):
        return labels
    if len(labels) > _MAX_LABELS_CHARS:
        raise InvalidRequestError(f"'labels' has over {_MAX_LABELS_CHARS:,} characters.", field="labels")
    return parse_json(labels.encode()) or {}


class AddedVoice(RequestBody):
    """A voice to clone; the form's file `files` is its recording."""

    name: str = Field(description="Its name; you have one voice of a name.")
    labels: Annotated[dict[str, str], BeforeValidator(_read_labels)] = Field(
        {}, description="Of these, `language` has an effect."
    )


@router.post("/add", responses=REGISTRATION_ERRORS, openapi_extra=json_or_form(AddedVoice, "files"))
async def add_voice(request: Request, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Register a voice from one recording."""
    fields = await read_fields(request, "files")
    body = fields.parsed(AddedVoice)
    if fields.file is None:
        raise InvalidRequestError("Send one recording as the form's part 'files'.", field="files")
    details = VoiceDetails.checked(name=body.name, language=body.labels.get("language"))
    registered = await voices.register(InlineVoice(fields.file), details, owner)
    return {"voice_id": registered.record.id, "requires_verification": False}


@router.delete("/{voice_id}", responses={404: {"description": "No such voice."}})
async def delete_voice(voice_id: str, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Delete a registered voice with its recording."""
    await voices.delete(voice_id, owner)
    return {"status": "ok"}
