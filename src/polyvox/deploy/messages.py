"""Messages between the doors and an engine in another process. Errors are sent as values and raised on arrival."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.errors import (
    STATUS,
    EngineError,
    NotServedError,
    OverloadedError,
    PolyvoxError,
    RefusalReason,
    UnavailableError,
)
from polyvox.runtime.stage import BatchReport
from polyvox.types import AudioChunk, Capabilities, EngineLocation, PreparedVoice, Utterance, Voice
from polyvox.voices.mixing import MixTerm

_ERRORS = {error.__name__: error for error in STATUS}


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """A typed error as plain fields: exceptions that need more than their message do not survive pickling."""

    kind: str
    message: str
    field: str | None = None
    retry_after: float = 0.0
    retry: bool | None = None
    reason: str = RefusalReason.QUEUE.value

    @classmethod
    def of(cls, error: PolyvoxError) -> "ErrorMessage":
        kind = next(listed.__name__ for listed in type(error).__mro__ if listed in STATUS)
        if isinstance(error, OverloadedError):
            return cls(kind, error.message, error.field, error.retry_after, reason=error.reason.value)
        if isinstance(error, UnavailableError):
            return cls(kind, error.message, error.field, error.retry_after or 0.0, error.retry)
        return cls(kind, error.message, error.field)

    def error(self) -> PolyvoxError:
        """The error as it was raised; EngineError where this release does not know its class."""
        kind = _ERRORS.get(self.kind, EngineError)
        if issubclass(kind, OverloadedError):
            return kind(self.message, retry_after=self.retry_after, reason=RefusalReason(self.reason))
        if issubclass(kind, UnavailableError) and not issubclass(kind, NotServedError):
            return kind(self.message, field=self.field, retry=self.retry, retry_after=self.retry_after or None)
        return kind(self.message, field=self.field)


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """An engine as the doors need to know it. `reason` says why it is not available, where it is not.

    `obstacle` is that of `SupportsObstacle`, which may come and go; None of an engine that has none.
    """

    name: str
    capabilities: Capabilities
    voices: tuple[Voice, ...]
    abilities: frozenset[str] = frozenset()
    warning: str = ""
    reason: str = ""
    location: EngineLocation | None = None
    obstacle: str | None = None
    style_model: str = ""
    """The model whose fitted styles it takes; empty where it takes none."""
    fingerprint: str = ""
    """That of `ModelFingerprints`, where it is known."""


@dataclass(frozen=True, slots=True)
class ChunkMessage:
    """A chunk, with the reports of the engine's batches since the last one."""

    chunk: AudioChunk
    reports: tuple[BatchReport, ...] = ()
    warning: str = ""
    location: EngineLocation | None = None


@dataclass(frozen=True, slots=True)
class VoiceMissing:
    """The response to a voice digest that this replica does not hold: send the whole voice."""


@dataclass(frozen=True, slots=True)
class DeferredVoice(PreparedVoice):
    """A voice that the replica makes, by one of the engine's cheap methods."""

    method: str = ""
    arguments: tuple[Any, ...] = field(default=(), repr=False)

    @classmethod
    def of_codes(cls, engine: str, codes: Sequence[int], transcript: str) -> "DeferredVoice":
        digest = _digest("codes", *map(str, codes), transcript)
        return cls(engine, digest, {}, "voice_from_codes", (tuple(codes), transcript))

    @classmethod
    def of_two(cls, engine: str, first: PreparedVoice, second: PreparedVoice) -> "DeferredVoice":
        digest = _digest("dialogue_voice", first.digest, second.digest)
        return cls(engine, digest, {}, "dialogue_voice", (_plain(first), _plain(second)))

    @classmethod
    def of_style(
        cls, engine: str, mix: Sequence[MixTerm], offset: npt.NDArray[np.float32], language: str
    ) -> "DeferredVoice":
        digest = _digest("style", repr(tuple(mix)), offset.tobytes().hex(), language)
        return cls(engine, digest, {}, "voice_from_style", (tuple(mix), offset, language))


def picklable(utterance: Utterance) -> Utterance:
    """The utterance in types that can be pickled."""
    prepared = utterance.prepared
    return replace(utterance, tuning=dict(utterance.tuning), prepared=None if prepared is None else _plain(prepared))


def by_digest(utterance: Utterance) -> Utterance:
    """The utterance with only the digest of its voice."""
    assert utterance.prepared is not None
    return replace(utterance, prepared=PreparedVoice(utterance.prepared.engine, utterance.prepared.digest, {}))


def is_digest_only(voice: PreparedVoice) -> bool:
    """Return whether only the digest of the voice was sent."""
    return not voice.arrays and not isinstance(voice, DeferredVoice)


def _plain(voice: PreparedVoice) -> PreparedVoice:
    return voice if isinstance(voice, DeferredVoice) else replace(voice, arrays=dict(voice.arrays))


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part.encode())
    return digest.hexdigest()
