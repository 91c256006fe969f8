"""The voices of this server as Cartesia lists them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.cartesia.settings import CartesiaSettings
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import RequestBody
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.error_body import REGISTRATION_ERRORS
from polyvox.errors import InvalidRequestError, NotFoundError
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Voice
from polyvox.voices.records import VoiceDetails, VoiceQuery, VoiceRecord
from polyvox.voices.references import InlineVoice

router = APIRouter(route_class=JsonRoute, tags=["Cartesia"])

_NO_VOICE: dict[int | str, dict[str, Any]] = {404: {"description": "No such voice."}}
_MAX_REGISTERED = 1_000
_MAX_CHARS = 200
_GENDERS = {"female": "feminine", "male": "masculine"}

Gender = Literal["masculine", "feminine", "gender_neutral"]
_Cursor = Annotated[str | None, Query(max_length=_MAX_CHARS)]


@router.get("/voices", responses={404: {"description": "No such page."}})
async def list_voices(
    service: Service,
    voices: Voices,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=100, description="Voices on a page.")] = 10,
    starting_after: _Cursor = None,
    ending_before: _Cursor = None,
    q: Annotated[str, Query(max_length=_MAX_CHARS, description="Part of the id, the name or the description.")] = "",
    gender: Gender | None = None,
    is_owner: bool | None = None,
) -> dict[str, Any]:
    """The voices of the default model; where the server clones voices, also those of `/v1/voices`."""
    listed = await _listed(service, voices, owner)
    found = [voice for voice in listed if _matches(voice, q.casefold(), gender, is_owner)]
    if ending_before is not None:
        before = found[: _place(found, ending_before)]
        return {"data": before[-limit:], "has_more": len(before) > limit}
    after = found if starting_after is None else found[_place(found, starting_after) + 1 :]
    return {"data": after[:limit], "has_more": len(after) > limit}


@router.get("/voices/{voice_id}", responses=_NO_VOICE)
async def get_voice(voice_id: str, service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """One voice, by its id here or by that of one of Cartesia's that the setting `cartesia_voices` knows."""
    name = service.settings.section(CartesiaSettings).voice_map.get(voice_id.lower(), voice_id)
    listed = await _listed(service, voices, owner)
    if (found := next((voice for voice in listed if voice["id"] == name), None)) is None:
        raise NotFoundError(f"There is no voice {voice_id[:80]!r}; GET /voices lists those there are.", field="id")
    return found | {"id": voice_id}


class ClonedVoice(RequestBody):
    """A voice to clone; the form's file `clip` is its recording."""

    name: str = Field(description="Its name; you have one voice of a name.")
    language: str | None = Field(None, description="The language spoken, such as en.")


@router.post(
    "/voices/clone",
    dependencies=[Depends(refuse_foreign_pages)],
    responses=REGISTRATION_ERRORS,
    openapi_extra=json_or_form(ClonedVoice, "clip"),
)
async def clone_voice(request: Request, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Register a voice from a recording."""
    fields = await read_fields(request, "clip")
    body = fields.parsed(ClonedVoice)
    if fields.file is None:
        raise InvalidRequestError("Send the recording as the form's part 'clip'.", field="clip")
    details = VoiceDetails.checked(name=body.name, language=body.language)
    registered = await voices.register(InlineVoice(fields.file), details, owner)
    return _registered_voice(registered.record, owner) | {"user_id": "polyvox"}


@router.delete("/voices/{voice_id}", status_code=204, responses=_NO_VOICE, dependencies=[Depends(refuse_foreign_pages)])
async def delete_voice(voice_id: str, voices: Voices, owner: Owner) -> None:
    """Delete a registered voice with its recording."""
    await voices.delete(voice_id, owner)


async def _listed(service: SpeechService, voices: VoiceService, owner: str) -> Sequence[dict[str, Any]]:
    model = service.registry.model(None)
    shown = [_own_voice(voice, model.created) for voice in service.registry.voices() if not voice.reason]
    if service.registry.clones_for(None):
        page = await voices.page(VoiceQuery(limit=_MAX_REGISTERED), owner)
        shown += [_registered_voice(record, owner) for record in page.voices]
    return shown


def _place(voices: Sequence[dict[str, Any]], voice_id: str) -> int:
    found = next((place for place, voice in enumerate(voices) if voice["id"] == voice_id), None)
    if found is None:
        raise NotFoundError("The list does not hold the voice that the page should begin or end at; start anew.")
    return found


def _matches(voice: dict[str, Any], text: str, gender: Gender | None, is_owner: bool | None) -> bool:
    words: Iterable[str] = (voice["id"], voice["name"], voice["description"])
    return (
        any(text in word.casefold() for word in words)
        and gender in (None, voice["gender"])
        and is_owner in (None, voice["is_owner"])
    )


def _own_voice(voice: Voice, created: float) -> dict[str, Any]:
    fields = _voice(voice.id, voice.name, voice.language, created)
    return fields | {"description": voice.description, "gender": _GENDERS.get(voice.gender)}


def _registered_voice(record: VoiceRecord, owner: str) -> dict[str, Any]:
    mine = record.owner == owner
    about = {"is_owner": mine, "access": "private", "visibility": "owner", "is_public": False} if mine else {}
    return _voice(record.id, record.name, record.language or "en", record.created) | about


def _voice(voice_id: str, name: str, language: str, created: float) -> dict[str, Any]:
    language, _, region = language.partition("-")
    locale = f"{language}-{region.upper()}" if region else language
    return {
        "id": voice_id,
        "name": name,
        "tagline": "",
        "description": "",
        "language": language,
        "locales": [{"locale": locale, "is_native": True}],
        "country": region.upper() or None,
        "gender": None,
        "is_owner": False,
        "is_public": True,
        "access": "public",
        "visibility": "all",
        "created_at": datetime.fromtimestamp(created, UTC).isoformat(timespec="seconds"),
    }
