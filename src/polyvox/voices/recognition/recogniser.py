"""Recognisers of speech: what each is asked for one window of a recording, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from polyvox.audio.analysis import ANALYSIS_RATE
from polyvox.types import Pcm

RATE = ANALYSIS_RATE


@dataclass(frozen=True, slots=True)
class RecognitionTask:
    """The wishes for a recording. `language` is an ISO 639 code of two or three letters, None where it is unknown.

    `prompt` is text that may have come before, by which names and style are spelled. At `temperature` 0 each token is
    the likeliest. With `translate` the words are written in English, with `words` their times are found. Chinese is
    written in simplified characters unless `traditional` ones are asked for.
    """

    language: str | None = None
    prompt: str = ""
    temperature: float = 0.0
    translate: bool = False
    words: bool = False
    traditional: bool = False


@dataclass(frozen=True, slots=True)
class RecognisedWord:
    """A word with the marks beside it, its start and end in seconds, and whether a space comes before it."""

    text: str
    start: float
    end: float
    spaced: bool = True


@dataclass(frozen=True, slots=True)
class Recognition:
    """The words of one window. `log_prob` is the mean over its tokens, `temperature` the one that they were drawn at.

    `words` is None where the recogniser cannot time them, or was not asked to. The probability of the language is 1
    where it was given, or where the recogniser knows no other. `model` names the one that heard it, where that is not
    the one that was chosen for the recording.
    """

    text: str
    language: str
    tokens: tuple[int, ...] = ()
    log_prob: float = 0.0
    temperature: float = 0.0
    words: tuple[RecognisedWord, ...] | None = None
    language_probability: float = 1.0
    model: str = ""


class Recogniser(Protocol):
    """Recognises windows of at most `longest` seconds, mono at 16 kHz. It has no state, so threads may share it."""

    @property
    def longest(self) -> float: ...

    def recognise(self, window: Pcm, task: RecognitionTask, check: Callable[[], None]) -> Recognition:
        """The words of a window; `check` is called between steps, and raises to stop."""


@dataclass(frozen=True, slots=True)
class HeardWindow:
    """A window whose language was detected, with its probability among all; `recognise` finds its words in it."""

    language: str
    probability: float
    recognise: Callable[[RecognitionTask, Callable[[], None]], Recognition]


class DetectingRecogniser(Recogniser, Protocol):
    """A recogniser that tells the language of a window before it looks for words."""

    def listen(self, window: Pcm) -> HeardWindow: ...
