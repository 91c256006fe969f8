"""The plan of an opening joined with the plan of the whole."""

import numpy as np

from polyvox.engines.kokoro.wren.joining import fade_over, join_plans, seam_of
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.types import Span


def plan(durations, level):
    frames = sum(durations)
    curve = np.full(2 * frames, level, np.float32)
    return UtterancePlan(np.full((3, frames), level, np.float32), curve, curve / 100, np.zeros(2), np.array(durations))


OPENING, WHOLE = plan([4, 5, 6, 7, 3], 100.0), plan([4, 6, 6, 9, 9, 2], 200.0)


def test_a_joined_plan_is_the_opening_and_then_the_whole():
    joined = join_plans(OPENING, WHOLE, 2)
    assert joined.durations.tolist() == [4, 5, 6, 9, 9, 2]
    frames = joined.durations.sum()
    assert joined.text.shape == (3, frames)
    assert joined.pitch.shape == joined.energy.shape == (2 * frames,)
    assert (joined.text[0] == [100.0] * 15 + [200.0] * 20).all()
    assert (joined.pitch[: seam_of(OPENING, 2).end] == 100).all()
    assert (joined.pitch[30:] == 200).all()


def test_pitch_and_energy_go_over_without_a_jump():
    joined = join_plans(OPENING, WHOLE, 2)
    assert (np.diff(joined.pitch) >= 0).all()
    assert np.diff(joined.pitch).max() < 15
    assert np.diff(joined.energy).max() < 0.15


def test_a_frame_without_a_voice_in_either_plan_gets_no_pitch_between():
    silent = plan([4, 6, 6, 9, 9, 2], 0.0)
    for opening, whole in ((OPENING, silent), (plan([4, 5, 6, 7, 3], 0.0), WHOLE)):
        assert set(np.unique(join_plans(opening, whole, 2).pitch)) <= {0.0, 100.0, 200.0}


def test_samples_of_the_same_sound_pass_the_seam_unchanged():
    sound = np.sin(np.arange(9_000) / 9).astype(np.float32)
    seam = Span(20, 22)
    np.testing.assert_allclose(fade_over(sound[: 22 * 300], sound, seam), sound[20 * 300 :], atol=1e-6)


def test_the_seam_lies_before_the_frames_that_the_whole_changes():
    seam = seam_of(OPENING, 2)
    assert seam.start < seam.end < 30
    assert (join_plans(OPENING, WHOLE, 2).energy[: seam.end] == 1.0).all()
