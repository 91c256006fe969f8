"""How an utterance is cut for streaming."""

from dataclasses import replace

import numpy as np

from polyvox.types import AudioChunk, ChunkPolicy


def test_chunks_start_small_and_grow_with_what_was_said_before():
    policy = ChunkPolicy(first=32, growth=2.0, maximum=200)
    sizes = [policy.size(None)]
    for _ in range(4):
        sizes.append(policy.size(sizes[-1]))
    assert sizes == [32, 64, 128, 200, 200]


def test_a_chunk_is_never_shorter_than_the_first_aim():
    assert ChunkPolicy(first=32, growth=2.0, maximum=200).size(5) == 32


def test_the_policy_goes_with_every_chunk_that_was_cut_by_it():
    policy = ChunkPolicy(first=32, growth=2.0, maximum=200)
    chunk = AudioChunk(np.zeros(240, np.float32), 24_000, index=0, start=0, policy=policy)
    assert replace(chunk, start=240).policy is policy
