"""The HTTP application: the doors, and what every request passes on its way to one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Security
from fastapi.security import HTTPBearer
from starlette.middleware.cors import CORSMiddleware

from polyvox.api import admin, kokoro, openai
from polyvox.api.auth import BearerAuth
from polyvox.api.body import BodyLimit
from polyvox.api.errors import SESSION_HEADER, UnexpectedErrors, install_handlers
from polyvox.api.streaming import CHANNELS_HEADER, SAMPLE_RATE_HEADER, WARNING_HEADER
from polyvox.service.speech import SpeechService

_READABLE_BY_PAGES = (SESSION_HEADER, SAMPLE_RATE_HEADER, CHANNELS_HEADER, WARNING_HEADER, "Retry-After")

_DESCRIPTION = """
One speech server: OpenAI's API, and what Kokoro-FastAPI's users rely on beside it.

Every error is `{"error": {"message", "type", "param", "code"}}`; `param` names the field at fault.
"""


def create_app(service: SpeechService) -> FastAPI:
    """The application for one service, which it starts and closes unless its maker has started it already."""
    app = FastAPI(
        title="Polyvox",
        version=version("polyvox"),
        description=_DESCRIPTION,
        lifespan=_lifespan,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
    )
    app.state.service = service
    install_handlers(app)
    _install_middleware(app, service)
    key = Security(HTTPBearer(auto_error=False, description="A key, where the server asks for one."))
    for door in (openai.router, kokoro.router):
        app.include_router(door, dependencies=[key])
    app.include_router(admin.router)
    return app


def _install_middleware(app: FastAPI, service: SpeechService) -> None:
    """The one added last is passed first: CORS outermost, so that web pages can read refusals too."""
    settings = service.settings
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes)
    if settings.api_keys:
        app.add_middleware(BearerAuth, keys=[key.get_secret_value() for key in settings.api_keys])
    app.add_middleware(UnexpectedErrors)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=_READABLE_BY_PAGES,
        )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: SpeechService = app.state.service
    if "server" not in service.ready.reasons:
        yield
        return
    await service.start()
    try:
        yield
    finally:
        await service.close()
