"""The ledger of one utterance's chunks."""

import time

import numpy as np

from polyvox.engines.kit.progress import ChunkLedger
from polyvox.types import ChunkPolicy, Span, WordTiming

POLICY = ChunkPolicy(first=32, growth=2.0, maximum=200)


def pcm(samples):
    return np.zeros(samples, np.float32)


def test_chunks_are_numbered_and_follow_each_other():
    ledger = ChunkLedger(24_000, POLICY)
    first = ledger.chunk(pcm(100), tokens=5, frames=3)
    second = ledger.chunk(pcm(50), tokens=2, frames=4)
    assert [(chunk.index, chunk.start, chunk.end) for chunk in (first, second)] == [(0, 0, 100), (1, 100, 150)]
    assert [chunk.tokens for chunk in (first, second)] == [Span(0, 5), Span(5, 7)]
    assert [chunk.frames for chunk in (first, second)] == [Span(0, 3), Span(3, 7)]
    assert (ledger.index, ledger.samples, ledger.tokens, ledger.frames) == (2, 150, 7, 7)


def test_a_chunk_has_all_that_it_was_given():
    words = (WordTiming("Hi", 0.0, 0.1, Span(0, 2)),)
    chunk = ChunkLedger(24_000, POLICY).chunk(
        pcm(10), text="Hi", span=Span(0, 2), words=words, wall_seconds=1.5, device_seconds=0.5
    )
    assert (chunk.text, chunk.span, chunk.words) == ("Hi", Span(0, 2), words)
    assert (chunk.wall_seconds, chunk.device_seconds) == (1.5, 0.5)
    assert (chunk.sample_rate, chunk.policy, chunk.frames) == (24_000, POLICY, None)


def test_wall_time_runs_from_the_chunk_before(monkeypatch):
    now = [10.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    ledger = ChunkLedger(24_000, None)
    now[0] = 10.5
    assert ledger.chunk(pcm(1)).wall_seconds == 0.5
    now[0] = 12.5
    assert ledger.chunk(pcm(1)).wall_seconds == 2.0
