"""Synthesizer: who speaks the phrases of a screen reader."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from polyvox.types import Pcm, Voice


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words as they are to be spoken; an empty voice is the synthesizer's default one."""

    text: str
    voice: str = ""
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Samples:
    """Mono float32 samples."""

    pcm: Pcm
    sample_rate: int


class Synthesizer(Protocol):
    """Speaks a phrase in pieces as they are made; closing the generator ends the work."""

    @property
    def voices(self) -> Sequence[Voice]: ...

    def speak(self, phrase: Phrase) -> AsyncGenerator[Samples, None]: ...
