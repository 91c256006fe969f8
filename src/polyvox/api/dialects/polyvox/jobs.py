"""`/v1/jobs`: books and other long texts, spoken in the background."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from starlette.responses import StreamingResponse

from polyvox.api.dependencies import Owner, Service, Voices, call_of
from polyvox.api.dialects.polyvox.job_bodies import CorrectionBody, NewJobBody, manuscript_of, placed_in
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.error_body import ErrorBody
from polyvox.api.responses.ranged_file import RangedFile, attachment_of
from polyvox.books.manuscript import Manuscript
from polyvox.errors import MarkupError, NotFoundError, PolyvoxError
from polyvox.service.jobs.narrator import Narrator
from polyvox.service.jobs.record import JobRecord
from polyvox.service.jobs.service import DOOR as DOOR_NAME
from polyvox.service.jobs.service import JobService, NewJob
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

_PATH = "/v1/jobs"
_SAMPLED_CHAPTERS = 2
"""Chapters by which the language of a text is found that nothing else names."""

router = APIRouter(prefix=_PATH, route_class=JsonRoute, tags=["jobs"], dependencies=[Depends(refuse_foreign_pages)])

_MISSING: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorBody, "description": "There is no such job of yours."},
    503: {"model": ErrorBody, "description": "The jobs cannot be read, or the server is shutting down."},
}
_CHANGED: dict[int | str, dict[str, Any]] = _MISSING | {
    409: {"model": ErrorBody, "description": "The job's status does not allow it."},
    507: {"model": ErrorBody, "description": "The server's disk is full."},
}
_NEW: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "A field or the manuscript is not acceptable."},
    403: {"model": ErrorBody, "description": "The server takes no jobs, or may not tell that webhook."},
    404: {"model": ErrorBody, "description": "No such model."},
    413: {"model": ErrorBody, "description": "The manuscript or the cover is over its limit."},
    429: {"model": ErrorBody, "description": "You keep as many jobs as you may, or the server reads others."},
    501: {"model": ErrorBody, "description": "The model is not installed; the message names the remedy."},
    503: {"model": ErrorBody, "description": "The model is not ready; try again."},
    507: {"model": ErrorBody, "description": "The server's disk is nearly full."},
}


async def _jobs_of(request: Request) -> JobService:
    jobs = request.app.state.jobs
    assert isinstance(jobs, JobService)
    return jobs


Jobs = Annotated[JobService, Depends(_jobs_of)]


@router.post("", status_code=202, responses=_NEW, openapi_extra=json_or_form(NewJobBody, "file", "cover"))
async def submit_job(request: Request, jobs: Jobs, service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """Speak a long text in the background. The answer comes at once; follow the job by its id."""
    await service.count_request(call_of(request.scope).client)
    fields = await read_fields(request, "file", further_files=("cover",))
    body = fields.parsed(NewJobBody)
    verify = service.settings.verify_jobs if body.verify is None else body.verify
    output, options = body.job_output, replace(body.options, verify=verify)
    jobs.check_new(body.webhook, owner)
    await _check_voices(body, service, voices, owner)
    async with jobs.intake():
        manuscript = await manuscript_of(body, fields.files, service.settings)
        if verify:
            await _check_recognisers(body, manuscript, jobs, _narrator(body, service, voices, owner))
        new = NewJob(manuscript, options, output, body.webhook, body.expires_seconds)
        try:
            return (await jobs.submit(new, owner)).public()
        except MarkupError as error:
            raise placed_in(error, body) from error


@router.get("", responses={503: _MISSING[503]})
async def list_jobs(jobs: Jobs, owner: Owner) -> dict[str, Any]:
    """Your jobs, the newest first."""
    found = [record.public() for record in await jobs.jobs(owner)]
    return {"object": "list", "data": found, "jobs": found}


@router.get("/{job_id}", responses=_MISSING)
async def get_job(job_id: str, jobs: Jobs, owner: Owner) -> dict[str, Any]:
    """One job: its progress, its files, or why it does not go on."""
    return (await jobs.get(job_id, owner)).public()


@router.patch("/{job_id}", responses=_CHANGED | {400: _NEW[400]})
async def correct_job(job_id: str, body: CorrectionBody, jobs: Jobs, owner: Owner) -> dict[str, Any]:
    """Change the words of a sentence that is not spoken yet, of a job that was paused or has failed; then resume it."""
    return (await jobs.correct(job_id, owner, body.text, body.sentence)).public()


@router.post("/{job_id}/pause", responses=_CHANGED)
async def pause_job(job_id: str, jobs: Jobs, owner: Owner) -> dict[str, Any]:
    """Stop speaking a job for now; what is spoken stays."""
    return (await jobs.pause(job_id, owner)).public()


@router.post("/{job_id}/resume", responses=_CHANGED)
async def resume_job(job_id: str, jobs: Jobs, owner: Owner) -> dict[str, Any]:
    """Go on with a job that was paused or has failed, at the sentence where it was."""
    return (await jobs.resume(job_id, owner)).public()


@router.post("/{job_id}/cancel", responses=_CHANGED)
async def cancel_job(job_id: str, jobs: Jobs, owner: Owner) -> dict[str, Any]:
    """End a job for good. Its speech is deleted; the job stays in the list until it expires."""
    return (await jobs.cancel(job_id, owner)).public()


@router.delete("/{job_id}", responses=_CHANGED)
async def delete_job(job_id: str, jobs: Jobs, owner: Owner) -> dict[str, Any]:
    """Delete a job and all its files, whatever its status."""
    record = await jobs.delete(job_id, owner)
    return {"id": record.id, "object": "job", "deleted": True}


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses=_MISSING | {200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}},
)
async def watch_job(job_id: str, jobs: Jobs, owner: Owner) -> Response:
    """The job as a server-sent event whenever it has changed, until it is done, paused, failed or cancelled."""
    await jobs.get(job_id, owner)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(jobs, job_id, owner), media_type="text/event-stream", headers=headers)


@router.get(
    "/{job_id}/files/{name}",
    response_class=Response,
    responses=_MISSING
    | {
        200: {"content": {"audio/*": {}, "text/*": {}}, "description": "The whole file."},
        206: {"content": {"audio/*": {}, "text/*": {}}, "description": "The range of it that was asked for."},
        304: {"description": "The file is the one that `If-None-Match` names."},
        416: {"model": ErrorBody, "description": "The file ends before the range."},
    },
)
async def download_job_file(job_id: str, name: str, jobs: Jobs, service: Service, owner: Owner) -> Response:
    """A finished file of a job, or one range of its bytes."""
    record, file, path = await jobs.file(job_id, name, owner)
    return RangedFile(
        path,
        media_type=file.media_type,
        digest=file.digest,
        stall_seconds=service.settings.stall_seconds,
        headers={
            "Content-Disposition": attachment_of(file.saved_name(record.title)),
            "Cache-Control": "private, no-cache",
        },
    )


async def _check_voices(body: NewJobBody, service: SpeechService, voices: VoiceService, owner: str) -> None:
    """Refuse a model or voice that there is not, now rather than when the job's turn comes."""
    narrator = _narrator(body, service, voices, owner)
    for name in body.voices:
        await narrator.check(name)


