"""How high somebody speaks."""

import numpy as np
import pytest

from helpers.tables import each_row
from polyvox.audio.pitch import voiced_f0

RATE = 24_000


def buzz(hertz: float, seconds: float = 1.0) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    waves = [np.sin(2 * np.pi * hertz * number * time) / number for number in range(1, 12)]
    return (0.1 * np.sum(waves, axis=0)).astype(np.float32)


@each_row("hertz", [80, 125, 220, 350])
def test_the_pitch_of_a_buzz_is_found(hertz):
    pitches = voiced_f0(buzz(hertz), RATE)
    assert len(pitches) > 50
    assert np.median(pitches) == pytest.approx(hertz, rel=0.03)


def test_noise_and_silence_have_none():
    noise = 0.1 * np.random.default_rng(0).standard_normal(RATE).astype(np.float32)
    assert len(voiced_f0(noise, RATE)) < 5
    assert len(voiced_f0(np.zeros(RATE, np.float32), RATE)) == 0


def test_what_is_too_short_has_none():
    assert len(voiced_f0(buzz(100, 0.02), RATE)) == 0


def test_quiet_frames_do_not_count():
    quiet = np.concatenate((buzz(200), 0.01 * buzz(100)))
    assert np.percentile(voiced_f0(quiet, RATE), 5) == pytest.approx(200, rel=0.05)
