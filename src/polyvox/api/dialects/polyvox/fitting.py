"""`/v1/voices/fit`: fit a voice to a recording."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from polyvox.api.dependencies import Owner, Service
from polyvox.api.dialects.polyvox.voices import VoiceChanges, recording_of, voice_json
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.error_body import ErrorBody
from polyvox.errors import openai_body
from polyvox.service.keys.operations import Operation
from polyvox.service.voices.fitting import FitJob, FittingService
from polyvox.voices.names import MAX_NAME_CHARS

router = APIRouter(
    prefix="/v1/voices/fit", route_class=JsonRoute, tags=["voices"], dependencies=[Depends(refuse_foreign_pages)]
)

_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "Consent is missing, or a field or the recording is not acceptable."},
    404: {"model": ErrorBody, "description": "There is no such fit of yours."},
    409: {"model": ErrorBody, "description": "You have a voice of this name already."},
    413: {"model": ErrorBody, "description": "The recording is over its limit."},
    429: {"model": ErrorBody, "description": "The queue of fits is full."},
    503: {"model": ErrorBody, "description": "PyTorch or a model is not installed; the message names the remedy."},
    501: {"model": ErrorBody, "description": "A model for this is not installed; the message names the remedy."},
}


async def _fitting_of(request: Request) -> FittingService:
    fitting = request.app.state.fitting
    assert isinstance(fitting, FittingService)
    return fitting


Fits = Annotated[FittingService, Depends(_fitting_of)]


class NewFit(VoiceChanges):
    """A voice to fit to a recording."""

    name: str = Field(description=f"Up to {MAX_NAME_CHARS} visible characters; you have one voice of a name.")
    audio: str | None = Field(
        None, description="The recording in base64, as a data URL, or as url+https://...; in a form, a file."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="The same recording and seed give the same voice.")


@router.post("", status_code=202, responses=_ERRORS, openapi_extra=json_or_form(NewFit, "audio"))
async def fit_voice(request: Request, service: Service, fits: Fits, owner: Owner) -> dict[str, Any]:
    """Start fitting a Kokoro voice to a recording. The answer comes at once; poll the fit by its id."""
    fields = await read_fields(request, "audio")
    body = fields.parsed(NewFit)
    reference = await recording_of(body.audio, fields.file, service.settings.prompt_max_bytes)
    return _shown(await fits.start(reference, body.details, owner, seed=body.seed))


@router.get("")
async def list_fits(fits: Fits, owner: Owner) -> dict[str, Any]:
    """Your fits, the newest first; old ones are forgotten."""
    return {"object": "list", "data": [_shown(job) for job in fits.jobs(owner)]}


@router.get("/{fit_id}", responses={404: _ERRORS[404]})
async def get_fit(fit_id: str, fits: Fits, owner: Owner) -> dict[str, Any]:
    """The progress of a fit, and the voice when it is done."""
    return _shown(fits.get(fit_id, owner))


@router.delete("/{fit_id}", responses={404: _ERRORS[404]})
async def cancel_fit(fit_id: str, fits: Fits, owner: Owner) -> dict[str, Any]:
    """Cancel a fit; nothing of it is kept. A finished one and its voice stay as they are."""
    return _shown(await fits.cancel(fit_id, owner))


def _shown(job: FitJob) -> dict[str, Any]:
    return {
        "id": job.id,
        "object": "voice.fit",
        "name": job.name,
        "status": job.state,
        "progress": 1.0 if job.voice is not None else round(job.step / (job.steps + 1), 3),
        "step": job.step,
        "steps": job.steps,
        "similarity": job.similarity,
        "created": int(job.created),
        "voice": None if job.voice is None else voice_json(job.voice, job.owner) | {"warnings": list(job.warnings)},
        "error": None if job.error is None else openai_body(job.error)["error"],
    }


DOOR = Door(
    "fitting",
    router,
    operations={
        "POST /v1/voices/fit": Operation.FIT_VOICES,
        "DELETE /v1/voices/fit/*": Operation.FIT_VOICES,
        "GET /v1/voices/fit*": Operation.READ_FITS,
    },
)
