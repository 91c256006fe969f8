"""`/v1/pulls`: what is missing to make voices, and the fetching of it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from pydantic import Field

from polyvox.api.dependencies import Owner, Service
from polyvox.api.door import Door
from polyvox.api.middleware.hosts import is_loopback
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import RequestBody
from polyvox.api.responses.error_body import ErrorBody
from polyvox.config import Settings
from polyvox.errors import ForbiddenError
from polyvox.service.keys.operations import Operation
from polyvox.service.registry.model_pulls import ModelPulls
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voice_needs import voice_needs

_PATH = "/v1/pulls"

router = APIRouter(prefix=_PATH, route_class=JsonRoute, tags=["pulls"], dependencies=[Depends(refuse_foreign_pages)])

_ERRORS: dict[int | str, dict[str, Any]] = {
    403: {"model": ErrorBody, "description": "The setting allow_pull is off."},
    404: {"model": ErrorBody, "description": "There is no such model, or none is being fetched."},
    409: {"model": ErrorBody, "description": "Another model is being fetched."},
}


async def _pulls_of(request: Request) -> ModelPulls:
    pulls = request.app.state.pulls
    assert isinstance(pulls, ModelPulls)
    return pulls


Pulls = Annotated[ModelPulls, Depends(_pulls_of)]


class NewPull(RequestBody):
    """A model to fetch."""

    model: str = Field(max_length=200, description="Its name, as `polyvox models` lists it.")


@router.get("")
async def list_pulls(service: Service, pulls: Pulls, owner: Owner) -> dict[str, Any]:
    """The needs of each way to make a voice, with licences and sizes, and the pull under way or the last one.

    `allowed` says whether you may have the missing models fetched.
    """
    needs = await asyncio.to_thread(voice_needs, service.settings, service.registry.cloning_model())
    allowed = may_pull(service.settings) and service.accounts.access.allows(Operation.CHANGE_MODELS, owner)
    return {
        "object": "list",
        "allowed": allowed,
        "data": [need.public() for need in needs],
        "pull": None if pulls.state is None else pulls.state.public(),
    }


@router.post("", status_code=202, responses=_ERRORS)
async def start_pull(body: NewPull, service: Service, pulls: Pulls, owner: Owner) -> dict[str, Any]:
    """Fetch a model with what it needs. The answer comes at once; ask for the list to follow it."""
    _check_allowed(service, owner)
    return pulls.start(body.model).public()


@router.delete("", responses=_ERRORS)
async def cancel_pull(service: Service, pulls: Pulls, owner: Owner) -> dict[str, Any]:
    """Stop the pull under way. What it has fetched is kept for the next one."""
    _check_allowed(service, owner)
    return (await pulls.cancel()).public()


def may_pull(settings: Settings) -> bool:
    """True where requests may have models fetched: as is set, else where only this machine can send any."""
    if settings.allow_pull is not None:
        return settings.allow_pull
    return is_loopback(settings.host) and not settings.trusted_proxies


def _check_allowed(service: SpeechService, owner: str) -> None:
    service.accounts.access.require(Operation.CHANGE_MODELS, owner)
    if not may_pull(service.settings):
        raise ForbiddenError("Models are not fetched by request on this server; its setting allow_pull turns that on.")


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await app.state.pulls.close()


DOOR = Door(
    "pulls",
    router,
    tags={"pulls": "Models that are missing, and the fetching of them."},
    lifespan=_lifespan,
    operations={
        f"GET {_PATH}": Operation.LIST,
        f"POST {_PATH}": Operation.CHANGE_MODELS,
        f"DELETE {_PATH}": Operation.CHANGE_MODELS,
    },
)
