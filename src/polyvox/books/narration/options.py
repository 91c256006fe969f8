"""Options of a narration, and of the files that are made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from polyvox.audio.encode import AudioFormat
from polyvox.books.narration.passage_check import NO_CHECKS, CheckCounts
from polyvox.errors import InvalidRequestError
from polyvox.text.captions import CaptionFormat
from polyvox.types import SPEED_RANGE

TARGET_LUFS = -19.0
PEAK_DB = -3.0


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds of silence from the last sound of a passage to the first of the next; the engine's own silence at the
    edges of its speech counts as part of them."""

    sentence: float = 0.45
    paragraph: float = 0.85
    scene: float = 1.8
    title: float = 1.4
    opening: float = 0.6
    """Before the first sound of a chapter."""
    closing: float = 2.0
    """After its last."""


@dataclass(frozen=True, slots=True)
class NarrationOptions:
    """Options of the speech of a manuscript; the same options and manuscript give the same audio.

    `voice` is that of chapters and passages that name none; empty for the model's own. `speed` is a factor.
    `dictionaries` are names of pronunciation dictionaries. With `titles` the title of each chapter is spoken. With
    `verify` each passage is heard by a recogniser, and spoken again where too many of its words are wrong.
    """

    voice: str = ""
    model: str | None = None
    speed: float = 1.0
    language: str | None = None
    seed: int = 0
    dictionaries: tuple[str, ...] = ()
    pauses: Pauses = field(default_factory=Pauses)
    titles: bool = True
    verify: bool = False

    def __post_init__(self) -> None:
        if self.speed not in SPEED_RANGE:
            raise InvalidRequestError(
                f"speed must lie between {SPEED_RANGE.lowest:g} and {SPEED_RANGE.highest:g}, not {self.speed:g}.",
                field="speed",
            )


class BookFormat(StrEnum):
    """Formats of a whole book in one file with chapter marks."""

    M4B = "m4b"
    MP3 = "mp3"
    OPUS = "opus"

    @property
    def media_type(self) -> str:
        return {"m4b": "audio/mp4", "mp3": "audio/mpeg", "opus": "audio/ogg"}[self]


class FileKind(StrEnum):
    """The kind of a bound file, by what it holds."""

    BOOK = "book"
    CHAPTER = "chapter"
    CAPTIONS = "captions"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class BookFormats:
    """The files that a narration is bound into.

    `chapters` is the format of one file per chapter, None for no such files. `captions` are written for the book, and
    for each chapter where chapters are files. Every chapter is brought to `loudness` (LUFS, EBU R128; None leaves it),
    with no true peak above `peak` dB. `narrator` is a tag, and `provenance` are the marks of synthetic speech.
    """

    books: tuple[BookFormat, ...] = (BookFormat.M4B,)
    chapters: AudioFormat | None = None
    captions: tuple[CaptionFormat, ...] = ()
    loudness: float | None = TARGET_LUFS
    peak: float = PEAK_DB
    narrator: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BoundFile:
    """A finished file; `chapter` counts from 1, None for the whole book. `seconds` is the length of its audio."""

    name: str
    path: Path
    media_type: str
    kind: FileKind
    chapter: int | None
    bytes: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class NarrationProgress:
    """Progress of a narration; `chapter` counts from 1 and is the one that is being spoken."""

    sentences_done: int
    sentences: int
    chapter: int
    chapters: int
    seconds_spoken: float
    chars_done: int = 0
    chars: int = 0
    checks: CheckCounts = NO_CHECKS

    @property
    def done(self) -> bool:
        return self.sentences_done == self.sentences

    @property
    def percent(self) -> float:
        """By characters, since sentences differ in length; 100 only when all of it is spoken."""
        return 100.0 if self.done else min(99.9, 100.0 * self.chars_done / max(1, self.chars))
