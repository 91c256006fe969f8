"""Value types that the packages exchange. All are frozen and import nothing of the project.

NumPy is imported when `Pcm` is first asked for: settings, commands and clients of a server do without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Pcm = npt.NDArray[np.float32]
    """Float32 samples in [-1, 1]: shape [samples], or [samples, 2] from a stereo engine."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a type, which has no better name
    if name != "Pcm":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import numpy as np
    import numpy.typing as npt

    return npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SpeedRange:
    """Speeds that a caller may ask for, both ends included; 1 is the voice's own pace."""

    lowest: float
    highest: float

    def __contains__(self, speed: float) -> bool:
        return self.lowest <= speed <= self.highest


SPEED_RANGE = SpeedRange(0.25, 4.0)
"""Of every engine, by itself or by time stretching; OpenAI's range."""

NARROW_SPEED_RANGE = SpeedRange(0.5, 2.0)
"""Of the APIs that allow less: CosyVoice's on Ray Serve, and `speaking_rate` of the Streamable TTS API."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range: of characters in the caller's text, of tokens, or of frames."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def cover(self, other: "Span") -> "Span":
        """The smallest span that holds both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


class TimingSource(StrEnum):
    """Source of a word's time, the most exact first.

    The durations that the model itself predicts, an alignment of the text with the finished audio, or an estimate from
    its pauses and the lengths of the words.
    """

    DURATIONS = "durations"
    ALIGNMENT = "alignment"
    ESTIMATE = "estimate"


_LEAST_EXACT_FIRST = (TimingSource.ESTIMATE, TimingSource.ALIGNMENT, TimingSource.DURATIONS)


@dataclass(frozen=True, slots=True)
class PhonemeTiming:
    """A phoneme in IPA, with its stress and length marks, and its time in seconds from the utterance's first sample."""

    phoneme: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class PhonemeShare:
    """A phoneme in IPA and its part of a word's time: 0 is the word's start and 1 its end."""

    phoneme: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class WordTiming:
    """A word as the caller wrote it, and its time in seconds from the utterance's first sample.

    Its phonemes, where the model knows their durations, are kept as shares of that time: a word that is moved or
    spoken at another tempo takes them along, and none can lie outside of it.
    """

    word: str
    start: float
    end: float
    span: Span
    source: TimingSource = TimingSource.DURATIONS
    shares: Sequence[PhonemeShare] = ()

    @property
    def phonemes(self) -> tuple[PhonemeTiming, ...]:
        """Its phonemes in order; none where the model does not know their durations."""
        seconds = self.end - self.start
        return tuple(
            PhonemeTiming(share.phoneme, self.start + share.start * seconds, self.start + share.end * seconds)
            for share in self.shares
        )

    def with_phonemes(self, phonemes: Iterable[PhonemeTiming]) -> "WordTiming":
        """The word with phonemes at these times, cut off at its edges."""
        seconds = self.end - self.start
        shares = (
            PhonemeShare(each.phoneme, self._share(each.start, seconds), self._share(each.end, seconds))
            for each in phonemes
        )
        return replace(self, shares=tuple(shares))

    def _share(self, time: float, seconds: float) -> float:
        return min(max((time - self.start) / seconds, 0.0), 1.0) if seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class MarkTiming:
    """A place that the caller marked in the text, and its time in seconds from the utterance's first sample."""

    name: str
    time: float


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """Chunk sizes of one session, in the engine's own unit (phonemes, tokens).

    The first chunk is short so that audio starts. A later one may be `growth` times as long as the one before it, so
    that it is ready before that one has been played, up to `maximum`. The policy never changes while a session speaks.
    With `whole_sentences` a chunk ends with a sentence wherever `maximum` allows, however long it becomes.
    """

    first: int
    growth: float
    maximum: int
    whole_sentences: bool = False

    def size(self, previous: int | None) -> int:
        """The target size of the next chunk, given the size of the one before it; None for the first."""
        if previous is None:
            return self.first
        return max(self.first, min(self.maximum, int(previous * self.growth)))

    def unhurried(self) -> "ChunkPolicy":
        """The policy where nobody listens until all is spoken: long chunks of whole sentences, the first one too."""
        return replace(self, first=self.maximum, whole_sentences=True)


@dataclass(frozen=True, slots=True)
class Seconds:
    """Time that a chunk took in one stage of a model.

    `wall` is how long the chunk waited for the stage, `device` its share of the device's time, where that is known.
    """

    wall: float
    device: float | None = None

    def __add__(self, other: "Seconds") -> "Seconds":
        known = self.device is not None and other.device is not None
        return Seconds(self.wall + other.wall, (self.device or 0.0) + (other.device or 0.0) if known else None)


@dataclass(frozen=True, slots=True)
class StageSeconds:
    """Time that a chunk took in the language model, the flow and the vocoder; None for a stage the model lacks."""

    lm: Seconds | None = None
    flow: Seconds | None = None
    vocoder: Seconds | None = None

    def __add__(self, other: "StageSeconds") -> "StageSeconds":
        return StageSeconds(_sum(self.lm, other.lm), _sum(self.flow, other.flow), _sum(self.vocoder, other.vocoder))


def _sum(one: Seconds | None, other: Seconds | None) -> Seconds | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


