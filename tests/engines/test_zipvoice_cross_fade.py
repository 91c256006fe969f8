"""Cross-fades between chunks: the original's, and nothing lost but the overlap."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from polyvox.engines.zipvoice.cross_fade import CrossFade

RECORDED = dict(np.load(Path(__file__).parents[1] / "golden" / "zipvoice_frontend" / "dsp.npz"))
WAV = RECORDED["wav"][0]


def test_cross_fades_are_the_originals() -> None:
    fade = CrossFade(2400)
    joined = np.concatenate((fade.push(WAV[9000:15000], last=False), fade.push(WAV[15000:21000], last=True)))
    np.testing.assert_allclose(joined, RECORDED["crossfaded"][0], atol=1e-6)


def test_chunks_overlap_linearly() -> None:
    fade = CrossFade(4)
    first = fade.push(np.ones(10, np.float32), last=False)
    second = fade.push(np.zeros(10, np.float32), last=True)
    np.testing.assert_array_equal(first, np.ones(6))
    np.testing.assert_allclose(second[:4], np.linspace(1, 0, 4))
    assert len(second) == 10


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(1, 2))
def test_only_the_overlap_is_lost(lengths: list[int], channels: int) -> None:
    fade = CrossFade(4)
    shape = () if channels == 1 else (channels,)
    parts = [
        fade.push(np.ones((length, *shape), np.float32), last=index == len(lengths) - 1)
        for index, length in enumerate(lengths)
    ]
    joined = np.concatenate(parts)
    np.testing.assert_allclose(joined, 1.0, atol=1e-6)
    assert sum(lengths) - 4 * (len(lengths) - 1) <= len(joined) <= sum(lengths)
