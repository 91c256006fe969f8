"""The study of word timings: its sums."""

import numpy as np
import pytest

from benchmarks.word_timings import RATE, Errors, measure
from polyvox.service.words.word_timer import TimedWords
from polyvox.types import Span, TimingSource


def test_differences_of_word_starts_are_counted_against_both_references():
    def find(stretch):
        found = TimedWords()
        found.add([Span(0, RATE // 2), Span(RATE // 2, RATE)], TimingSource.ALIGNMENT)
        return found

    errors = Errors()
    measure(errors, find, np.zeros(RATE, np.float32), "One two.", ([0.0, 0.4], [0.02, 0.5]))
    assert errors.by_durations == pytest.approx([0.0, 0.1])
    assert errors.by_aligner == pytest.approx([0.02, 0.0])
    assert errors.audio_seconds == 1.0
    assert " 50 /   95 ms |   10 /   19 ms" in errors.row("alignment")
