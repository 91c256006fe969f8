"""Door: everything that the application knows about one dialect."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from fastapi import APIRouter, FastAPI

from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.paths import SharedPaths
from polyvox.api.refusals import Wording
from polyvox.api.requests.speech_requests import SpeechAdapter
from polyvox.api.responses.streaming import FieldNames
from polyvox.config import Settings, SettingsSection
from polyvox.service.keys.operations import Operation
from polyvox.settings_loader import ForeignVariables


@dataclass(frozen=True, slots=True)
class Door:
    """One dialect over HTTP or WebSocket.

    Keys of mappings by path, and the paths themselves, are patterns of `PathTable`: a path, or a prefix and `*`. To add
    a dialect, write a module that ends with its `DOOR` and add that to `DOORS`; its `settings` and `foreign` belong
    into `DIALECT_SETTINGS` as well.
    """

    name: str
    """Its name in logs and metrics."""
    router: APIRouter
    is_open: Callable[[Settings], bool] = lambda settings: True
    """True if the settings want it; one that is closed has no paths."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of the router's tags for the OpenAPI pages."""
    settings: type[SettingsSection] | None = None
    """Settings that the dialect brings."""
    foreign: ForeignVariables | None = None
    """Environment variables of the server whose dialect it is."""
    wordings: Mapping[str, Wording] = field(default_factory=dict)
    """Its own form of errors, by path."""
    field_names: Mapping[str, FieldNames] = field(default_factory=dict)
    """Names of a speech request's fields in errors, by path."""
    recordings: Sequence[str] = ()
    """Paths on which a body or message may hold a recording, and so may be larger."""
    long_recordings: Sequence[str] = ()
    """Paths on which a body may hold a recording to transcribe."""
    manuscripts: Sequence[str] = ()
    """Paths on which a body may hold a whole book."""
    public: Sequence[str] = ()
    """Paths that need no key."""
    lists: Sequence[str] = ()
    """Paths of lists, which need no key where the setting `public_lists` says so."""
    keys: Mapping[str, KeySources] = field(default_factory=dict)
    """Places for a key other than as a bearer key, by path."""
    operations: Mapping[str, Operation] = field(default_factory=dict)
    """The operation of each of its routes, by method and path: `POST /v1/audio/speech`, `WS /socket`."""
    kept: Sequence[str] = ()
    """Routes for speech, as in `operations`, that one process answers for all of them: it keeps what later requests
    name, or counts those at once."""
    ephemeral: Sequence[str] = ()
    """Paths that also take the keys that the server hands out for a while."""
    shared: SharedPaths | None = None
    """Paths of other doors that are its own in some requests."""
    headers: Sequence[str] = ()
    """Response headers of its own that web pages of other origins may read."""
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None
    """Runs around the time in which the application answers, inside that of the services."""
    adapter: SpeechAdapter | None = None
    """Recognises its requests among those to `/v1/audio/speech`."""
