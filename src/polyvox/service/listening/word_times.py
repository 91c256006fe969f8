"""Times of recognised words: the recogniser's own, or by forced alignment with what was heard."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from polyvox.config import Settings
from polyvox.service.words.word_timer import Stretch, WordTimer
from polyvox.text.timed_words import TimedWord
from polyvox.types import Pcm, Span, TimingSource, WordTiming
from polyvox.voices.recognition.recogniser import RATE, RecognisedWord, Recognition

_WORD: Final = re.compile(r"\S+")
_MARKS: Final = re.compile(r"[.,;:!?…—]+$")


class WordTimes:
    """Times the words of passages. Its method blocks and is thread-safe; the aligner is loaded on first use."""

    def __init__(self, settings: Settings) -> None:
        self._timer = WordTimer(settings)

    def of(self, pcm: Pcm, recognition: Recognition, start: float) -> tuple[WordTiming, ...]:
        """The words of a passage that begins at `start` seconds of the recording; spans are places in its text."""
        if recognition.words is not None:
            return tuple(_placed(recognition.words, start))
        found = list(_WORD.finditer(recognition.text))
        words = [TimedWord(Span(*each.span()), _MARKS.sub("", each[0]), bool(_MARKS.search(each[0]))) for each in found]
        timed = self._timer.time(Stretch(pcm, RATE, 0, words, whole=True))
        return tuple(
            WordTiming(each[0], start + span.start / RATE, start + span.end / RATE, Span(*each.span()), source)
            for each, span, source in zip(found, timed.spans, timed.sources, strict=True)
        )


def _placed(words: Sequence[RecognisedWord], start: float) -> Iterator[WordTiming]:
    at = 0
    for index, word in enumerate(words):
        at += word.spaced and index > 0
        span = Span(at, at + len(word.text))
        yield WordTiming(word.text, start + word.start, start + word.end, span, TimingSource.ALIGNMENT)
        at = span.end
