"""What an engine is asked to do, where that is not to speak a text that is there from the start."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from polyvox.engines.base import Engine
from polyvox.types import AudioChunk, Utterance


class Act(Protocol):
    """A way to get speech from an engine: from text that is still arriving, from a recording, from several voices.

    The utterance holds all else that was asked for: the voice, the speed, the seed.
    """

    @property
    def chars(self) -> int:
        """The characters of text known so far, for the accounts."""

    @property
    def longest(self) -> float:
        """The seconds of audio beyond which the engine must have gone astray."""

    def check(self, engine: Engine, utterance: Utterance) -> None:
        """Raise the typed error for whatever can be refused without speaking; cheap."""

    def perform(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """The speech, at the engine's own sample rate; closing it frees all it holds."""


# A spoken character rarely takes half a second; the shortest mark for a pause of ten seconds has ten characters.
_MAX_SECONDS_PER_CHAR = 2.0
_MAX_SECONDS_BESIDES = 60.0


def longest_speech(chars: int, speed: float) -> float:
    """The seconds of audio that a text of so many characters can take at the very most."""
    return _MAX_SECONDS_BESIDES + _MAX_SECONDS_PER_CHAR * chars * max(1.0, 1.0 / speed)


@dataclass(frozen=True, slots=True)
class Telling:
    """Speaking the utterance's text at a speed: the act of nearly every request."""

    text: str
    speed: float

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def longest(self) -> float:
        return longest_speech(len(self.text), self.speed)

    def check(self, engine: Engine, utterance: Utterance) -> None:
        engine.check(utterance)

    def perform(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        return engine.speak(utterance)
