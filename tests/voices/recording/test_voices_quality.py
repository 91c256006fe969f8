import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from helpers.vowels import vowels
from polyvox.types import Pcm, Span
from polyvox.voices.recording.quality import assess, clipped_ratio, noise_power

RATE = 24_000
SPEECH = [Span(RATE, 4 * RATE)]
QUIET = np.zeros(RATE, np.float32)


def between_silence(speech: Pcm) -> Pcm:
    return np.concatenate((QUIET, speech, QUIET))


def with_noise(decibels: float) -> Pcm:
    """Speech so many decibels above steady noise."""
    speech = vowels(3.0, RATE)
    noise = np.random.default_rng(1).standard_normal(5 * RATE)
    level = np.sqrt(np.square(speech).mean()) * 10 ** (-decibels / 20)
    return (between_silence(speech) + level * noise).astype(np.float32)


def test_clean_speech_is_worth_all() -> None:
    report = assess(between_silence(vowels(3.0, RATE)), RATE, SPEECH)
    assert (report.duration, report.speech_seconds, report.speech_ratio) == (5.0, 3.0, 0.6)
    assert report.snr_db > 25
    assert report.level_dbfs == pytest.approx(10 * np.log10(np.square(vowels(3.0, RATE)).mean()), abs=0.2)
    assert (report.clipped_ratio, report.score, report.warnings) == (0.0, 1.0, ())


def test_a_report_is_json() -> None:
    report = assess(with_noise(12.0), RATE, SPEECH)
    assert json.loads(json.dumps(asdict(report)))["snr_db"] == report.snr_db


@each_row("decibels", [0.0, 5.0, 10.0, 20.0, 30.0])
def test_the_noise_is_measured_where_nobody_speaks(decibels: float) -> None:
    assert assess(with_noise(decibels), RATE, SPEECH).snr_db == pytest.approx(decibels, abs=1.0)


def test_silence_from_an_editor_does_not_hide_the_noise() -> None:
    noisy = with_noise(10.0)
    noisy[:RATE] = noisy[4 * RATE :] = 0.0
    assert assess(noisy, RATE, SPEECH).snr_db == pytest.approx(10.0, abs=3.0)


def test_noise_is_measured_without_any_pause_around_the_speech() -> None:
    assert assess(with_noise(10.0)[RATE : 4 * RATE], RATE, [Span(0, 3 * RATE)]).snr_db == pytest.approx(10.0, abs=3.0)


def test_what_was_measured_before_the_ends_were_cut_counts() -> None:
    cut = with_noise(30.0)[RATE : 4 * RATE]
    noise = noise_power(with_noise(20.0), RATE, SPEECH)
    report = assess(cut, RATE, [Span(0, len(cut))], noise=noise, clipped=0.02)
    assert report.snr_db == pytest.approx(20.0, abs=1.0)
    assert report.clipped_ratio == 0.02


def test_the_score_falls_with_the_noise() -> None:
    scores = [assess(with_noise(decibels), RATE, SPEECH).score for decibels in (30, 20, 10, 5, 0)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert scores[-1] < 0.1


def test_one_bad_aspect_is_not_outweighed_by_the_others() -> None:
    clipped = np.clip(between_silence(vowels(3.0, RATE)) * 30, -1.0, 1.0)
    report = assess(clipped, RATE, SPEECH)
    assert report.score == 0.0
    assert any("Clipping" in warning for warning in report.warnings)


@each_row(
    ("pcm", "speech", "complaint"),
    [
        (with_noise(8.0), SPEECH, "8 dB above the noise"),
        (between_silence(vowels(3.0, RATE)) * np.float32(0.1), SPEECH, "quiet, at -4"),
        (between_silence(vowels(3.0, RATE)), [Span(RATE, RATE + RATE // 2)], "Only 10% of the recording is speech"),
    ],
)
def test_a_warning_says_what_is_wrong_and_what_helps(pcm: Pcm, speech: list[Span], complaint: str) -> None:
    report = assess(pcm, RATE, speech)
    assert report.score < 0.9
    assert any(complaint in warning and warning.endswith(".") for warning in report.warnings)


@each_row("gain", [1.0, 0.5, 0.1])
@each_row("excess", [1.5, 3.0])
def test_clipping_is_found_also_after_the_level_was_turned_down(gain: float, excess: float) -> None:
    speech = vowels(3.0, RATE)
    loud = speech / np.abs(speech).max() * excess
    ratio = clipped_ratio((np.clip(loud, -1.0, 1.0) * gain).astype(np.float32))
    assert ratio == pytest.approx((np.abs(loud) >= 1.0).mean(), rel=0.5)
    assert clipped_ratio(speech) < 1e-4


def test_each_channel_is_searched_for_clipping() -> None:
    clean = vowels(3.0, RATE)
    clipped = np.clip(clean * 10, -0.5, 0.5)
    both = clipped_ratio(np.stack((clean, clipped), axis=1))
    assert both == pytest.approx(clipped_ratio(clipped) / 2, rel=0.01)


@each_row("samples", [0, 1, 5, 479, RATE])
def test_silence_of_any_length_is_worth_nothing(samples: int) -> None:
    report = assess(np.zeros(samples, np.float32), RATE, [])
    assert (report.score, report.clipped_ratio, report.speech_ratio) == (0.0, 0.0, 0.0)


@given(
    st.integers(0, 5_000), st.floats(0.0, 1.0), st.lists(st.integers(0, 5_000), max_size=6), st.integers(4_000, 48_000)
)
def test_every_report_is_finite_and_within_its_bounds(samples: int, level: float, cuts: list[int], rate: int) -> None:
    pcm = np.random.default_rng(samples).uniform(-level, level, samples).astype(np.float32)
    edges = sorted({min(cut, samples) for cut in cuts})
    speech = [Span(start, end) for start, end in zip(edges[::2], edges[1::2], strict=False)]
    report = assess(pcm, rate, speech)
    assert np.isfinite([report.duration, report.snr_db, report.level_dbfs]).all()
    assert 0 <= report.score <= 1
    assert 0 <= report.speech_ratio <= 1
    assert 0 <= report.clipped_ratio <= 1
