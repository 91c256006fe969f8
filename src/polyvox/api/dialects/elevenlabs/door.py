"""The door of this dialect, as the application knows it."""

from fastapi import APIRouter

from polyvox.api.dialects.elevenlabs import (
    dialogue,
    dialogue_input,
    lists,
    multi_stream_input,
    speech,
    speech_to_text,
    stream_input,
    voice_cloning,
    voice_design,
)
from polyvox.api.dialects.elevenlabs.errors import detail
from polyvox.api.dialects.elevenlabs.requests import FIELD_NAMES, NAME
from polyvox.api.dialects.elevenlabs.settings import ElevenLabsSettings
from polyvox.api.door import Door
from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.paths import SharedPaths
from polyvox.service.keys.operations import Operation

_PREFIX = "/elevenlabs"
_KEY_HEADER = "xi-api-key"
_OWN = (
    speech.router,
    dialogue.router,
    lists.own,
    stream_input.router,
    multi_stream_input.router,
    dialogue_input.router,
    voice_design.router,
    speech_to_text.router,
)
_PATHS = (
    "/v1/text-to-speech/*",
    "/v1/text-to-dialogue*",
    "/v1/text-to-voice*",
    "/v1/speech-to-text",
    "/v2/voices",
    "/v1/user*",
    f"{_PREFIX}/*",
)
_OPERATIONS = (
    ("POST", "/v1/text-to-speech/*", Operation.SPEAK),
    ("WS", "/v1/text-to-speech/*", Operation.SPEAK),
    ("POST", "/v1/text-to-dialogue*", Operation.SPEAK),
    ("WS", "/v1/text-to-dialogue/*", Operation.SPEAK),
    ("POST", "/v1/text-to-voice", Operation.CHANGE_VOICES),
    ("POST", "/v1/text-to-voice/create-voice-from-preview", Operation.CHANGE_VOICES),
    ("POST", "/v1/text-to-voice/design", Operation.SPEAK),
    ("POST", "/v1/text-to-voice/create-previews", Operation.SPEAK),
    ("GET", "/v1/text-to-voice/*", Operation.READ_VOICES),
    ("POST", "/v1/speech-to-text", Operation.LISTEN),
    ("GET", "/v2/voices", Operation.READ_VOICES),
    ("GET", "/v1/user*", Operation.READ_USAGE),
)

router = APIRouter()
for _router in _OWN:
    router.include_router(_router)
    router.include_router(_router, prefix=_PREFIX, include_in_schema=False)
router.include_router(voice_cloning.router, prefix=_PREFIX)
router.include_router(lists.shared, prefix=_PREFIX)

DOOR = Door(
    NAME,
    router,
    tags={
        "ElevenLabs": "ElevenLabs' speech API. A client's base URL is the server's, or the server's and `/elevenlabs`; "
        "with the header `xi-api-key`, `/v1/voices` and `/v1/models` are this dialect's too."
    },
    settings=ElevenLabsSettings,
    wordings=dict.fromkeys(_PATHS, detail),
    field_names=dict.fromkeys(_PATHS, FIELD_NAMES),
    recordings=[f"{_PREFIX}/v1/voices/add"],
    long_recordings=["/v1/speech-to-text", f"{_PREFIX}/v1/speech-to-text"],
    lists=["/v2/voices", *(f"{_PREFIX}{path}" for path in ("/v1/models", "/v1/voices*", "/v2/voices"))],
    keys=dict.fromkeys(_PATHS, KeySources(headers=(_KEY_HEADER,))),
    operations={
        **{
            f"{method} {prefix}{path}": operation for method, path, operation in _OPERATIONS for prefix in ("", _PREFIX)
        },
        f"GET {_PREFIX}/v1/voices*": Operation.READ_VOICES,
        f"POST {_PREFIX}/v1/voices/add": Operation.CHANGE_VOICES,
        f"DELETE {_PREFIX}/v1/voices/*": Operation.CHANGE_VOICES,
        f"GET {_PREFIX}/v1/models": Operation.LIST,
    },
    kept=[
        f"POST {prefix}/v1/text-to-voice/{made}" for prefix in ("", _PREFIX) for made in ("design", "create-previews")
    ],
    shared=SharedPaths(_KEY_HEADER, ["/v1/models", "/v1/voices*"], _PREFIX, takes_unknown=True),
)
