"""Times words after they were spoken: by forced alignment where it can be trusted, else by an estimate."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from polyvox.audio.word_layout import lay_out, without_quiet_edges
from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.errors import BundleError
from polyvox.service.voices.transcriber import ASR_BUNDLE, Lazy
from polyvox.text.segmentation.spoken_length import spoken_seconds
from polyvox.text.timed_words import TimedWord
from polyvox.types import Pcm, Span, TimingSource
from polyvox.voices.recognition.alignment import MAX_SECONDS, MoonshineAligner

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_TRUSTED: Final = 0.3
"""The least confidence of an alignment; see `Alignment`."""
_MARGIN_SECONDS: Final = 0.4
"""A word that ends closer than this to where the audio breaks off may still go on."""
_CONTEXT_WORDS: Final = 4
_FINAL_LENGTHENING: Final = 0.2
"""Seconds that a word takes longer before a mark; of Kokoro's voices 0.19."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Audio whose words are not timed yet, its first sample in the utterance, and the words in and behind it.

    `whole`: all of the words are in it. `timed` are the samples of its first words, where these are timed already and
    only help to find the others: few sounds alone are hard to align.
    """

    pcm: Pcm
    sample_rate: int
    start: int
    words: Sequence[TimedWord]
    whole: bool
    timed: tuple[Span, ...] = ()

    @property
    def untimed(self) -> Sequence[TimedWord]:
        return self.words[len(self.timed) :]

    def after(self, spans: Sequence[Span]) -> "Stretch":
        """The stretch that is left when the next words are timed."""
        timed = (*self.timed, *spans)
        context = timed[-_CONTEXT_WORDS:]
        if not context:
            return self
        start = min(context[0].start, self.start + len(self.pcm))
        words = self.words[len(timed) - len(context) :]
        return Stretch(self.pcm[start - self.start :], self.sample_rate, start, words, self.whole, context)


@dataclass(slots=True)
class TimedWords:
    """The samples of the first words of a stretch, counted in the utterance, and where each comes from."""

    spans: list[Span] = field(default_factory=list)
    sources: list[TimingSource] = field(default_factory=list)

    def add(self, spans: Sequence[Span], source: TimingSource) -> None:
        """Add the next words; none begins before the one before it."""
        for span in spans:
            start = max(span.start, self.spans[-1].start if self.spans else 0)
            self.spans.append(Span(start, max(start, span.end)))
            self.sources.append(source)


class WordTimer:
    """Times the words of stretches of speech. Its methods block and are thread-safe.

    The aligner is loaded on first use. While its model is not installed, times are estimates.
    """

    def __init__(self, settings: Settings) -> None:
        folder = settings.models_dir
        self._aligns = settings.word_timings == "auto"
        self._aligner = Lazy(lambda: MoonshineAligner(open_bundle(ASR_BUNDLE, folder)))
        self._reported = False

    @property
    def is_ready(self) -> bool:
        """True if the next call has nothing to load."""
        return not self._aligns or self._aligner.loaded

    def time(self, stretch: Stretch) -> TimedWords:
        """The words that can be timed now: all of a whole stretch; of another those that are surely complete."""
        timed = TimedWords()
        while stretch.untimed:
            spans, source = self._part(stretch)
            timed.add(spans, source)
            if not stretch.whole or not spans:
                break
            stretch = stretch.after(spans)
        return timed

    def estimate(self, stretch: Stretch) -> TimedWords:
        """All words of a stretch, by its pauses and their lengths; takes about a millisecond."""
        timed = TimedWords()
        timed.add(_estimated(stretch), TimingSource.ESTIMATE)
        return timed

    def _part(self, stretch: Stretch) -> tuple[list[Span], TimingSource]:
        """The next words; all that are left where nothing better is known than an estimate."""
        aligner = self._loaded()
        if aligner is not None:
            spans = _aligned(aligner, stretch)
            if spans or not stretch.whole:
                return spans, TimingSource.ALIGNMENT
        return (_estimated(stretch) if stretch.whole else []), TimingSource.ESTIMATE

    def _loaded(self) -> MoonshineAligner | None:
        if not self._aligns:
            return None
        try:
            return self._aligner.get()
        except BundleError as error:
            if not self._reported:
                log.warning("word times are estimates", fix=pull_hint(ASR_BUNDLE), reason=error.message)
            self._reported = True
            return None


def _aligned(aligner: MoonshineAligner, stretch: Stretch) -> list[Span]:
    """The words that the audio says, as far as the alignment can be trusted; none where it cannot."""
    rate, longest = stretch.sample_rate, int(MAX_SECONDS * stretch.sample_rate)
    pcm = stretch.pcm[:longest]
    whole = stretch.whole and len(pcm) == len(stretch.pcm)
    found = aligner.align(pcm, rate, [_written(word) for word in stretch.words], whole=whole)
    if found.confidence < _TRUSTED:
        return []
    sure = len(pcm) / rate - _MARGIN_SECONDS
    complete = [(start, end) for start, end in found.words[len(stretch.timed) :] if whole or end <= sure]
    spans = [Span(round(start * rate), min(round(end * rate), len(pcm))) for start, end in complete]
    return _behind(stretch, [_moved(without_quiet_edges(span, pcm, rate), stretch.start) for span in spans])


def _estimated(stretch: Stretch) -> list[Span]:
    if not stretch.untimed:
        return []
    seconds = [spoken_seconds(word.spoken) + _FINAL_LENGTHENING * word.breaks for word in stretch.untimed]
    breaks = [word.breaks for word in stretch.untimed]
    start = min(stretch.timed[-1].end, stretch.start + len(stretch.pcm)) if stretch.timed else stretch.start
    spans = lay_out(stretch.pcm[start - stretch.start :], stretch.sample_rate, seconds, breaks)
    return [_moved(span, start) for span in spans]


def _behind(stretch: Stretch, spans: Sequence[Span]) -> list[Span]:
    """The spans without what lies before the end of the words that were timed already."""
    end = stretch.timed[-1].end if stretch.timed else 0
    return [Span(max(span.start, end), max(span.end, end)) for span in spans]


def _written(word: TimedWord) -> str:
    return f"{word.spoken}," if word.breaks else word.spoken


def _moved(span: Span, samples: int) -> Span:
    return Span(span.start + samples, span.end + samples)
