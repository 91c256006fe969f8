import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.audio_signals import pieces, tone, voice
from helpers.examples import examples
from helpers.tables import each_row
from polyvox.audio.stretch import StreamTempo
from polyvox.errors import InvalidRequestError
from polyvox.types import Pcm

SPEEDS = [0.25, 0.4, 0.5, 0.8, 1.1, 1.5, 2.0, 2.7, 4.0]


def stretched(pcm: Pcm, speed: float, rate: int, piece: int = 480) -> Pcm:
    tempo = StreamTempo(speed, rate, pcm.ndim)
    return np.concatenate([*(tempo.push(part) for part in pieces(pcm, piece)), tempo.finish()])


def loudest_hertz(pcm: Pcm, rate: int) -> float:
    size = 1 << 19
    return float(np.argmax(np.abs(np.fft.rfft(pcm * np.hanning(len(pcm)), size)))) * rate / size


@pytest.mark.long
@each_row("rate", [8_000, 24_000, 44_100])
@each_row("speed", SPEEDS)
def test_the_pitch_of_a_tone_stays_within_one_percent(speed: float, rate: int) -> None:
    heard = stretched(tone(1.5, rate, 440), speed, rate)
    assert loudest_hertz(heard[len(heard) // 5 : -len(heard) // 5], rate) == pytest.approx(440, rel=0.01)


@given(st.floats(0.25, 4.0), st.integers(0, 6_000), st.sampled_from([4_000, 8_000, 24_000, 48_000]))
@examples(40)
def test_the_length_is_exactly_the_inputs_divided_by_the_speed(speed: float, length: int, rate: int) -> None:
    pcm = voice(length / rate, rate)
    assert len(stretched(pcm, speed, rate)) == round(len(pcm) / speed)


@pytest.mark.long
@each_row("speed", [0.3, 0.8, 1.7, 3.0])
def test_the_output_does_not_depend_on_how_the_input_was_cut(speed: float) -> None:
    pcm = voice(0.5, 24_000)
    whole = stretched(pcm, speed, 24_000, len(pcm))
    np.testing.assert_array_equal(stretched(pcm, speed, 24_000, 1), whole)
    np.testing.assert_array_equal(stretched(pcm, speed, 24_000, 3_331), whole)


@each_row("speed", SPEEDS)
def test_a_sound_is_heard_when_it_is_due_and_the_last_is_not_lost(speed: float) -> None:
    rate, length = 24_000, 1_200
    starts = [0.3, 0.8, 1.4, 1.9]
    pcm = np.zeros(2 * rate, np.float32)
    for start in starts:
        pcm[round(start * rate) :][:length] = tone(0.05, rate, 500) * np.hanning(length)
    energy = stretched(pcm, speed, rate) ** 2
    for start in starts:
        centre = (start + 0.025) / speed
        near = np.arange(round((centre - 0.09 / speed) * rate), min(round((centre + 0.09 / speed) * rate), len(energy)))
        heard = np.sum(near * energy[near]) / np.sum(energy[near]) / rate
        assert heard == pytest.approx(centre, abs=0.015 + 0.005 / speed)


@each_row("speed", [0.5, 2.0])
def test_speech_keeps_its_level(speed: float) -> None:
    pcm = voice(1.0, 24_000)
    level = np.sqrt(np.mean(stretched(pcm, speed, 24_000) ** 2) / np.mean(pcm**2))
    assert level == pytest.approx(1, abs=0.1)


def test_stereo_comes_out_as_stereo() -> None:
    left, silent = voice(0.5, 24_000), np.zeros(12_000, np.float32)
    both = stretched(np.stack([left, silent], axis=1), 1.5, 24_000)
    assert both.shape == (8_000, 2)
    assert np.abs(both[:, 0]).max() > 0.3
    assert not both[:, 1].any()


def test_speed_one_changes_nothing_and_holds_nothing_back() -> None:
    pcm = voice(0.1, 24_000)
    tempo = StreamTempo(1.0, 24_000)
    assert tempo.push(pcm) is pcm
    assert len(tempo.finish()) == 0


@each_row("speed", [0.0, -1.0, 0.249, 4.01, float("nan"), float("inf")])
def test_speeds_out_of_range_are_refused_by_name(speed: float) -> None:
    with pytest.raises(InvalidRequestError, match=r"0\.25 and 4\.0") as caught:
        StreamTempo(speed, 24_000)
    assert caught.value.field == "speed"
