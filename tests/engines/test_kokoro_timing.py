import pickle

import numpy as np
import pytest

from polyvox.audio.edges import speech_span
from polyvox.engines.kokoro.chunking import Break, PhonemeChunk
from polyvox.engines.kokoro.render import LEAD_IN_SAMPLES, LEAD_OUT_SAMPLES, SAMPLE_RATE, render
from polyvox.engines.kokoro.request import ModelOutput
from polyvox.engines.kokoro.timing import (
    FRAME_SAMPLES,
    LEAD_SAMPLES,
    QUIET_END_SAMPLES,
    align_words,
    heard_ends,
    word_timings,
)
from polyvox.text.spoken import SpokenWord
from polyvox.types import Span


def loud(frames):
    return np.where(np.arange(frames * FRAME_SAMPLES) % 50 < 25, 0.5, -0.5).astype(np.float32)


def quiet(frames):
    return np.zeros(frames * FRAME_SAMPLES, np.float32)


# "Hi $5": one phoneme a frame pair; the padding, the space and the full stop have frames of their own.
CHUNK = PhonemeChunk(
    (
        SpokenWord("Hi", "hI", Span(0, 2), True),
        SpokenWord("five", "fIv", Span(3, 5), True),
        SpokenWord("dollars", "dl", Span(3, 5), False),
        SpokenWord(".", ".", Span(5, 6), True),
    ),
    Break.SENTENCE,
)
#                       ^  h  I  _  f  I  v  _  d  l   .  $
DURATIONS = np.array([10, 2, 2, 2, 2, 2, 2, 2, 2, 12, 2, 1])


def test_words_take_their_phonemes_and_half_of_the_space_between():
    pcm = loud(int(DURATIONS.sum()))
    first, _ = align_words(CHUNK, DURATIONS, pcm, SAMPLE_RATE)
    assert first.samples == Span(10 * FRAME_SAMPLES - LEAD_SAMPLES, 15 * FRAME_SAMPLES - LEAD_SAMPLES)


def test_words_of_one_source_are_one():
    pcm = loud(int(DURATIONS.sum()))
    aligned = align_words(CHUNK, DURATIONS, pcm, SAMPLE_RATE)
    timings = word_timings(aligned, "Hi $5.", first_sample=0, sample_rate=SAMPLE_RATE)
    assert [timing.word for timing in timings] == ["Hi", "$5"]


def test_phonemes_fill_their_word_without_a_gap():
    pcm = loud(int(DURATIONS.sum()))
    for word in align_words(CHUNK, DURATIONS, pcm, SAMPLE_RATE):
        starts, ends = [each.start for each in word.phonemes], [each.end for each in word.phonemes]
        assert [*starts, ends[-1]] == [word.samples.start, *ends]
        assert ends[-1] == word.samples.end
        assert starts == sorted(starts)
    timings = word_timings(
        align_words(CHUNK, DURATIONS, pcm, SAMPLE_RATE), "Hi $5.", first_sample=-4_200, sample_rate=SAMPLE_RATE
    )
    assert [[each.phoneme for each in timing.phonemes] for timing in timings] == [
        ["h", "aɪ"],
        ["f", "aɪ", "v", "d", "l"],
    ]
    hi = timings[0].phonemes
    assert (hi[0].start, hi[0].end, hi[1].end) == pytest.approx((0.0, 0.05, 0.125))


def test_phonemes_are_cut_off_with_the_silence_behind_their_word():
    pcm = np.concatenate((quiet(10), loud(18), quiet(13)))
    *_, last = align_words(CHUNK, DURATIONS, pcm, SAMPLE_RATE)
    assert last.phonemes[-1].end == last.samples.end
    assert all(each.end <= last.samples.end for each in last.phonemes)


def test_the_silence_that_the_model_counts_to_the_last_phoneme_is_not_the_words():
    pcm = np.concatenate((quiet(10), loud(18), quiet(13)))
    *_, last = align_words(CHUNK, DURATIONS, pcm, SAMPLE_RATE)
    assert last.samples.end == pytest.approx(28 * FRAME_SAMPLES, abs=240)


def test_rendering_trims_silence_and_sets_the_pause():
    pcm = np.concatenate((quiet(10), loud(18), quiet(13)))
    rendered = render(CHUNK, ModelOutput(pcm, DURATIONS), speed=1.0)
    assert rendered.trimmed == pytest.approx(10 * FRAME_SAMPLES - LEAD_IN_SAMPLES, abs=240)
    edges = LEAD_IN_SAMPLES + LEAD_OUT_SAMPLES
    spoken = 18 * FRAME_SAMPLES + edges
    pause = CHUNK.pause(1.0) * SAMPLE_RATE - edges
    assert len(rendered.pcm) == pytest.approx(spoken + pause, abs=480)
    assert abs(rendered.pcm[0]) < 1e-3
    assert np.all(rendered.pcm[-10:] == 0)


def test_a_quiet_end_is_found_where_the_span_of_speech_ends():
    chance = np.random.default_rng(0)
    cut = 0
    for _ in range(500):
        pcm = (chance.standard_normal(8_000) * 10 ** chance.uniform(-5, 0)).astype(np.float32)
        pcm[chance.integers(0, 8_000) :] *= np.float32(10 ** chance.uniform(-6, 0))
        words = [Span(*sorted(chance.integers(0, 9_500, 2).tolist())) for _ in range(chance.integers(0, 4))]
        wanted = []
        for word in words:
            audible = speech_span(pcm[word.start : word.end], 24_000)
            quiet = len(audible) and len(word) - audible.end > QUIET_END_SAMPLES
            wanted.append(word.start + audible.end if quiet else word.end)
            cut += bool(quiet)
        assert heard_ends(words, pcm, 24_000) == wanted
    assert cut > 50


def test_shares_found_late_are_those_of_a_plain_tuple():
    aligned = align_words(CHUNK, DURATIONS, loud(int(DURATIONS.sum())), SAMPLE_RATE)
    timing, _ = word_timings(aligned, "Hi $5.", first_sample=0, sample_rate=SAMPLE_RATE)
    sent = pickle.loads(pickle.dumps(timing))
    assert type(sent.shares) is tuple
    assert sent == timing
    assert timing == sent
    assert hash(timing) == hash(sent)
