"""Cartesia's dialect: its paths as they are there, and all of them below `/cartesia` too."""

from fastapi import APIRouter

from polyvox.api.dialects.cartesia import routes, voices
from polyvox.api.dialects.cartesia.settings import CartesiaSettings
from polyvox.api.dialects.cartesia.speech import FIELD_NAMES, NAME
from polyvox.api.dialects.cartesia.wording import error_body
from polyvox.api.door import Door
from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.paths import SharedPaths
from polyvox.service.keys.operations import Operation

PREFIX = "/cartesia"

_SPEECH, _SOCKET = ("/tts/bytes", "/tts/sse"), "/tts/websocket"
_OPERATIONS = (
    ("POST", "/tts/*", Operation.SPEAK),
    ("WS", _SOCKET, Operation.SPEAK),
    ("GET", "/voices*", Operation.READ_VOICES),
    ("POST", "/voices/clone", Operation.CHANGE_VOICES),
    ("DELETE", "/voices/*", Operation.CHANGE_VOICES),
    ("POST", "/access-token", Operation.ISSUE_KEYS),
)
_OWN_PATHS = ("/tts/*", "/voices", "/voices/*", "/access-token", f"{PREFIX}*")
_HEADER = KeySources(headers=("x-api-key",))
_PAGES = KeySources(headers=("x-api-key",), queries=("api_key", "access_token"))


def _router() -> APIRouter:
    router = APIRouter()
    for part in (routes.router, voices.router):
        router.include_router(part)
        router.include_router(part, prefix=PREFIX, include_in_schema=False)
    router.add_api_route(f"{PREFIX}/", routes.status, methods=["GET"], include_in_schema=False)
    return router


DOOR = Door(
    NAME,
    _router(),
    tags={"Cartesia": "Cartesia's speech API; also below `/cartesia`, for clients that take a base URL."},
    settings=CartesiaSettings,
    wordings=dict.fromkeys(_OWN_PATHS, error_body),
    field_names={f"{prefix}{path}": FIELD_NAMES for path in _SPEECH for prefix in ("", PREFIX)},
    lists=["/voices", "/voices/*", f"{PREFIX}/voices", f"{PREFIX}/voices/*"],
    recordings=["/voices/clone", f"{PREFIX}/voices/clone"],
    public=[f"{PREFIX}/"],
    operations={
        **{f"{method} {prefix}{path}": operation for method, path, operation in _OPERATIONS for prefix in ("", PREFIX)},
        f"GET {PREFIX}/": Operation.PROBE,
    },
    shared=SharedPaths("cartesia-version", ["/"], PREFIX, takes_unknown=True),
    keys={**dict.fromkeys(_OWN_PATHS, _HEADER), _SOCKET: _PAGES, f"{PREFIX}{_SOCKET}": _PAGES},
)
