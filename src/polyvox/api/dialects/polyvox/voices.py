"""Registered voices: `/v1/voices`."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BeforeValidator, Field, StrictBool

from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute, off_the_loop
from polyvox.api.requests.fields import RequestBody
from polyvox.api.requests.forms import FormFile, json_or_form, read_fields
from polyvox.api.requests.languages import language_of_pack
from polyvox.api.responses.error_body import ErrorBody
from polyvox.errors import InvalidRequestError
from polyvox.service.keys.operations import Operation
from polyvox.service.voices.kept_voices import KeptVoices
from polyvox.service.voices.prompts import CacheKind
from polyvox.service.voices.voices import Transcribe
from polyvox.voices.fitted import shown_report
from polyvox.voices.mixing import MAX_MIX_CHARS
from polyvox.voices.names import MAX_NAME_CHARS, MAX_TAGS
from polyvox.voices.records import VoiceDetails, VoiceQuery, VoiceRecord
from polyvox.voices.references import InlineVoice, UrlVoice, parse_reference

router = APIRouter(
    prefix="/v1/voices", route_class=JsonRoute, tags=["voices"], dependencies=[Depends(refuse_foreign_pages)]
)

_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "A field or the recording is not acceptable; the message says why."},
    403: {"model": ErrorBody, "description": "The voice is not yours to change, or the settings do not allow it."},
    404: {"model": ErrorBody, "description": "There is no such voice among those you may see."},
    409: {"model": ErrorBody, "description": "You have a voice of this name already."},
    413: {"model": ErrorBody, "description": "The recording is over its limit."},
    501: {"model": ErrorBody, "description": "A model that this needs is not installed; the message names the remedy."},
    503: {"model": ErrorBody, "description": "The server is busy with other recordings, or stops; try again."},
}
_REFERENCE_PREFIXES = ("url+", "base64+", "data:")
_MAX_PAGE = 100
_MAX_FILTER_CHARS = 200


def _split_tags(tags: object) -> object:
    """Accept tags as a list, or joined by commas."""
    joined = [tags] if isinstance(tags, str) else tags
    if isinstance(joined, list) and all(isinstance(tag, str) for tag in joined):
        return [tag for part in joined for tag in part.split(",") if tag.strip()]
    return tags


class VoiceChanges(RequestBody):
    """Details of a voice; those that are absent stay as they are."""

    name: str | None = Field(
        None, description=f"Up to {MAX_NAME_CHARS} visible characters; you have one voice of a name, whatever its case."
    )
    transcript: str | None = Field(None, description="Transcript of the recording.")
    language: str | None = Field(None, description="The language spoken, such as en or zh.")
    tags: Annotated[list[str], BeforeValidator(_split_tags)] | None = Field(
        None, description=f"Up to {MAX_TAGS} words to find the voice by."
    )
    consent: StrictBool | None = Field(None, description="Whether the speaker has agreed to have the voice cloned.")
    consent_note: str | None = Field(None, description="How and when the speaker agreed.")

    @property
    def details(self) -> VoiceDetails:
        return VoiceDetails.checked(
            name=self.name,
            transcript=self.transcript,
            language=self.language,
            tags=self.tags,
            consent=self.consent,
            consent_note=self.consent_note,
        )


class NewVoice(VoiceChanges):
    """A voice to register."""

    name: str = Field(description=f"Up to {MAX_NAME_CHARS} visible characters; you have one voice of a name.")
    audio: str | None = Field(
        None, description="The recording in base64, as a data URL, or as url+https://...; in a form, a file."
    )
    mix: str | None = Field(
        None,
        max_length=MAX_MIX_CHARS,
        description="In place of a recording: a mix of built-in voices to keep, such as af_heart(2)+bf_emma(1).",
    )
    transcribe: Literal["inline", "background", "none"] = Field(
        "inline",
        description="Without a transcript, recognise it from the recording: before the answer, after it, or not.",
    )


@router.post("", status_code=201, responses=_ERRORS, openapi_extra=json_or_form(NewVoice, "audio", "pack"))
async def register_voice(request: Request, service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Register a voice. The answer holds the quality of the recording, and warns of a voice that sounds the same.

    In place of a recording, `mix` keeps a mix of built-in voices, and a form's file `pack` a `.pt` voice pack of
    Kokoro's; the voice then speaks a sentence of its own, which is its recording.
    """
    fields = await read_fields(request, "audio", further_files=("pack",))
    body = fields.parsed(NewVoice)
    pack = fields.files.get("pack")
    _check_one_source(body, fields.file, pack)
    if body.mix is not None:
        registered = await KeptVoices(service.settings, voices).keep_mix(body.mix, body.details, owner)
    elif pack is not None:
        language = body.language or language_of_pack(body.name)
        details = body.model_copy(update={"language": language}).details
        registered = await KeptVoices(service.settings, voices).keep_pack(pack.data, details, owner)
    else:
        details = body.details
        reference = await recording_of(body.audio, fields.file, service.settings.prompt_max_bytes)
        registered = await voices.register(reference, details, owner, transcribe=Transcribe(body.transcribe))
    return voice_json(registered.record, owner) | {"warnings": list(registered.warnings)}


