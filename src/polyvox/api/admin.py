"""Probes and metrics, for those who run the server."""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse

from polyvox.api.dependencies import Service, Voices
from polyvox.api.rust_metrics import RustServerMetrics

router = APIRouter(tags=["operation"])

TAGS = {"operation": "Probes and metrics."}
PUBLIC = ("/", "/health", "/ready")
"""Paths that need no key."""


@router.get("/")
@router.get("/v1", include_in_schema=False)
async def index() -> dict[str, str]:
    """The main paths. Voice agents also call this to open a connection ahead of time."""
    return {
        "name": "polyvox",
        "version": version("polyvox"),
        "speech": "/v1/audio/speech",
        "voices": "/v1/audio/voices",
        "models": "/v1/models",
        "docs": "/docs",
    }


@router.get("/health")
async def health() -> dict[str, str]:
    """200 as long as the process serves."""
    return {"status": "healthy"}


@router.get("/ready", responses={503: {"description": "It cannot; `reasons` says why, for each model."}})
async def ready(service: Service, voices: Voices) -> JSONResponse:
    """200 when the default model can speak. `warnings` says what else should be mended, such as the voice store.

    `gpus` has the memory of each GPU, in bytes, and the share of time it was busy.
    """
    state = service.ready
    models = {info.id: info.available for info in service.registry.models()}
    body: dict[str, Any] = {
        "status": "ready" if state.ok else "not_ready",
        "models": models,
        "reasons": state.reasons,
    }
    warnings = state.warnings | ({"voices": " ".join(voices.warnings)} if voices.warnings else {})
    if warnings:
        body["warnings"] = warnings
    if gpus := await service.metrics.gpus.sample():
        body["gpus"] = [gpu.public() for gpu in gpus]
    return JSONResponse(body, 200 if state.ok else 503)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(service: Service) -> Response:
    """Counters in Prometheus' text format."""
    await service.metrics.gpus.sample()
    return Response(service.metrics.render(RustServerMetrics(service.metrics)), media_type=service.metrics.content_type)
