"""The HTTP application: the doors, and what every request passes on its way to one."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Security
from fastapi.security import HTTPBearer
from starlette.middleware.cors import CORSMiddleware

from polyvox.api import admin, conversion, cosyvoice, dialogue, kokoro, openai, rayserve, streamable, zipvoice
from polyvox.api import fitting as fitting_door
from polyvox.api import voices as voices_door
from polyvox.api.auth import BearerAuth
from polyvox.api.body import BodyLimit
from polyvox.api.cosyvoice import DURATION_HEADER
from polyvox.api.errors import SESSION_HEADER, UnexpectedErrors, install_handlers
from polyvox.api.streaming import BIT_DEPTH_HEADER, CHANNELS_HEADER, SAMPLE_RATE_HEADER, WARNING_HEADER
from polyvox.service.fitting import FittingService
from polyvox.service.speech import SpeechService
from polyvox.service.voices import VoiceService

_READABLE_BY_PAGES = (
    SESSION_HEADER,
    SAMPLE_RATE_HEADER,
    CHANNELS_HEADER,
    BIT_DEPTH_HEADER,
    WARNING_HEADER,
    DURATION_HEADER,
    "Retry-After",
)

_WITH_RECORDING = (
    "/v1/voices",
    "/v1/zipvoice/",
    "/v1/audio/vc",
    "/v1/audio/conversion",
    "/inference_",
    "/synthesize",
    "/v1/model/cosyvoice/",
    "/zero_shot_tts",
    "/cross_lingual_tts",
)
"""Paths under which a body may hold a recording."""

_DESCRIPTION = """
One speech server: OpenAI's API, what Kokoro-FastAPI's users rely on beside it, the dialects of ZipVoice, of the
Streamable TTS API and of CosyVoice's servers, and voices that you register yourself.

Every error is `{"error": {"message", "type", "param", "code"}}`; `param` names the field at fault. Under `/v1/zipvoice`
it is `{"detail": message}`, and on the paths of CosyVoice's servers what their clients know.
"""


def create_app(
    service: SpeechService, voices: VoiceService | None = None, fitting: FittingService | None = None
) -> FastAPI:
    """The application for one service, which it starts and closes unless its maker has started it already.

    The voices and their fits, those of the settings unless others are given, it starts and closes itself.
    """
    app = FastAPI(
        title="Polyvox",
        version=version("polyvox"),
        description=_DESCRIPTION,
        lifespan=_lifespan,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
    )
    app.state.service = service
    app.state.voices = VoiceService.for_service(service) if voices is None else voices
    app.state.fitting = FittingService(service.settings, app.state.voices) if fitting is None else fitting
    install_handlers(app)
    _install_middleware(app, service)
    key = Security(HTTPBearer(auto_error=False, description="A key, where the server asks for one."))
    # The fits come before the voices, one of whose paths would match theirs too.
    for door in (
        openai,
        dialogue,
        conversion,
        kokoro,
        fitting_door,
        voices_door,
        zipvoice,
        streamable,
        cosyvoice,
        rayserve,
    ):
        app.include_router(door.router, dependencies=[key])
    app.include_router(admin.router)
    return app


def _install_middleware(app: FastAPI, service: SpeechService) -> None:
    """The one added last is passed first: CORS outermost, so that web pages can read refusals too."""
    settings = service.settings
    # A recording takes a third more in base64.
    with_recording = settings.max_body_bytes + settings.prompt_max_bytes * 4 // 3
    limits = dict.fromkeys(_WITH_RECORDING, with_recording)
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes, limits=limits)
    if settings.api_keys:
        app.add_middleware(BearerAuth, keys=[key.get_secret_value() for key in settings.api_keys])
    app.add_middleware(UnexpectedErrors)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["*"],
            expose_headers=_READABLE_BY_PAGES,
        )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: SpeechService = app.state.service
    voices: VoiceService = app.state.voices
    async with AsyncExitStack() as stack:
        if "server" in service.ready.reasons:
            await service.start()
            stack.push_async_callback(service.close)
        await voices.start()
        stack.push_async_callback(voices.close)
        stack.push_async_callback(app.state.fitting.close)
        yield
