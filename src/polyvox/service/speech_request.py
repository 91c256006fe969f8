"""The request of a door to the speech service."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from polyvox.service.kinds.request_kind import RequestKind
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.text.dictionary import Dictionary
from polyvox.types import Utterance


class PhonemeNeed(StrEnum):
    """Need of phonemes with times: without them, a request is spoken, spoken with a warning, or refused."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A request of a door, complete: what is spoken, in which voice, and how it sounds.

    `door` is the door's name, for logs and metrics. `resolve_voice` looks up a voice that is not the engine's own; it
    is prepared once the request is admitted. `kind` replaces speaking the utterance's text; `resolve_kind` makes it
    where something has to be looked up. `markup` says which markup of the text is obeyed. With `words` an engine that
    has no word timings is given them. Dictionaries say how words are pronounced: those in `dictionaries`, those of
    `dictionary_names`, and the default ones of the caller's owner.
    """

    utterance: Utterance
    model: str | None = None
    sample_rate: int | None = None
    volume: float = 1.0
    loudness: float | None = None
    deadline: float | None = None
    door: str = ""
    resolve_voice: Callable[[], Awaitable[ResolvedVoice | None]] | None = None
    kind: RequestKind | None = None
    resolve_kind: Callable[[], Awaitable[RequestKind]] | None = None
    markup: MarkupRequest = field(default_factory=MarkupRequest)
    words: bool = False
    phonemes: PhonemeNeed = PhonemeNeed.NONE
    dictionary_names: tuple[str, ...] = ()
    dictionaries: tuple[Dictionary, ...] = ()
    bare_wav: bool = False
    """True if the dialect's clients take 44 bytes for the header of any WAV file: tags would be played."""
    warnings: tuple[str, ...] = ()
    """Sentences on what the door was asked for and does not do."""


@dataclass(frozen=True, slots=True)
class SpeechOutput:
    """The form of a request's audio, known before its text is; `warnings` are of what the model does not obey."""

    model: str
    sample_rate: int
    channels: int
    warnings: tuple[str, ...] = ()
