"""The audio of a chapter as a listener hears it: passages and the pauses between them, even in loudness."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from polyvox.audio.limiter import StreamLimiter
from polyvox.audio.loudness import LoudnessMeter
from polyvox.books.narration.journal import FALLBACK_RATE, ChapterJournal, JournalEntry
from polyvox.books.narration.options import Pauses
from polyvox.books.narration.passage_check import PassageCheck
from polyvox.books.narration.plan import Passage, PlannedChapter
from polyvox.types import Pcm, WordTiming

_STANDARD_GATE = -70.0
_MAX_GAIN_DB = 30.0
_CODEC_MARGIN_DB = 0.3
"""By how much a lossy codec may raise a peak."""


@dataclass(frozen=True, slots=True)
class PlacedPassage:
    """A passage of a chapter, its entry, and the silent samples before and behind it."""

    passage: Passage
    entry: JournalEntry
    before: int
    behind: int

    @property
    def samples(self) -> int:
        return self.before + self.entry.samples + self.behind


class ChapterAudio:
    """One spoken chapter. Nothing of it is kept in memory but where its passages are."""

    def __init__(self, folder: Path, number: int, chapter: PlannedChapter, pauses: Pauses) -> None:
        self.number = number
        self.title = chapter.title
        self._journal = ChapterJournal(folder, number)
        self._chapter = chapter
        self._pauses = pauses
        heard = [entry for entry, _ in self._journal.scan() if entry.samples]
        self.sample_rate = heard[0].sample_rate if heard else FALLBACK_RATE
        self.channels = heard[0].channels if heard else 1
        self.samples = sum(placed.samples for placed in self.passages())

    def passages(self) -> Iterator[PlacedPassage]:
        """The passages with their silences.

        A pause runs from sound to sound, so the quiet edges of both passages are part of it.
        """
        entries = (entry for entry, _ in self._journal.scan())
        last: PlacedPassage | None = None
        for passage, entry in zip(self._chapter.passages, entries, strict=True):
            before = self._silence(self._pauses.opening, entry.lead) if last is None else 0
            if last is not None:
                pause = last.passage.gap.seconds(self._pauses)
                yield replace(last, behind=self._silence(pause, last.entry.tail + entry.lead))
            last = PlacedPassage(passage, entry, before, 0)
        if last is not None:
            yield replace(last, behind=self._silence(self._pauses.closing, last.entry.tail))

    def words(self) -> Iterator[tuple[Passage, tuple[WordTiming, ...]]]:
        """Each passage with its words, timed from the chapter's first sample."""
        position = 0
        for placed in self.passages():
            start = (position + placed.before) / self.sample_rate
            yield (
                placed.passage,
                tuple(replace(word, start=word.start + start, end=word.end + start) for word in placed.entry.words),
            )
            position += placed.samples

    def checks(self) -> Iterator[tuple[Passage, PassageCheck]]:
        """Each passage that was checked, with what came of it."""
        for placed in self.passages():
            if placed.entry.check is not None:
                yield placed.passage, placed.entry.check

    def pieces(self) -> Iterator[Pcm]:
        """All samples, about a sentence at a time."""
        for placed in self.passages():
            yield np.concatenate(
                [self._zeros(placed.before), self._journal.pcm(placed.entry), self._zeros(placed.behind)]
            )

    def _silence(self, seconds: float, quiet: int) -> int:
        return max(0, round(seconds * self.sample_rate) - quiet)

    def _zeros(self, samples: int) -> Pcm:
        return np.zeros(samples if self.channels == 1 else (samples, self.channels), np.float32)


class IntegratedLoudness:
    """EBU R128's integrated loudness of a stream that comes in pieces of any length."""

    def __init__(self, sample_rate: int, channels: int) -> None:
        self._meter = LoudnessMeter(sample_rate, channels, gate=_STANDARD_GATE)
        self._rest = np.zeros((0, channels), np.float32)

    def push(self, pcm: Pcm) -> None:
        """Take samples."""
        samples = np.concatenate([self._rest, pcm.reshape(len(pcm), -1)])
        whole = len(samples) - len(samples) % self._meter.block
        for start in range(0, whole, self._meter.block):
            self._meter.add(samples[start : start + self._meter.block].astype(np.float64))
        self._rest = samples[whole:]

    @property
    def lufs(self) -> float | None:
        """The loudness so far; None where there was less than 0.4 s above the gate."""
        return self._meter.loudness


def gain_to(target: float | None, loudness: float | None) -> float:
    """The gain in dB from one loudness to another; 0 where either is not known."""
    if target is None or loudness is None:
        return 0.0
    return float(np.clip(target - loudness, -_MAX_GAIN_DB, _MAX_GAIN_DB))


def levelled(pieces: Iterator[Pcm], gain: float, peak: float, sample_rate: int, channels: int) -> Iterator[Pcm]:
    """The pieces louder by `gain` dB, with no true peak above `peak` dB."""
    limiter = StreamLimiter(peak - _CODEC_MARGIN_DB, sample_rate, channels)
    factor = np.float32(10.0 ** (gain / 20))
    for piece in pieces:
        yield limiter.push(piece * factor)
    yield limiter.finish()
