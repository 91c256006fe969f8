"""Transcripts: the words of a recording, passage by passage, with their times."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from polyvox.text.segmentation.split import sentences
from polyvox.text.tracked import TrackedText
from polyvox.types import Span, WordTiming
from polyvox.voices.recognition.languages import UNSPACED
from polyvox.voices.recognition.recogniser import Recognition


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence of a transcript, its times in seconds, and the passage it is from."""

    text: str
    start: float
    end: float
    passage: "Passage"


@dataclass(frozen=True, slots=True)
class Passage:
    """One window of a recording, from `start` to `end` in seconds, and the words in it.

    Spans of `words` are places in the passage's text; without times there are none. `silence` is the mean probability
    that nobody speaks.
    """

    start: float
    end: float
    recognition: Recognition
    words: tuple[WordTiming, ...] = ()
    silence: float = 0.0

    @property
    def text(self) -> str:
        return self.recognition.text

    @property
    def segments(self) -> list[Segment]:
        """Its sentences; all of it is one where its words have no times."""
        if not self.words:
            return [Segment(self.text, self.start, self.end, self)] if self.text else []
        found: list[Segment] = []
        begins = [word.span.start for word in self.words]
        start = 0
        for sentence in sentences(TrackedText.of(self.text)):
            end = start + len(sentence)
            own = self.words[bisect_left(begins, start) : bisect_left(begins, end)]
            if own:
                found.append(Segment(sentence.text.strip(), own[0].start, own[-1].end, self))
            start = end
        return found


@dataclass(frozen=True)
class Transcript:
    """The words of a recording of `seconds`, by the model of this name; `warnings` say what was done otherwise."""

    passages: tuple[Passage, ...]
    language: str
    seconds: float
    model: str
    warnings: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        return "".join(self._gaps[index] + passage.text for index, passage in enumerate(self.passages))

    @property
    def segments(self) -> list[Segment]:
        return [segment for passage in self.passages for segment in passage.segments]

    @cached_property
    def words(self) -> tuple[WordTiming, ...]:
        """All words; their spans are places in the transcript's text."""
        found: list[WordTiming] = []
        start = 0
        for gap, passage in zip(self._gaps, self.passages, strict=True):
            start += len(gap)
            found += [moved(word, start) for word in passage.words]
            start += len(passage.text)
        return tuple(found)

    @property
    def _gaps(self) -> Sequence[str]:
        """The space before each passage, where there is one."""
        return ["" if not index else gap_before(passage) for index, passage in enumerate(self.passages)]


def gap_before(passage: Passage) -> str:
    """A space, except before a language that has none."""
    return "" if passage.recognition.language in UNSPACED else " "


def moved(word: WordTiming, characters: int) -> WordTiming:
    return replace(word, span=Span(word.span.start + characters, word.span.end + characters))
