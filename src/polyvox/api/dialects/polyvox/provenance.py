"""Provenance: the signed manifests of answers, and checks of files."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request

from polyvox.api.dependencies import Checks, Owner, Service
from polyvox.api.dialects.openai.door import SPEECH_ERRORS
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.fields import RequestBody
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.errors import InvalidRequestError
from polyvox.provenance.manifest import as_json
from polyvox.provenance.marks import SOFTWARE, SYNTHETIC
from polyvox.service.keys.operations import Operation

router = APIRouter(prefix="/v1/audio/provenance", tags=["provenance"], dependencies=[Depends(refuse_foreign_pages)])

_NAME = "provenance"
_FILE = "file"
_NO_MANIFEST: dict[int | str, dict[str, Any]] = {
    400: SPEECH_ERRORS[400],
    404: {"description": "There is no manifest with this id, or no longer."},
}
_ERRORS: dict[int | str, dict[str, Any]] = {code: SPEECH_ERRORS[code] for code in (400, 429, 503)}


class CheckBody(RequestBody):
    """A file to check, and its manifest if the caller has it."""

    manifest: str | None = None


_FORM = json_or_form(CheckBody, _FILE)
_FORM["requestBody"]["content"].pop("application/json")


@router.get("")
async def get_provenance(service: Service) -> dict[str, Any]:
    """Show how this server marks its speech, and the public key by which its manifests are checked."""
    key = service.notary.public_key
    return {
        "provenance": service.settings.provenance,
        "watermark": service.settings.watermark,
        "software": SOFTWARE,
        "source": SYNTHETIC,
        "key": None if key is None else key.id,
        "public_key": None if key is None else key.pem.decode(),
    }


@router.get("/{content_id}", responses=_NO_MANIFEST)
async def get_manifest(content_id: Annotated[str, Path(max_length=64)], checks: Checks) -> dict[str, Any]:
    """Fetch the signed manifest of an answer by its content id, also while the answer is being sent."""
    return as_json(await checks.manifest(content_id))


@router.post("", responses=_ERRORS, openapi_extra=_FORM)
async def check_file(request: Request, checks: Checks, owner: Owner) -> dict[str, Any]:
    """Check where a file comes from: its tags, its signature, its watermark. The body is a form with the `file`."""
    fields = await read_fields(request, _FILE)
    body = fields.parsed(CheckBody)
    if fields.file is None:
        raise InvalidRequestError("'file' is required: send the audio as a file in a form.", field=_FILE)
    manifest = None if body.manifest is None else body.manifest.encode()
    return (await checks.check(fields.file, manifest, owner)).as_json()


DOOR = Door(
    _NAME,
    router,
    tags={"provenance": "Where speech comes from: signed manifests, and checks of files."},
    recordings=["/v1/audio/provenance"],
    operations={
        "GET /v1/audio/provenance": Operation.READ_PROVENANCE,
        "GET /v1/audio/provenance/{content_id}": Operation.READ_PROVENANCE,
        "POST /v1/audio/provenance": Operation.CHECK_PROVENANCE,
    },
)
