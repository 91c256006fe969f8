"""Turns in sound that arrives in pieces."""

import numpy as np
import pytest

from helpers.listening import SPEECH
from polyvox.audio.companding import alaw, from_alaw, from_mulaw, mulaw
from polyvox.audio.decode import decode
from polyvox.audio.resample import resampled
from polyvox.service.listening.arriving_audio import ArrivingAudio, SpeechStarted, SpeechStopped
from polyvox.service.listening.turn_detector import TurnChange, TurnDetection, TurnDetector
from polyvox.voices.recording.vad import WINDOW, SileroVad, VadState

RATE = 24_000
LONG = 600 * 16_000


@pytest.fixture(scope="module")
def vad():
    return SileroVad()


@pytest.fixture(scope="module")
def spoken():
    pcm, rate = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    return resampled(pcm, rate, RATE)


def quiet(seconds):
    return np.zeros(round(seconds * RATE), np.float32)


def events(vad, pcm, piece, detection=TurnDetection(), longest=LONG):
    audio = ArrivingAudio(RATE, detection, longest)
    found = [event for start in range(0, len(pcm), piece) for event in audio.push(pcm[start : start + piece], vad)]
    return found, audio


def test_a_stream_has_the_probabilities_of_the_whole(vad, spoken):
    pcm = resampled(spoken, RATE, 16_000)
    pcm = pcm[: len(pcm) // WINDOW * WINDOW]
    state, parts = VadState.start(), []
    for start in range(0, len(pcm), 3 * WINDOW):
        part, state = vad.advance(pcm[start : start + 3 * WINDOW], state)
        parts.append(part)
    np.testing.assert_allclose(np.concatenate(parts), vad.probabilities(pcm), atol=1e-5)


def test_a_turn_begins_after_three_windows_of_speech_and_ends_after_the_silence():
    detector = TurnDetector(TurnDetection(silence_seconds=0.064))
    rows = [(0.9, None), (0.9, None), (0.2, None), (0.5, None), (0.6, None), (0.5, TurnChange.STARTED)]
    rows += [(0.36, None), (0.1, None), (0.4, None), (0.1, None), (0.2, TurnChange.STOPPED), (0.1, None)]
    for probability, change in rows:
        assert detector.step(probability) is change


def test_turns_do_not_depend_on_the_pieces_that_sound_comes_in(vad, spoken):
    pcm = np.concatenate([quiet(1), spoken, quiet(1.5), spoken, quiet(1)])
    whole, _ = events(vad, pcm, len(pcm))
    assert [type(event) for event in whole] == [SpeechStarted, SpeechStopped] * 2
    for piece in (480, 2_400, 7_777):
        assert events(vad, pcm, piece)[0] == whole
    started, stopped = whole[:2]
    assert 0.6 * 16_000 < started.start < 1.2 * 16_000
    assert len(stopped.turn) == 2 * (stopped.end - started.start)


def test_a_minute_of_silence_keeps_no_more_than_a_prefix(vad):
    audio = ArrivingAudio(RATE, TurnDetection(), LONG)
    for _ in range(60):
        assert audio.push(quiet(1), vad) == []
        assert audio.length <= 0.3 * 16_000 + 4 * WINDOW
    assert audio.end > 59 * 16_000


def test_a_turn_without_end_is_cut_at_the_limit(vad, spoken):
    found, _ = events(vad, np.tile(spoken, 3), 2_400, TurnDetection(silence_seconds=5), longest=2 * 16_000)
    stopped = [event for event in found if isinstance(event, SpeechStopped)]
    assert len(stopped) >= 3
    assert all(len(event.turn) <= 2 * (2 * 16_000 + WINDOW) for event in stopped)


def test_without_detection_all_is_kept_until_it_is_taken(vad, spoken):
    found, audio = events(vad, spoken, 480, None)
    assert found == []
    taken = audio.take()
    assert abs(len(taken) // 2 - len(spoken) * 2 / 3) <= 1
    assert (audio.length, audio.take()) == (0, b"")


def test_a_new_rate_and_other_wishes_hold_for_what_comes_then(vad, spoken):
    audio = ArrivingAudio(RATE, None, LONG)
    audio.push(spoken, vad)
    audio.reconfigure(8_000, TurnDetection())
    found = audio.push(np.concatenate([resampled(spoken, RATE, 8_000), np.zeros(16_000, np.float32)]), vad)
    assert [type(event) for event in found] == [SpeechStarted, SpeechStopped]
    assert found[0].start > len(spoken) / RATE * 16_000 - 0.5 * 16_000


def test_g711_comes_back_as_it_went():
    codes = bytes(range(256))
    for there, back in ((mulaw, from_mulaw), (alaw, from_alaw)):
        pcm = back(codes)
        again = there(pcm)
        same = sum(one == other for one, other in zip(again, codes, strict=True))
        assert same >= 255, there  # mu-law has two codes for zero
        wave = np.sin(np.arange(800) / 7).astype(np.float32) * 0.5
        np.testing.assert_allclose(back(there(wave)), wave, atol=0.02)
