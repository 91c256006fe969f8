"""The two predictors of opinions against their originals.

`listeners.npz` holds what the packages speechmos 0.0.1.1 and distillmos 0.9.1 say of the recordings here: `short` is
the first of them, `long` is both of them, twice.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from helpers.tables import each_row
from polyvox.audio.decode import decode
from polyvox.bundles.validate import Bundle
from polyvox.errors import AudioDecodeError
from polyvox.evaluate import distillmos, dnsmos
from polyvox.evaluate.distillmos import DistillMos, compressed_spectrum
from polyvox.evaluate.dnsmos import DnsMos, p808_features
from polyvox.types import Pcm

TESTS = Path(__file__).parents[1]
RATE = 16_000


def recording(name: str) -> Pcm:
    data = (TESTS / "recordings" / f"librivox_{name}.flac").read_bytes()
    return decode(data, max_seconds=10, max_samples=10**6)[0]


SHORT = recording("a")
LONG = np.tile(np.concatenate((SHORT, recording("b"))), 2)


def golden(name: str) -> npt.NDArray[np.float32]:
    with np.load(TESTS / "golden" / "frontend" / "listeners.npz") as listeners:
        return listeners[name]


def test_p808_features_are_those_of_the_original():
    """Every 16th frame of the recording, repeated to nine seconds."""
    features = p808_features(np.tile(SHORT, 8)[:144_000])
    assert features.shape == (900, 120)
    np.testing.assert_allclose(features[::16], golden("p808_features"), atol=1e-4)


def test_p808_features_span_80_decibels_below_the_loudest():
    features = p808_features(SHORT)
    assert features.max() == 1.0
    assert features.min() == -1.0


@each_row(("seconds", "starts"), [(9.01, [0]), (10.9, [0]), (11.0, [0, 1]), (12.5, [0, 1, 2])])
def test_dnsmos_hears_nine_seconds_from_every_second_on(seconds, starts):
    pcm = np.arange(round(seconds * RATE), dtype=np.float32)
    found = list(dnsmos.windows(pcm))
    assert [window[0] for window in found] == [start * RATE for start in starts]
    assert {len(window) for window in found} == {144_160}


def test_a_short_recording_is_doubled_for_dnsmos_until_it_fills_a_window():
    found = list(dnsmos.windows(SHORT))
    assert len(found) == 2
    np.testing.assert_array_equal(found[0], np.tile(SHORT, 4)[:144_160])
    np.testing.assert_array_equal(found[1], np.tile(SHORT, 4)[RATE : RATE + 144_160])


@each_row(
    ("samples", "starts"),
    [(8_000, [0]), (122_880, [0]), (122_881, [0, 1]), (138_880, [0, 16_000]), (140_880, [0, 9_000, 18_000])],
)
def test_distillmos_hears_windows_at_most_a_second_apart(samples, starts):
    pcm = np.arange(1, samples + 1, dtype=np.float32)
    found = list(distillmos.windows(pcm))
    assert [int(window[0]) - 1 for window in found] == starts
    assert {len(window) for window in found} == {122_880}


def test_the_spectrum_is_compressed_and_does_not_depend_on_loudness():
    pcm = np.pad(SHORT, (0, 122_880 - len(SHORT)))
    spectrum = compressed_spectrum(pcm)
    assert spectrum.shape == (2, 161, 768)
    assert spectrum.dtype == np.float32
    np.testing.assert_allclose(compressed_spectrum(pcm * np.float32(0.1)), spectrum, atol=2e-3)
    frame = pcm[16_000 - 160 + 80 : 16_000 + 160 + 80] / np.abs(pcm).max()
    line = np.fft.rfft(frame * np.hanning(321)[:-1])[20]
    np.testing.assert_allclose(np.hypot(*spectrum[:, 20, 100]), np.abs(line) ** 0.3, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pcm"), [("short", SHORT), ("long", LONG)])
def test_dnsmos_says_what_the_original_says(installed: Callable[[str], Bundle], name, pcm):
    scores = DnsMos(installed("dnsmos")).score(pcm, RATE)
    said = (scores.p808, scores.signal, scores.background, scores.overall)
    np.testing.assert_allclose(said, golden(f"dnsmos_{name}"), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pcm"), [("short", SHORT), ("long", LONG)])
def test_distillmos_says_what_the_original_says(installed: Callable[[str], Bundle], name, pcm):
    assert DistillMos(installed("distillmos")).score(pcm, RATE) == pytest.approx(golden(f"distillmos_{name}"), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("judge", [DnsMos, DistillMos])
def test_noise_is_heard_and_silence_refused(installed: Callable[[str], Bundle], judge):
    heard = judge(installed(judge.__name__.lower()))
    noisy = SHORT + 0.1 * np.random.default_rng(0).standard_normal(len(SHORT)).astype(np.float32)
    score = heard.score(noisy, RATE)
    if judge is DnsMos:
        assert score.overall < golden("dnsmos_short")[3] - 0.5
    else:
        assert score < golden("distillmos_short") - 0.5
    with pytest.raises(AudioDecodeError, match="silent"):
        heard.score(np.zeros(RATE, np.float32), RATE)
