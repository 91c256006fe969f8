import numpy as np

from polyvox.audio.edges import speech_span, with_faded_edges

RATE = 24_000


def tone(seconds, level=0.5):
    return (level * np.sin(2 * np.pi * 220 * np.arange(int(seconds * RATE)) / RATE)).astype(np.float32)


def test_speech_is_found_between_silences_to_within_one_window():
    pcm = np.concatenate((np.zeros(2400, np.float32), tone(0.5), np.zeros(4800, np.float32)))
    span = speech_span(pcm, RATE)
    assert abs(span.start - 2400) <= 120
    assert abs(span.end - 14_400) <= 120


def test_silence_and_nothing_have_no_speech():
    assert len(speech_span(np.zeros(5000, np.float32), RATE)) == 0
    assert len(speech_span(np.zeros(0, np.float32), RATE)) == 0


def test_faded_edges_start_and_end_at_zero_and_leave_the_middle_alone():
    pcm = tone(0.2)
    faded = with_faded_edges(pcm, 120, 120)
    assert abs(faded[0]) < 1e-3
    assert abs(faded[-1]) < 1e-3
    np.testing.assert_array_equal(faded[120:-120], pcm[120:-120])
    assert with_faded_edges(pcm[:10], 120, 120).shape == (10,)
