"""Probes, metrics and the models in memory, for those who run the server."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.responses import JSONResponse

from polyvox import __version__
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.cosyvoice.rust_metrics import RustServerMetrics
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.fields import PRINTABLE
from polyvox.api.responses.error_body import ErrorBody
from polyvox.errors import ForbiddenError
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService

router = APIRouter(tags=["operation"])

TAGS = {"operation": "Probes, metrics, and models in memory."}
PUBLIC = ("/", "/health", "/ready")
"""Paths that need no key."""
OPERATIONS = {
    **dict.fromkeys((f"GET {path}" for path in PUBLIC), Operation.PROBE),
    "GET /v1": Operation.LIST,
    "POST /dev/unload": Operation.CHANGE_MODELS,
    "POST /dev/reload": Operation.CHANGE_MODELS,
    "GET /metrics": Operation.READ_METRICS,
    "GET /metrics/recent": Operation.READ_METRICS,
}
UNTRACED = ("/metrics", "/metrics/recent")
"""Further paths that monitors ask for all the time."""

_ADMIN_ERRORS: dict[int | str, dict[str, Any]] = {
    403: {"model": ErrorBody, "description": "The setting allow_unload is off."},
    404: {"model": ErrorBody, "description": "No such model."},
    409: {"model": ErrorBody, "description": "Requests use the model."},
}
_KEYS_WARNING = "The keys cannot be read; those read before are accepted and no others. The server's log has the cause."
_NamedModel = Annotated[str | None, Query(max_length=200, pattern=PRINTABLE, description="The model's name.")]


@router.get("/")
@router.get("/v1", include_in_schema=False)
async def index() -> dict[str, str]:
    """The main paths. Voice agents also call this to open a connection ahead of time."""
    return {
        "name": "polyvox",
        "version": __version__,
        "speech": "/v1/audio/speech",
        "voices": "/v1/audio/voices",
        "models": "/v1/models",
        "docs": "/docs",
    }


@router.get("/health")
async def health() -> dict[str, str]:
    """200 as long as the process serves."""
    return {"status": "healthy", "version": __version__}


@router.get("/ready", responses={503: {"description": "It cannot; `reasons` says why, for each model."}})
async def ready(service: Service, voices: Voices) -> JSONResponse:
    """200 when the default model can speak. `warnings` says what else should be mended: the voice store, the keys.

    `loading` has the models that requests wait for: `seconds` since the load began, requests `waiting`, and the seconds
    that its last load took. `gpus` has the memory of each GPU, in bytes, and the share of time it was busy.
    """
    state = await voices.readiness(service.ready)
    models = {info.id: info.available for info in service.registry.models() if info.resident or info.loaded}
    body: dict[str, Any] = {
        "status": "ready" if state.ok else "not_ready",
        "models": models,
        "reasons": state.reasons,
    }
    warnings = state.warnings | ({"voices": " ".join(voices.warnings)} if voices.warnings else {})
    if service.accounts.keyring.problem:
        warnings["keys"] = _KEYS_WARNING
    if warnings:
        body["warnings"] = warnings
    if loading := service.registry.loading():
        body["loading"] = {model: progress.public() for model, progress in loading.items()}
    if gpus := await service.metrics.gpus.sample():
        body["gpus"] = [gpu.public() for gpu in gpus]
    return JSONResponse(body, 200 if state.ok else 503)


@router.post("/dev/unload", responses=_ADMIN_ERRORS, dependencies=[Depends(refuse_foreign_pages)])
async def unload(service: Service, owner: Owner, model: _NamedModel = None) -> dict[str, Any]:
    """Unload a model, or all but the default one, to free its memory; the next request that names it loads it again.

    `busy` has those that stay loaded since requests use them; a model that is named and in use is answered 409.
    """
    _check_unload(service)
    done = await service.unload(model, owner)
    return {"status": "unloaded", "models": done.models, "busy": done.busy}


@router.post(
    "/dev/reload",
    responses=_ADMIN_ERRORS | {503: {"description": "It cannot be loaded, or not within `model_load_seconds`."}},
    dependencies=[Depends(refuse_foreign_pages)],
)
async def reload(service: Service, owner: Owner, model: _NamedModel = None) -> dict[str, Any]:
    """Load a model anew from its files, the default one unless named; also one whose last load has failed."""
    _check_unload(service)
    return {"status": "loaded", "model": (await service.reload(model, owner)).id}


def _check_unload(service: SpeechService) -> None:
    if not service.settings.allow_unload:
        raise ForbiddenError(
            "Models are not unloaded by request on this server; its setting allow_unload turns that on."
        )


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, service: Service, owner: Owner) -> Response:
    """Counters in Prometheus' text format."""
    service.accounts.access.require(Operation.READ_METRICS, owner)
    return Response(await request.app.state.exposition(), media_type=service.metrics.content_type)


async def exposition(service: SpeechService) -> bytes:
    """The metrics of this process, under CosyVoice's names too."""
    await service.metrics.gpus.sample()
    return rendered(service)


def rendered(service: SpeechService) -> bytes:
    """The same, with what was last known of GPUs."""
    return service.metrics.render(RustServerMetrics(service.metrics))


@router.get("/metrics/recent")
async def recent_metrics(service: Service, owner: Owner) -> dict[str, Any]:
    """Some of the counters as they were in the last five minutes, every ten seconds, the oldest first.

    Each has its `age` in seconds, and `sums` by metric and by the label that tells its causes apart.
    """
    service.accounts.access.require(Operation.READ_METRICS, owner)
    return {"object": "list", "data": service.metrics.recent.public()}
