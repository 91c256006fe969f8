"""What travels between the doors and an engine in another process. Errors travel as values and arrive as themselves."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from polyvox.errors import STATUS, EngineError, OverloadedError, PolyvoxError
from polyvox.runtime.stage import BatchReport
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, Voice

_ERRORS = {error.__name__: error for error in STATUS}


@dataclass(frozen=True, slots=True)
class Failure:
    """A typed error, taken apart: exceptions that need more than their message do not survive pickling."""

    kind: str
    message: str
    field: str | None = None
    retry_after: float = 0.0

    @classmethod
    def of(cls, error: PolyvoxError) -> "Failure":
        kind = next(listed.__name__ for listed in type(error).__mro__ if listed in STATUS)
        retry_after = error.retry_after if isinstance(error, OverloadedError) else 0.0
        return cls(kind, error.message, error.field, retry_after)

    def error(self) -> PolyvoxError:
        """The error as it was raised; one that this release does not know is the engine's."""
        kind = _ERRORS.get(self.kind, EngineError)
        if kind is OverloadedError:
            return OverloadedError(self.message, retry_after=self.retry_after)
        return kind(self.message, field=self.field)


@dataclass(frozen=True, slots=True)
class Profile:
    """What the doors need to know of an engine before anybody speaks. `reason` says why it cannot, where it cannot."""

    name: str
    capabilities: Capabilities
    voices: tuple[Voice, ...]
    abilities: frozenset[str] = frozenset()
    warning: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A chunk on its way, with what the engine's batches cost since the last one left."""

    chunk: AudioChunk
    reports: tuple[BatchReport, ...] = ()
    warning: str = ""


@dataclass(frozen=True, slots=True)
class VoiceWanted:
    """The answer to a voice named by its digest that this process does not hold: send it whole."""


@dataclass(frozen=True, slots=True)
class PromisedVoice(PreparedVoice):
    """A voice that the engine's own process will make, by one of its methods that take no time."""

    method: str = ""
    arguments: tuple[Any, ...] = field(default=(), repr=False)

    @classmethod
    def of_codes(cls, engine: str, codes: Sequence[int], transcript: str) -> "PromisedVoice":
        digest = _digest("codes", *map(str, codes), transcript)
        return cls(engine, digest, {}, "voice_from_codes", (tuple(codes), transcript))

    @classmethod
    def of_two(cls, engine: str, first: PreparedVoice, second: PreparedVoice) -> "PromisedVoice":
        digest = _digest("dialogue_voice", first.digest, second.digest)
        return cls(engine, digest, {}, "dialogue_voice", (_plain(first), _plain(second)))


def packed(utterance: Utterance) -> Utterance:
    """The utterance in types that can be pickled."""
    prepared = utterance.prepared
    return replace(utterance, tuning=dict(utterance.tuning), prepared=None if prepared is None else _plain(prepared))


def by_digest(utterance: Utterance) -> Utterance:
    """The utterance with no more of its voice than the name of its content."""
    assert utterance.prepared is not None
    return replace(utterance, prepared=PreparedVoice(utterance.prepared.engine, utterance.prepared.digest, {}))


def is_only_named(voice: PreparedVoice) -> bool:
    """Whether the voice itself stayed behind."""
    return not voice.arrays and not isinstance(voice, PromisedVoice)


def _plain(voice: PreparedVoice) -> PreparedVoice:
    return voice if isinstance(voice, PromisedVoice) else replace(voice, arrays=dict(voice.arrays))


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part.encode())
    return digest.hexdigest()
