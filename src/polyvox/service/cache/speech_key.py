"""The key of a request's speech: a digest of everything that it depends on, or none where that is not known."""

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from enum import Enum

import numpy as np

from polyvox import __version__
from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.provenance.watermark import Watermarker
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.cache.speech_cache import SpeechKey
from polyvox.service.delivery import Delivery
from polyvox.service.kinds.dialogue import SpeakDialogue
from polyvox.service.kinds.request_kind import RequestKind, SpeakText
from polyvox.service.kinds.script import SpeakScript
from polyvox.service.voices.voice_resolver import ResolvedVoice, voice_tag
from polyvox.text.warnings import Warnings
from polyvox.types import Utterance
from polyvox.voices.records import SHARED_OWNER

_SERVER_SETTINGS = ("code_blocks", "word_timings", "espeak")
"""Those that change speech, and do not show in the utterance or the kind."""
_COVERED = frozenset(
    "utterance model sample_rate volume loudness kind resolve_kind resolve_voice markup words "  # in the key
    "deadline door bare_wav".split()  # without effect on speech
)
"""Fields of a request that need not be added to a key; one that is not listed here is added."""


class _UncacheableError(Exception):
    """The speech depends on something that cannot be told apart."""


def speech_key(
    *,
    owner: str,
    settings: Settings,
    engine: Engine,
    fingerprint: str,
    utterance: Utterance,
    kind: RequestKind,
    voice: ResolvedVoice | None,
    delivery: Delivery,
    timing: str,
    request: object = None,
) -> SpeechKey | None:
    """The key of some speech; None where the same request need not give the same speech.

    A model that samples gives the same speech only by the same seed. `timing` is how words are timed. Of the `request`
    all fields are added that nothing else here covers.
    """
    if not isinstance(kind, SpeakText | SpeakScript | SpeakDialogue):
        return None
    if engine.capabilities.stochastic and utterance.seed is None:
        return None
    voices = [voice] if voice is not None else []
    voices += [] if isinstance(kind, SpeakText) else list(kind.resolved.values())
    private = any(each.private for each in voices)
    scope = owner if private or not settings.speech_cache_shared else SHARED_OWNER
    digest = hashlib.sha256()
    server = {name: getattr(settings, name) for name in _SERVER_SETTINGS}
    try:
        for part in (__version__, scope, engine.name, fingerprint, utterance, kind, voice, delivery, timing, server):
            _feed(digest, part)
        _feed(digest, _other_fields(request))
    except _UncacheableError:
        return None
    tags = {voice_tag(recording) for each in voices for recording in each.recordings}
    return SpeechKey(digest.hexdigest(), tuple(sorted(tags)))


def _other_fields(request: object) -> dict[str, object]:
    fields = dataclasses.fields(request) if dataclasses.is_dataclass(request) else ()
    return {field.name: getattr(request, field.name) for field in fields if field.name not in _COVERED}


def _feed(digest: "hashlib._Hash", value: object) -> None:
    """Add a value so that no two that differ add the same bytes."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        data = value if isinstance(value, bytes) else repr(value).encode()
        digest.update(f"{type(value).__name__}{len(data)}:".encode() + data)
    elif isinstance(value, tuple | list):
        digest.update(f"list{len(value)}:".encode())
        for item in value:
            _feed(digest, item)
    elif isinstance(value, ResolvedVoice):
        if not value.content:
            raise _UncacheableError
        _feed(digest, value.content)
    elif dataclasses.is_dataclass(value):
        _feed_fields(digest, value)
    else:
        _feed(digest, _plain(value))


def _plain(value: object) -> list[object]:
    """A value of one of the other types that requests are made of, as a list of what tells it apart."""
    if isinstance(value, Enum):
        return ["enum", value.value]
    if isinstance(value, Watermarker):
        return ["watermark", value.name]
    if isinstance(value, np.ndarray):
        return ["array", value.dtype.str, list(value.shape), np.ascontiguousarray(value).tobytes()]
    if isinstance(value, Mapping):
        return ["mapping", *([key, value[key]] for key in sorted(value))]
    if isinstance(value, re.Pattern):
        return ["pattern", value.pattern, value.flags]
    raise _UncacheableError


def _feed_fields(digest: "hashlib._Hash", value: object) -> None:
    digest.update(type(value).__name__.encode())
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        found = getattr(value, field.name)
        if not isinstance(found, DeviceExecutor | Warnings):  # neither changes what is heard
            digest.update(field.name.encode())
            _feed(digest, found)