@router.get("", responses={400: _ERRORS[400]})
async def list_voices(
    voices: Voices,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=_MAX_PAGE, description="Voices on a page.")] = 20,
    after: Annotated[str, Query(description="The `next` of the page before.")] = "",
    order: Annotated[Literal["asc", "desc"], Query(description="By age: oldest or newest first.")] = "desc",
    q: Annotated[str, Query(max_length=_MAX_FILTER_CHARS, description="Part of the name.")] = "",
    tag: Annotated[str, Query(max_length=_MAX_FILTER_CHARS)] = "",
    language: Annotated[str, Query(max_length=_MAX_FILTER_CHARS, description="`en` also finds `en-gb`.")] = "",
    consent: Annotated[bool | None, Query()] = None,
) -> dict[str, Any]:
    """The voices that you may speak with: yours, and those shared by the server."""
    query = VoiceQuery(
        text=q,
        tag=tag,
        language=language,
        consent=consent,
        newest_first=order == "desc",
        after=after,
        limit=limit,
    )
    page = await voices.page(query, owner)
    shown = [voice_json(record, owner) for record in page.voices]
    return {"object": "list", "data": shown, "has_more": bool(page.next), "next": page.next or None}


@router.post("/cache/clear")
async def clear_caches(
    voices: Voices, owner: Owner, kind: Literal["url", "inline", "transcript", "prepared", "all"] = "all"
) -> dict[str, Any]:
    """Clear the caches of fetched and inline recordings, transcripts and prepared voices; they fill again on use.

    With a key, only what was made for this key; a server without keys clears everything.
    """
    cleared = await voices.clear(*(CacheKind if kind == "all" else (CacheKind(kind),)), owner=owner)
    return {"object": "voice.caches", "cleared": cleared}


@router.get("/{voice_id}", responses={404: _ERRORS[404]})
async def get_voice(voice_id: str, voices: Voices, owner: Owner) -> dict[str, Any]:
    """One voice."""
    return voice_json(await voices.get(voice_id, owner), owner)


@router.patch("/{voice_id}", responses={status: _ERRORS[status] for status in (400, 403, 404, 409)})
async def change_voice(voice_id: str, body: VoiceChanges, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Change the details of a voice, such as its transcript."""
    return voice_json(await voices.change(voice_id, body.details, owner), owner)


@router.delete("/{voice_id}", responses={status: _ERRORS[status] for status in (403, 404)})
async def delete_voice(voice_id: str, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Delete a voice with its recording and everything derived from it; the answer lists what was removed.

    A recording that another voice of yours shares stays with that one.
    """
    deleted = await voices.delete(voice_id, owner)
    removed = {"audio": deleted.audio, "cached": deleted.cached, "prepared": deleted.prepared}
    return {"id": voice_id, "object": "voice.deleted", "deleted": True, "removed": removed}


@router.get(
    "/{voice_id}/audio",
    response_class=Response,
    responses={200: {"content": {"audio/wav": {}}}, 403: _ERRORS[403], 404: _ERRORS[404]},
)
async def preview_voice(voice_id: str, voices: Voices, owner: Owner) -> Response:
    """The recording of a voice; only for its owner."""
    data = await voices.preview(voice_id, owner)
    headers = {
        "Cache-Control": "private, no-store",
        "Content-Disposition": f'inline; filename="{voice_id}.wav"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(data, media_type="audio/wav", headers=headers)


def _check_one_source(body: NewVoice, file: bytes | None, pack: FormFile | None) -> None:
    given = [source for source in (body.audio, file, body.mix, pack) if source is not None]
    if len(given) > 1:
        raise InvalidRequestError("Send one of 'audio', 'mix' and 'pack'.", field="audio")


async def recording_of(audio: str | None, file: bytes | None, max_bytes: int) -> InlineVoice | UrlVoice:
    """The recording of a registration: the form's file, base64 or a URL."""
    if file is not None:
        return InlineVoice(file)
    if not audio:
        raise InvalidRequestError("'audio' is required: a file in a form, or base64 in JSON.", field="audio")
    written = audio if audio[:8].lower().startswith(_REFERENCE_PREFIXES) else f"base64+{audio}"
    reference = await off_the_loop(written, partial(parse_reference, max_bytes=max_bytes, field="audio"))
    assert isinstance(reference, InlineVoice | UrlVoice)
    return reference


def voice_json(record: VoiceRecord, owner: str) -> dict[str, Any]:
    """A registered voice as JSON."""
    return {
        "id": record.id,
        "object": "voice",
        "name": record.name,
        "transcript": record.transcript,
        "transcription": record.transcription,
        "language": record.language or None,
        "tags": list(record.tags),
        "consent": record.consent,
        "consent_note": record.consent_note,
        "duration": round(record.duration, 3),
        "sample_rate": record.sample_rate,
        "quality": shown_report(record.report),
        "created": int(record.created),
        "used": int(record.used) or None,
        "yours": record.owner == owner,
    }


DOOR = Door(
    "voices",
    router,
    tags={"voices": "Voices that you register from a recording, or have fitted to one."},
    recordings=["/v1/voices*"],
    operations={
        "GET /v1/voices*": Operation.READ_VOICES,
        "POST /v1/voices*": Operation.CHANGE_VOICES,
        "PATCH /v1/voices/*": Operation.CHANGE_VOICES,
        "DELETE /v1/voices/*": Operation.CHANGE_VOICES,
    },
)
