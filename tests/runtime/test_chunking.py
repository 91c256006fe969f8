from polyvox.runtime.chunking import ChunkPolicy


def test_chunks_start_small_and_grow_with_what_was_said_before():
    policy = ChunkPolicy(first=32, growth=2.0, maximum=200)
    sizes = [policy.size(None)]
    for _ in range(4):
        sizes.append(policy.size(sizes[-1]))
    assert sizes == [32, 64, 128, 200, 200]


def test_a_chunk_is_never_shorter_than_the_first_aim():
    assert ChunkPolicy(first=32, growth=2.0, maximum=200).size(5) == 32
