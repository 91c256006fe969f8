"""The spoken passages of one chapter on disk: 16-bit samples in one file, and a journal of what they are in another.

Both only grow. A passage counts as spoken when its line of the journal is whole; its samples are durable before that. A
line is its CRC-32 in hexadecimal, a space, and JSON.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from polyvox.audio.pcm import from_pcm16, to_pcm16
from polyvox.audio.resample import resampled
from polyvox.books.narration.durable import append_durably
from polyvox.books.narration.passage_check import PassageCheck
from polyvox.errors import PolyvoxError
from polyvox.types import Pcm, Span, TimingSource, WordTiming

SAMPLE_BYTES = 2
FALLBACK_RATE = 24_000
"""Of a book in which nothing was spoken yet."""


@dataclass(frozen=True, slots=True)
class SpokenPassage:
    """Audio of a passage, its words timed from its first sample, the quiet samples at its edges, and its check."""

    pcm: Pcm
    sample_rate: int
    words: tuple[WordTiming, ...]
    lead: int = 0
    tail: int = 0
    check: PassageCheck | None = None

    @property
    def channels(self) -> int:
        return 1 if self.pcm.ndim == 1 else self.pcm.shape[1]

    @classmethod
    def silent(cls) -> "SpokenPassage":
        """A passage in which there was nothing to speak."""
        return cls(np.zeros(0, np.float32), FALLBACK_RATE, ())

    def fitted(self, sample_rate: int | None, channels: int | None) -> "SpokenPassage":
        """The same at another rate and with another number of channels; None leaves it."""
        rate = self.sample_rate if sample_rate is None else sample_rate
        pcm = self.pcm if rate == self.sample_rate else resampled(self.pcm, self.sample_rate, rate)
        if channels is not None and channels != self.channels:
            pcm = pcm.mean(axis=1) if channels == 1 else np.stack([pcm] * channels, axis=1)
        scale = rate / self.sample_rate
        return replace(self, pcm=pcm, sample_rate=rate, lead=round(self.lead * scale), tail=round(self.tail * scale))


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The position of a passage's samples, and what is known about them."""

    index: int
    offset: int
    samples: int
    sample_rate: int
    channels: int
    lead: int
    tail: int
    checksum: int
    words: tuple[WordTiming, ...]
    check: PassageCheck | None = None

    @property
    def end(self) -> int:
        """The byte behind its last sample."""
        return self.offset + self.samples * self.channels * SAMPLE_BYTES

    @property
    def seconds(self) -> float:
        return self.samples / self.sample_rate


class BrokenNarrationError(PolyvoxError):
    """Stored audio that is not what was written."""


class ChapterJournal:
    """The journal and the samples of one chapter. Its methods block."""

    def __init__(self, folder: Path, number: int) -> None:
        self._journal = folder / f"{number:04}.journal"
        self._audio = folder / f"{number:04}.pcm"

    def append(
        self, index: int, spoken: SpokenPassage, after: JournalEntry | None, journal_end: int
    ) -> tuple[JournalEntry, int]:
        """Add a passage behind the one before it; returns its entry and the journal's new length. Durable on return."""
        data = to_pcm16(spoken.pcm)
        entry = JournalEntry(
            index=index,
            offset=0 if after is None else after.end,
            samples=len(spoken.pcm),
            sample_rate=spoken.sample_rate,
            channels=spoken.channels,
            lead=spoken.lead,
            tail=spoken.tail,
            checksum=zlib.crc32(data),
            words=spoken.words,
            check=spoken.check,
        )
        append_durably(self._audio, data, entry.offset)
        line = _line(entry)
        append_durably(self._journal, line, journal_end)
        return entry, journal_end + len(line)

    def scan(self) -> Iterator[tuple[JournalEntry, int]]:
        """The entries, each with the journal's length up to it, before the first that is torn or out of place."""
        if not self._journal.exists():
            return
        held = self._audio.stat().st_size if self._audio.exists() else 0
        journal_end = offset = 0
        with self._journal.open("rb") as file:
            for line in file:
                entry = _entry(line)
                if entry is None or entry.offset != offset or entry.end > held:
                    return
                journal_end, offset = journal_end + len(line), entry.end
                yield entry, journal_end

    def pcm(self, entry: JournalEntry) -> Pcm:
        """The samples of an entry; `BrokenNarrationError` where the disk altered them."""
        with self._audio.open("rb") as file:
            file.seek(entry.offset)
            data = file.read(entry.end - entry.offset)
        if zlib.crc32(data) != entry.checksum:
            raise BrokenNarrationError(
                f"{self._audio.name} is damaged at sentence {entry.index + 1}; delete it and narrate again."
            )
        return from_pcm16(data, entry.channels)


def _packed(words: Sequence[WordTiming]) -> list[list[object]]:
    return [[w.word, round(w.start, 4), round(w.end, 4), w.span.start, w.span.end, w.source.value] for w in words]


def _line(entry: JournalEntry) -> bytes:
    record = {
        "index": entry.index,
        "offset": entry.offset,
        "samples": entry.samples,
        "rate": entry.sample_rate,
        "channels": entry.channels,
        "lead": entry.lead,
        "tail": entry.tail,
        "crc": entry.checksum,
        "words": _packed(entry.words),
    }
    if entry.check is not None:
        record["check"] = asdict(entry.check)
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _entry(line: bytes) -> JournalEntry | None:
    """The entry of a line; None where it is not whole."""
    mark, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or mark != b"%08x" % zlib.crc32(text):
        return None
    found = json.loads(text)
    words = tuple(
        WordTiming(word, start, end, Span(first, last), TimingSource(source))
        for word, start, end, first, last, source in found["words"]
    )
    return JournalEntry(
        index=found["index"],
        offset=found["offset"],
        samples=found["samples"],
        sample_rate=found["rate"],
        channels=found["channels"],
        lead=found["lead"],
        tail=found["tail"],
        checksum=found["crc"],
        words=words,
        check=PassageCheck(**found["check"]) if "check" in found else None,
    )
