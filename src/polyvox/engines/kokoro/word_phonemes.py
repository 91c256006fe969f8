"""The phonemes of a word and where they stand in its samples: found when somebody asks, since few requests do."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload

from polyvox.text.phonemes.units import phoneme_units
from polyvox.types import PhonemeShare, Span


class AlignedPhoneme(NamedTuple):
    """A phoneme in IPA, and its first and last sample in the network's untrimmed output."""

    phoneme: str
    start: int
    end: int


class SymbolRun(NamedTuple):
    """Symbols of the model's alphabet that are spoken within `samples`.

    `edges` are the samples at which each begins, and the last one's end, before the run was moved by `shift`.
    """

    symbols: str
    edges: Sequence[int]
    samples: Span
    shift: int = 0

    def cut(self, samples: Span, shift: int) -> "SymbolRun":
        """The part of the run within these samples, moved by so many."""
        start, end = (min(max(each, samples.start), samples.end) for each in (self.samples.start, self.samples.end))
        return self._replace(samples=Span(start + shift, end + shift), shift=self.shift + shift)

    def aligned(self) -> list[AlignedPhoneme]:
        """The phonemes between the edges of their symbols; the first and the last one reach to the run's own."""
        units = phoneme_units(self.symbols)
        if not units:
            return []
        inner = [self._within(self.edges[unit.start]) for unit in units[1:]]
        starts = [self.samples.start, *inner]
        ends = [*(self._within(self.edges[unit.end]) for unit in units[:-1]), self.samples.end]
        return [AlignedPhoneme(unit.ipa, *times) for unit, *times in zip(units, starts, ends, strict=True)]

    def _within(self, edge: int) -> int:
        return min(max(edge + self.shift, self.samples.start), self.samples.end)


@dataclass(frozen=True, eq=False)
class SpokenShares(Sequence[PhonemeShare]):
    """The phonemes of a word's runs as shares of its time, `length` samples from `start` on; equal to their tuple."""

    runs: tuple[SymbolRun, ...]
    start: int
    length: int

    @overload
    def __getitem__(self, index: int) -> PhonemeShare: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PhonemeShare, ...]: ...
    def __getitem__(self, index: int | slice) -> PhonemeShare | tuple[PhonemeShare, ...]:
        return self._shares[index]

    def __len__(self) -> int:
        return len(self._shares)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._shares == tuple(other)

    def __hash__(self) -> int:
        return hash(self._shares)

    def __reduce__(self) -> tuple[type, tuple[tuple[PhonemeShare, ...]]]:
        return tuple, (self._shares,)

    @cached_property
    def _shares(self) -> tuple[PhonemeShare, ...]:
        return tuple(
            PhonemeShare(name, self._share(first), self._share(last))
            for run in self.runs
            for name, first, last in run.aligned()
        )

    def _share(self, sample: int) -> float:
        return min(max((sample - self.start) / self.length, 0.0), 1.0) if self.length else 0.0
