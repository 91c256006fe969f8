"""Pauses inside a chunk, on samples whose speech and silence are known."""

import numpy as np
import pytest

from helpers.tables import each_row
from polyvox.engines.kokoro.chunking import Break, PausePolicy, PhonemeChunk, split_chunks
from polyvox.engines.kokoro.pauses import missing_pauses, pause_levels
from polyvox.engines.kokoro.render import SAMPLE_RATE, render
from polyvox.engines.kokoro.request import ModelOutput
from polyvox.engines.kokoro.timing import FRAME_SAMPLES
from polyvox.text.spoken import Sentence, SpokenWord
from polyvox.types import ChunkPolicy, Span


def loud(frames, level=0.5):
    return np.where(np.arange(frames * FRAME_SAMPLES) % 50 < 25, level, -level).astype(np.float32)


def quiet(frames):
    return np.zeros(frames * FRAME_SAMPLES, np.float32)


def chunk_of(mark, kind, first="hI", pauses=PausePolicy()):
    words = (
        SpokenWord("Hi", first, Span(0, 2), False),
        SpokenWord(mark, mark, Span(2, 3), True),
        SpokenWord("you", "ju", Span(4, 7), False),
        SpokenWord(".", ".", Span(7, 8), True),
    )
    return PhonemeChunk(words, Break.SENTENCE, None, (Break.WORD, kind, Break.WORD, Break.SENTENCE), pauses)


#                       ^  h  I  .  _  j  u  .  $
DURATIONS = np.array([10, 8, 8, 2, 2, 8, 8, 2, 4])
# Speech is heard three frames before the predicted ones; the mark and the space are its frames 23 to 27.
RUN_ON = np.concatenate((quiet(7), loud(36), quiet(9)))
SHORT_PAUSE = np.concatenate((quiet(7), loud(16), quiet(4), loud(16), quiet(9)))
LONG = np.array([10, 8, 8, 12, 8, 8, 8, 2, 4])
LONG_PAUSE = np.concatenate((quiet(7), loud(16), quiet(20), loud(16), quiet(9)))


def inner_silence(pcm):
    """Seconds of the longest silence between the first and the last sound."""
    sounding = np.flatnonzero(np.abs(pcm) > 0.5 * 10 ** (-36 / 20))
    return float(np.diff(sounding).max() - 1) / SAMPLE_RATE


@each_row("pcm", [RUN_ON, SHORT_PAUSE])
@each_row(("mark", "kind"), [(".", Break.SENTENCE), ("…", Break.SENTENCE), (":", Break.CLAUSE)])
def test_a_break_inside_a_chunk_is_as_long_as_at_a_seam(pcm, mark, kind):
    chunk = chunk_of(mark, kind)
    rendered = render(chunk, ModelOutput(pcm, DURATIONS), 1.0)
    seam = PhonemeChunk(chunk.words, kind).pause(1.0)
    assert inner_silence(rendered.pcm) == pytest.approx(seam, abs=0.025)


def test_words_move_with_the_silence_before_them():
    raw = render(chunk_of(".", Break.SENTENCE, pauses=PausePolicy(0, 0)), ModelOutput(RUN_ON, DURATIONS), 1.0)
    paused = render(chunk_of(".", Break.SENTENCE), ModelOutput(RUN_ON, DURATIONS), 1.0)
    added = len(paused.pcm) - len(raw.pcm)
    assert added == round(0.42 * SAMPLE_RATE)
    assert paused.words[0].samples.end - paused.trimmed <= 25 * FRAME_SAMPLES
    assert paused.words[1].samples.start >= raw.words[1].samples.start + added
    assert paused.words[1].samples.end == raw.words[1].samples.end + added
    for word in paused.words:
        assert (word.phonemes[0].start, word.phonemes[-1].end) == (word.samples.start, word.samples.end)
    heard = paused.pcm[paused.words[1].samples.start - paused.trimmed :][:240]
    assert np.abs(heard).max() > 0.2


def test_speed_shortens_the_pause_and_a_long_one_is_left_alone():
    chunk = chunk_of(".", Break.SENTENCE)
    assert inner_silence(render(chunk, ModelOutput(RUN_ON, DURATIONS), 2.0).pcm) == pytest.approx(0.21, abs=0.025)
    assert missing_pauses(chunk, LONG, pause_levels(LONG_PAUSE), 1.0, SAMPLE_RATE) == []


@each_row("kind", [Break.SENTENCE, Break.CLAUSE])
def test_zero_leaves_the_pauses_to_the_model(kind):
    chunk = chunk_of(".", kind, pauses=PausePolicy(0, 0))
    assert missing_pauses(chunk, DURATIONS, pause_levels(RUN_ON), 1.0, SAMPLE_RATE) == []
    assert chunk.pause(1.0) == 0.42


def test_a_comma_and_a_plain_word_get_no_silence():
    for kind in (Break.WORD, Break.PHRASE, Break.COMMA):
        assert missing_pauses(chunk_of(",", kind), DURATIONS, pause_levels(RUN_ON), 1.0, SAMPLE_RATE) == []


def test_the_closure_of_a_stop_is_not_taken_for_the_pause():
    # "hat": the closure of its t is silent for two frames, then comes the burst, and the next word right after it.
    pcm = np.concatenate((quiet(7), loud(14), quiet(2), loud(4), loud(16), quiet(9)))
    chunk = chunk_of(".", Break.SENTENCE, first="ht")
    (pause,) = missing_pauses(chunk, DURATIONS, pause_levels(pcm), 1.0, SAMPLE_RATE)
    assert pause.at >= 23 * FRAME_SAMPLES


def test_no_step_is_heard_where_silence_was_inserted():
    time = np.arange(36 * FRAME_SAMPLES) / SAMPLE_RATE
    tone = (0.5 * np.sin(2 * np.pi * 150 * time)).astype(np.float32)
    pcm = np.concatenate((quiet(7), tone, quiet(9)))
    rendered = render(chunk_of(".", Break.SENTENCE), ModelOutput(pcm, DURATIONS), 1.0)
    assert np.abs(np.diff(rendered.pcm)).max() <= 1.05 * np.abs(np.diff(tone)).max()


def test_chunks_know_their_breaks():
    def word(text, *, space=True):
        return SpokenWord(text, text, Span(0, 1), space)

    asked = Sentence((word("a", space=False), word("?", space=False), word("”"), word("b")), False)
    title = Sentence((word("c"),), True)
    last = Sentence((word("d", space=False), word(".")), False)
    (chunk,) = split_chunks(iter((asked, title, last)), ChunkPolicy(200, 2.0, 200))
    assert chunk.breaks[1] == Break.CLAUSE
    assert chunk.breaks[3] == Break.SENTENCE
    assert chunk.breaks[4] == Break.PARAGRAPH
