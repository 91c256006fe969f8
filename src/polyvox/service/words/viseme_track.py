"""The visemes of one session, from the phonemes of its words."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from polyvox.text.phonemes.visemes import SILENCE, visemes
from polyvox.types import AudioChunk, PhonemeTiming

_LEAST_SILENCE: Final = 0.02
"""Seconds without a phoneme from which on the mouth closes."""
_TICKS: Final = 10_000_000


class Viseme(NamedTuple):
    """A shape of the mouth by Azure's id, and the second of the audio from which on it is shown."""

    id: int
    start: float

    @property
    def audio_offset(self) -> int:
        """Its start in ticks of 100 ns, as Azure counts."""
        return round(self.start * _TICKS)

    @property
    def fields(self) -> dict[str, int]:
        """The same by the names of Azure's events."""
        return {"viseme_id": self.id, "audio_offset": self.audio_offset}


class VisemeTrack:
    """Makes visemes of the chunks of one session, in order; where nothing is said, the mouth is closed.

    A mouth closes with the chunk whose audio goes on behind its last phoneme, or else with a later one.
    """

    def __init__(self) -> None:
        self._shown = 0.0
        self._open_until: float | None = 0.0

    def add(self, chunk: AudioChunk) -> list[Viseme]:
        """The visemes that have become known with a chunk."""
        found = [viseme for word in chunk.words for phoneme in word.phonemes for viseme in self._of(phoneme)]
        return [*found, *self._closed(before=chunk.end / chunk.sample_rate)]

    def finish(self) -> list[Viseme]:
        """The closed mouth at the end of all, where it is not closed already."""
        return list(self._closed(before=float("inf"))) if self._shown else []

    def _of(self, phoneme: PhonemeTiming) -> Iterator[Viseme]:
        """The visemes of a phoneme in equal parts of its time; none of one without any."""
        yield from self._closed(before=phoneme.start)
        ids, seconds = visemes(phoneme.phoneme), phoneme.end - phoneme.start
        if seconds > 0:
            for place, viseme in enumerate(ids):
                yield self._at(viseme, phoneme.start + seconds * place / len(ids))
            self._open_until = phoneme.end

    def _closed(self, before: float) -> Iterator[Viseme]:
        if self._open_until is not None and before - self._open_until > _LEAST_SILENCE:
            yield self._at(SILENCE, self._open_until)
            self._open_until = None

    def _at(self, viseme: int, start: float) -> Viseme:
        self._shown = max(self._shown, start)
        return Viseme(viseme, self._shown)