def _narrator(body: NewJobBody, service: SpeechService, voices: VoiceService, owner: str) -> Narrator:
    return Narrator(service, voices.resolver, body.options, owner=owner, client="", door=DOOR_NAME)


async def _check_recognisers(body: NewJobBody, manuscript: Manuscript, jobs: JobService, narrator: Narrator) -> None:
    """Refuse to verify what no recogniser here hears, now rather than when the job is done."""
    text = " ".join(chain.from_iterable(chapter.paragraphs for chapter in manuscript.chapters[:_SAMPLED_CHAPTERS]))
    await jobs.check_verifiable({narrator.language(name, text): None for name in body.voices})


async def _events(jobs: JobService, job_id: str, owner: str) -> AsyncGenerator[bytes]:
    try:
        async for record in jobs.watch(job_id, owner):
            yield b": still there\n\n" if record is None else _event(record)
    except NotFoundError:
        yield b'event: deleted\ndata: {"deleted":true}\n\n'
    except PolyvoxError as error:
        yield b"event: error\ndata: " + json.dumps({"message": error.message}).encode() + b"\n\n"


def _event(record: JobRecord) -> bytes:
    return b"event: job\ndata: " + json.dumps(record.public(), separators=(",", ":")).encode() + b"\n\n"


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    jobs: JobService = app.state.jobs
    await jobs.start()
    try:
        yield
    finally:
        await jobs.close()


DOOR = Door(
    DOOR_NAME,
    router,
    tags={"jobs": "Books and other long texts, spoken in the background."},
    manuscripts=(_PATH,),
    lifespan=_lifespan,
    operations={
        "POST /v1/jobs": Operation.SUBMIT_JOBS,
        "POST /v1/jobs/*": Operation.CHANGE_JOBS,
        "PATCH /v1/jobs/*": Operation.CHANGE_JOBS,
        "DELETE /v1/jobs/*": Operation.CHANGE_JOBS,
        "GET /v1/jobs*": Operation.READ_JOBS,
    },
)
