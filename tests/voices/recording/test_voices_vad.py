from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import soxr
from hypothesis import given
from hypothesis import strategies as st

from helpers.kokoro_recordings import spoken
from helpers.vowels import vowels
from polyvox.types import Pcm, Span
from polyvox.voices.recording import vad
from polyvox.voices.recording.vad import SAMPLE_RATE, WINDOW, SileroVad, speech_segments

YES, MAYBE, NO = 0.9, 0.4, 0.1


def test_a_segment_takes_in_the_windows_beside_it() -> None:
    assert speech_segments([NO] * 10 + [YES] * 20 + [NO] * 10) == [Span(9, 31)]


def test_a_segment_keeps_within_the_recording() -> None:
    assert speech_segments([YES] * 20) == [Span(0, 20)]


def test_speech_goes_on_while_it_is_in_doubt() -> None:
    assert speech_segments([NO] * 10 + [YES] * 10 + [MAYBE] * 30 + [NO] * 10) == [Span(9, 51)]
    assert speech_segments([MAYBE] * 50) == []


def test_short_pauses_are_bridged_and_long_ones_not() -> None:
    assert speech_segments([YES] * 10 + [NO] * 2 + [YES] * 10) == [Span(0, 22)]
    assert speech_segments([YES] * 10 + [NO] * 20 + [YES] * 10) == [Span(0, 11), Span(29, 40)]


def test_a_click_is_not_speech() -> None:
    assert speech_segments([NO] * 20 + [YES] * 5 + [NO] * 20) == []


@given(st.lists(st.floats(0.0, 1.0), max_size=300))
def test_segments_are_in_order_and_do_not_overlap(probabilities: list[float]) -> None:
    found = speech_segments(probabilities)
    edges = [edge for stretch in found for edge in (stretch.start, stretch.end)]
    assert edges == sorted(edges)
    assert all(len(stretch) >= 8 for stretch in found)
    assert all(0 <= edge <= len(probabilities) for edge in edges)


@pytest.fixture(scope="session")
def sentence() -> Pcm:
    """Speech at 24 kHz."""
    return spoken("fox")


def edges_of_sound(pcm: Pcm) -> tuple[int, int]:
    heard = np.flatnonzero(np.abs(pcm) > 0.05)
    return int(heard[0]), int(heard[-1])


@pytest.mark.slow
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
def test_a_sentence_is_found_where_it_is_at_any_rate(detector: SileroVad, sentence: Pcm, rate: int) -> None:
    quiet = np.zeros(2 * rate, np.float32)
    pcm = np.concatenate((quiet, soxr.resample(sentence, 24_000, rate), quiet))
    spans = detector.speech(pcm, rate)
    first, last = edges_of_sound(pcm)
    assert spans[0].start / rate == pytest.approx(first / rate, abs=0.15)
    assert spans[-1].end / rate == pytest.approx(last / rate, abs=0.25)


@pytest.mark.slow
def test_each_of_two_sentences_is_found(detector: SileroVad, sentence: Pcm) -> None:
    quiet = np.zeros(2 * 24_000, np.float32)
    spans = detector.speech(np.concatenate((sentence, quiet, sentence)), 24_000)
    assert any(span.end < len(sentence) + 24_000 for span in spans)
    assert any(span.start > len(sentence) + 24_000 for span in spans)


@pytest.mark.slow
@pytest.mark.parametrize("pitch", [100.0, 120.0, 160.0, 210.0])
def test_the_vowels_of_these_tests_pass_for_speech(detector: SileroVad, pitch: float) -> None:
    spans = detector.speech(vowels(3.0, 24_000, pitch=pitch), 24_000)
    assert sum(map(len, spans)) > 2.5 * 24_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "pcm",
    [
        np.zeros(0, np.float32),
        np.zeros(1, np.float32),
        np.zeros(3 * SAMPLE_RATE, np.float32),
        np.random.default_rng(0).uniform(-0.3, 0.3, 3 * SAMPLE_RATE).astype(np.float32),
        (0.5 * np.sin(np.arange(3 * SAMPLE_RATE) * 0.2)).astype(np.float32),
    ],
    ids=["nothing", "one sample", "silence", "hiss", "tone"],
)
def test_what_is_not_speech_is_not_taken_for_it(detector: SileroVad, pcm: Pcm) -> None:
    assert detector.speech(pcm, SAMPLE_RATE) == []


@pytest.mark.slow
def test_a_recording_is_judged_as_one_however_it_is_cut_into_blocks(
    detector: SileroVad, monkeypatch: pytest.MonkeyPatch
) -> None:
    pcm = vowels(3.0, SAMPLE_RATE)
    whole = detector.probabilities(pcm)
    assert len(whole) == -(-len(pcm) // WINDOW)
    monkeypatch.setattr(vad, "_WINDOWS_AT_ONCE", 7)
    np.testing.assert_allclose(detector.probabilities(pcm), whole, atol=1e-5)


@pytest.mark.slow
def test_calls_from_several_threads_do_not_disturb_each_other(detector: SileroVad) -> None:
    pcm = vowels(3.0, 24_000)
    alone = detector.speech(pcm, 24_000)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: detector.speech(pcm, 24_000), range(6))) == [alone] * 6
