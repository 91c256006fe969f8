"""A chunk rendered piece by piece against the same chunk rendered whole."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.tables import each_row
from polyvox.engines.kokoro.chunking import Break, PausePolicy, PhonemeChunk
from polyvox.engines.kokoro.render import render
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.engines.kokoro.timing import FRAME_SAMPLES
from polyvox.engines.kokoro.wren.rendering import StreamRenderer
from polyvox.text.spoken import SpokenWord
from polyvox.types import Span

#                       ^  h  I  .  _  j  u  .  $
DURATIONS = np.array([10, 8, 8, 2, 2, 8, 8, 2, 4])
LONG = np.array([10, 8, 8, 12, 8, 8, 8, 2, 4])
SIZES = (450, 2_500, 7_001, 40_000)


def loud(frames, level=0.5):
    return np.where(np.arange(frames * FRAME_SAMPLES) % 50 < 25, level, -level).astype(np.float32)


def quiet(frames):
    return np.zeros(frames * FRAME_SAMPLES, np.float32)


def chunk_of(kind, first="hI", pauses=PausePolicy()):
    words = (
        SpokenWord("Hi", first, Span(0, 2), False),
        SpokenWord(".", ".", Span(2, 3), True),
        SpokenWord("you", "ju", Span(4, 7), False),
        SpokenWord(".", ".", Span(7, 8), True),
    )
    return PhonemeChunk(words, Break.SENTENCE, None, (Break.WORD, kind, Break.WORD, Break.SENTENCE), pauses)


SIGNALS = {
    "run-on": (np.concatenate((quiet(7), loud(36), quiet(9))), DURATIONS),
    "short pause": (np.concatenate((quiet(7), loud(16), quiet(4), loud(16), quiet(9))), DURATIONS),
    "long pause": (np.concatenate((quiet(7), loud(16), quiet(20), loud(16), quiet(9))), LONG),
    "no silence": (loud(52), DURATIONS),
    "silence": (quiet(52), DURATIONS),
    "faint": (loud(52, 1e-3), DURATIONS),
}


def pieces_of(request, pcm, durations, size):
    renderer = StreamRenderer(request, durations)
    pieces = (renderer.push(pcm[start : start + size]) for start in range(0, len(pcm), size))
    return [piece for piece in pieces if piece is not None]


@pytest.mark.long
@each_row("gain", [None, 0.7, 2.6])
@each_row("kind", [Break.SENTENCE, Break.CLAUSE, Break.COMMA])
@each_row("name", SIGNALS)
def test_pieces_are_the_whole_chunk(name, kind, gain):
    pcm, durations = SIGNALS[name]
    chunk = chunk_of(kind)
    request = SynthesisRequest(chunk, ModelInput((1,) * 7, np.zeros(1, np.float32), 1.0), gain)
    whole = render(chunk, ModelOutput(pcm, durations), 1.0, gain)
    for size in SIZES:
        pieces = pieces_of(request, pcm, durations, size)
        joined = np.concatenate([piece.pcm for piece in pieces])
        assert len(joined) == len(whole.pcm)
        np.testing.assert_allclose(joined, whole.pcm, atol=1e-6)
        assert [word for piece in pieces for word in piece.words] == list(whole.words)


def test_words_keep_their_place_and_come_with_the_piece_that_ends_them():
    pcm, durations = SIGNALS["short pause"]
    request = SynthesisRequest(chunk_of(Break.SENTENCE), ModelInput((1,) * 7, np.zeros(1, np.float32), 1.0))
    whole = render(request.chunk, ModelOutput(pcm, durations), 1.0)
    sent = 0
    for piece in pieces_of(request, pcm, durations, 1_200):
        # Where the chunk's first raw sample would stand, as its words are counted from there.
        assert piece.trimmed - sent == whole.trimmed
        sent += len(piece.pcm)
        assert all(word.samples.end - whole.trimmed <= sent for word in piece.words)
        assert piece.words


def test_a_word_is_given_away_before_the_chunk_ends():
    pcm, durations = SIGNALS["run-on"]
    request = SynthesisRequest(chunk_of(Break.COMMA), ModelInput((1,) * 7, np.zeros(1, np.float32), 1.0), gain=1.0)
    renderer = StreamRenderer(request, durations)
    assert renderer.push(pcm[: 6 * FRAME_SAMPLES]) is None
    assert renderer.push(pcm[6 * FRAME_SAMPLES : 20 * FRAME_SAMPLES]) is None
    first = renderer.push(pcm[20 * FRAME_SAMPLES : 30 * FRAME_SAMPLES])
    assert first is not None
    assert [word.span for word in first.words] == [Span(0, 2)]
    # From 30 ms before the speech to the next word, all but what the limiter holds.
    assert renderer.cuts == [26 * FRAME_SAMPLES]
    assert len(first.pcm) == pytest.approx(19 * FRAME_SAMPLES + 720, abs=200)


def test_a_slower_voice_has_longer_pauses():
    pcm, durations = SIGNALS["run-on"]
    request = SynthesisRequest(chunk_of(Break.SENTENCE), ModelInput((1,) * 7, np.zeros(1, np.float32), 1.0))
    slower = replace(request, input=replace(request.input, speed=0.5))
    usual, slow = (
        sum(len(piece.pcm) for piece in pieces_of(each, pcm, durations, 3_000)) for each in (request, slower)
    )
    assert slow - usual == pytest.approx(2 * 0.42 * 24_000, abs=2_000)
