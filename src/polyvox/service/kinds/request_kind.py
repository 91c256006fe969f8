"""The kinds of request a session can serve: speak, dialogue, convert, stream-in."""

import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from polyvox.audio.pcm import silence
from polyvox.engines.base import Engine
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.text.markup.markup import pause_seconds
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, Utterance


class RequestKind(Protocol):
    """A way to get audio: `SpeakText`, `SpeakSilence`, `SpeakScript`, `SpeakStream`, `SpeakDialogue` or
    `ConvertRecording`.

    The utterance holds what is common to all of them: voice, speed, seed.
    """

    @property
    def chars(self) -> int:
        """Characters of text known so far, for logs."""

    @property
    def max_audio_seconds(self) -> float:
        """Seconds of audio beyond which the engine must have run away."""

    def check(self, engine: Engine, utterance: Utterance) -> None:
        """Raise the typed error for whatever can be refused without synthesis; cheap."""

    def synthesize(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """Stream the audio at the engine's own sample rate; closing the iterator frees all it holds."""


@runtime_checkable
class CollectsWarnings(Protocol):
    """A kind that reads its own text, and warns of what it does not obey in it."""

    @property
    def warnings(self) -> Warnings: ...


@runtime_checkable
class TakesPronunciation(Protocol):
    """A kind that has texts of its own, to which the request's dictionaries apply."""

    async def pronounced(self, pronunciation: Pronunciation, engine: Engine, utterance: Utterance) -> RequestKind:
        """The same with what the dictionaries say."""


# A spoken character rarely takes half a second.
_MAX_SECONDS_PER_CHAR = 2.0
_MAX_EXTRA_SECONDS = 60.0


def max_speech_seconds(chars: int, speed: float) -> float:
    """Upper bound of the seconds of audio that a text of so many characters can take."""
    return _MAX_EXTRA_SECONDS + _MAX_SECONDS_PER_CHAR * chars * max(1.0, 1.0 / speed)


@dataclass(frozen=True, slots=True)
class SpeakText:
    """Speak the utterance's text; the kind of nearly every request."""

    text: str
    speed: float

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def max_audio_seconds(self) -> float:
        return max_speech_seconds(len(self.text), self.speed) + pause_seconds(self.text)

    def check(self, engine: Engine, utterance: Utterance) -> None:
        engine.check(utterance)

    def synthesize(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        return engine.speak(utterance)


_MOST_MARKS = 16
_SILENCE_SECONDS = 0.2


def is_only_marks(text: str) -> bool:
    """Return whether a short text holds only punctuation, as some clients send to try out a key or a server."""
    bare = text.strip()
    return 0 < len(bare) <= _MOST_MARKS and all(unicodedata.category(char).startswith("P") for char in bare)


@dataclass(frozen=True, slots=True)
class SpeakSilence:
    """Answer a text without words with a short silence; model and voice are checked as for any other."""

    text: str

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def max_audio_seconds(self) -> float:
        return _SILENCE_SECONDS

    def check(self, engine: Engine, utterance: Utterance) -> None:
        engine.check(replace(utterance, text="1"))

    async def synthesize(self, engine: Engine, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        can = engine.capabilities
        pcm = silence(_SILENCE_SECONDS, can.sample_rate, can.channels)
        yield AudioChunk(pcm, can.sample_rate, index=0, start=0, text=self.text)
