"""The study of word timings: its sums."""

import numpy as np
import pytest

from benchmarks.word_timings import RATE, Errors, PhonemeErrors, measure
from polyvox.service.words.word_timer import TimedWords
from polyvox.types import PhonemeShare, Span, TimingSource, WordTiming


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


def test_phonemes_are_compared_where_both_read_as_many():
    word = WordTiming("hi", 1.0, 2.0, Span(0, 2), shares=(PhonemeShare("h", 0.0, 0.5), PhonemeShare("aɪ", 0.5, 1.0)))
    errors = PhonemeErrors()
    errors.add([word, word], [[1.0, 1.52], [1.0]])
    assert errors.differences == pytest.approx([0.02])
    assert errors.row() == "phonemes: 20 / 20 ms by pocketsphinx; 1 in 1 of 2 words"
