"""Watermarks in samples: a mark that stays when audio is encoded again, and cannot be heard."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from polyvox.types import Pcm


class WatermarkStream(Protocol):
    """Marks one stream: output is aligned with the input and as long; some samples are held back until `finish`."""

    def push(self, pcm: Pcm) -> Pcm:
        """Take samples; return the marked ones that are ready."""

    def finish(self) -> Pcm:
        """Return the rest of the output; the object cannot be used afterwards."""


@dataclass(frozen=True, slots=True)
class WatermarkFinding:
    """A search for a watermark: how sure it is that there is one, from 0 to 1, and the seconds that were looked at."""

    confidence: float
    found: bool
    seconds: float


@runtime_checkable
class Watermarker(Protocol):
    """Marks streams of speech and finds its mark again. Immutable, so that threads may share it."""

    @property
    def name(self) -> str:
        """The name of the method and its strength: speech of another name is not the same speech."""

    def stream(self, sample_rate: int, channels: int) -> WatermarkStream:
        """Begin to mark a stream."""

    def find(self, pcm: Pcm, sample_rate: int) -> WatermarkFinding:
        """Search a recording, mono or stereo."""