NO_STAGES = StageSeconds()


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """A chunk of synthesised audio and its position in the utterance.

    `start` is the chunk's first sample counted from the utterance's first, at `sample_rate`; `index` counts chunks from
    0. `span` is the caller's text that it says, `tokens` and `frames` are the model's token and mel ranges. Boundaries
    are a pure function of text, voice, seed and `policy`. `voice` names the speaker where a text has several. `words`
    are those that it says or, where they are timed after they were spoken, those of audio before it.
    """

    pcm: "Pcm" = field(repr=False)
    sample_rate: int
    index: int
    start: int
    text: str = ""
    span: Span | None = None
    words: tuple[WordTiming, ...] = ()
    tokens: Span | None = None
    frames: Span | None = None
    wall_seconds: float = 0.0
    device_seconds: float = 0.0
    policy: ChunkPolicy | None = None
    voice: str = ""
    marks: tuple[MarkTiming, ...] = ()
    stages: StageSeconds = NO_STAGES

    @property
    def end(self) -> int:
        return self.start + len(self.pcm)

    @property
    def duration(self) -> float:
        return len(self.pcm) / self.sample_rate

    def without_phonemes(self) -> "AudioChunk":
        """The chunk with words whose phonemes are not known."""
        return replace(self, words=tuple(replace(word, shares=()) for word in self.words)) if self.words else self

    @property
    def timing_source(self) -> TimingSource | None:
        """The least exact source of its words' times; None where it has no words."""
        return least_exact(word.source for word in self.words)


def least_exact(sources: Iterable[TimingSource]) -> TimingSource | None:
    """The least exact of some sources; None of none."""
    found = set(sources)
    return next((source for source in _LEAST_EXACT_FIRST if source in found), None)


class CodeBlocks(StrEnum):
    """Treatment of fenced blocks of code: their words, an announcement, or nothing."""

    READ = "read"
    ANNOUNCE = "announce"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class NormalizationOptions:
    """Rules that the text normaliser may apply; the names are those of Kokoro-FastAPI, but for `code_blocks`."""

    normalize: bool = True
    unit_normalization: bool = True
    url_normalization: bool = True
    email_normalization: bool = True
    optional_pluralization_normalization: bool = True
    phone_normalization: bool = True
    replace_remaining_symbols: bool = True
    code_blocks: CodeBlocks | None = None


@dataclass(frozen=True, slots=True)
class VoicePrompt:
    """A checked reference recording: mono float32, with its transcript and the hash of its content."""

    pcm: "Pcm"
    sample_rate: int
    transcript: str
    digest: str


@dataclass(frozen=True, slots=True)
class PreparedVoice:
    """An engine's conditioning from a reference recording, as plain arrays that can be cached in memory or on disk.

    `digest` identifies the prompt it was made from; the same prompt and engine always give the same arrays.
    """

    engine: str
    digest: str
    arrays: "Mapping[str, npt.NDArray[Any]]"

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())


@dataclass(frozen=True, slots=True)
class Utterance:
    """The input of one synthesis.

    `voice` is a name or a mix expression of the engine's own voices; `prepared`, a cloned voice that this engine made,
    takes its place. `tuning` holds parameters of single model families by the names of their own APIs; an engine uses
    those that it knows. `whole` says that the answer is sent when all of it is spoken: nothing has to be heard early.
    Without `phonemes` nobody asks for those of its words; another process need not send them.
    """

    text: str
    voice: str
    language: str | None = None
    speed: float = 1.0
    seed: int | None = None
    instructions: str | None = None
    normalization: NormalizationOptions = field(default_factory=NormalizationOptions)
    prepared: PreparedVoice | None = None
    tuning: Mapping[str, float] = field(default_factory=dict)
    whole: bool = False
    phonemes: bool = True


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that an engine can speak with. `language` is a BCP 47 tag; `gender` is "female", "male" or "".

    `reason` says what its language lacks on this machine and how to get it; empty where the voice can speak. `grade` is
    how good its makers find it, such as B-. Without `instructions` it follows none, though its model does.
    """

    id: str
    name: str
    language: str
    gender: str = ""
    description: str = ""
    reason: str = ""
    grade: str = ""
    instructions: bool = True


class Streaming(StrEnum):
    """The granularity of an engine's streaming: chunks of text, or tokens while they are still being decoded."""

    CHUNK = "chunk"
    TOKEN = "token"  # noqa: S105


@dataclass(frozen=True, slots=True)
class EngineLocation:
    """Location of an engine: the device of its networks, and on Ray the ids of its process and of its machine."""

    device: str = "cpu"
    actor: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Features of an engine, so that the service can refuse, adapt or warn before any work."""

    languages: frozenset[str]
    sample_rate: int
    channels: int = 1
    streaming: Streaming = Streaming.CHUNK
    native_speed: bool = False
    cloning: bool = False
    wordless: bool = False
    """True if it can clone a voice from a recording without a transcript."""
    instructions: bool = False
    voice_design: bool = False
    """True if the instructions describe the voice itself."""
    conversion: bool = False
    """True if it can convert a recording to another voice."""
    dialogue: bool = False
    word_timings: bool = False
    phoneme_timings: bool = False
    """True if its words have phonemes with times."""
    phonemes: bool = False
    voice_mixing: bool = False
    stochastic: bool = False
    reads_markup: bool = False
    """True if its frontend takes pauses, inline phonemes and Markdown (`text/markup/`); else the service does."""
    tags: frozenset[str] | None = None
    """Tags that a text may hold, such as `[laughter]`; None for an engine to which brackets are punctuation."""
