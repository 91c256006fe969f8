"""The request of a door to the speech service."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from polyvox.service.kinds.request_kind import RequestKind
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.text.dictionary import Dictionary
from polyvox.types import Utterance


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A request of a door. `door` is the door's name, for logs and metrics.

    `resolve_voice` looks up a voice that is not the engine's own; it is prepared once the request is admitted. `kind`
    replaces speaking the utterance's text; `resolve_kind` makes it where something has to be looked up. `client` is
    whom the request is counted for, a key or an address. `max_wait` is the longest wait for its turn, in seconds; None
    leaves it to the server. A `whole` answer is sent when all of it is spoken. `request_id` is the caller's own id.
    Nobody waits for the first words of a `background` request, such as an item of a batch; it has its own memory for
    whole answers.
    Dictionaries say how words are pronounced: those in `dictionaries`, those of `dictionary_names`, and the default
    ones of `owner`.
    `markup` says which markup of the text is obeyed. With `words` an engine that has no word timings is given them.
    `owner` is also whose cached speech may answer it, and for whom it is cached; None for nobody's. Without `use_cache`
    it is spoken in any case.
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
    client: str = ""
    max_wait: float | None = None
    whole: bool = False
    markup: MarkupRequest = field(default_factory=MarkupRequest)
    request_id: str | None = None
    background: bool = False
    words: bool = False
    owner: str | None = None
    use_cache: bool = True
    dictionary_names: tuple[str, ...] = ()
    dictionaries: tuple[Dictionary, ...] = ()


@dataclass(frozen=True, slots=True)
class SpeechOutput:
    """The form of a request's audio, known before its text is; `warnings` are of what the model does not obey."""

    model: str
    sample_rate: int
    channels: int
    warnings: tuple[str, ...] = ()
