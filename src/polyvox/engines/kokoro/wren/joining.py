"""A chunk that is planned twice: its opening, so that it is heard soon, and then the whole of it.

The plans meet between two words, and the samples a little before that. Nothing is heard there: both plans know the
words on either side, the pitch goes on in phase, and the noise is the same.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.engines.kokoro.wren.source import HOP, VOICED_ABOVE_HZ
from polyvox.types import Pcm, Span

_BLEND_FRAMES = 8
"""Frames before the join over which pitch and energy go from one plan to the other."""
_FADE_FRAMES = 2
"""Frames before that over which the samples of one plan go over to those of the other."""

_Curve = npt.NDArray[np.float32]


def seam_of(opening: UtterancePlan, ids: int) -> Span:
    """The frames over which samples of an opening go over to those of the whole, if so many of its ids are heard."""
    end = max(0, _end_of(opening, ids) - _BLEND_FRAMES)
    return Span(max(0, end - _FADE_FRAMES), end)


def join_plans(opening: UtterancePlan, whole: UtterancePlan, ids: int) -> UtterancePlan:
    """The plan of the whole, with the opening's first ids in place of its own."""
    end, start = _end_of(opening, ids), _end_of(whole, ids)
    return replace(
        whole,
        text=np.concatenate((opening.text[:, : end // 2], whole.text[:, start // 2 :]), axis=1),
        pitch=_joined_pitch(opening.pitch[:end], whole.pitch, start),
        energy=_joined(opening.energy[:end], whole.energy, start),
        durations=np.concatenate((opening.durations[: ids + 1], whole.durations[ids + 1 :])),
    )


def fade_over(opening: Pcm, whole: Pcm, seam: Span) -> Pcm:
    """The samples of the whole from a seam on, faded in over those of the opening."""
    start, end = seam.start * HOP, seam.end * HOP
    share = np.linspace(0.0, 1.0, end - start, dtype=np.float32)
    return np.concatenate((opening[start:end] * (1 - share) + whole[start:end] * share, whole[end:]))


def _end_of(plan: UtterancePlan, ids: int) -> int:
    """The frame of pitch at which the first ids end, behind the padding before them."""
    return 2 * int(plan.durations[: ids + 1].sum())


def _joined(before: _Curve, whole: _Curve, start: int) -> _Curve:
    """A curve that goes over into another one at its frame `start`, blended over the frames before it."""
    count = min(_BLEND_FRAMES, len(before), start)
    share = (np.arange(count, dtype=np.float32) + 1) / np.float32(count + 1)
    end = len(before) - count
    blended = before[end:] * (1 - share) + whole[start - count : start] * share
    return np.concatenate((before[:end], blended, whole[start:]))


def _joined_pitch(before: _Curve, whole: _Curve, start: int) -> _Curve:
    """Pitch is blended where both have a voice; elsewhere the frame stays as it was planned first."""
    joined, count = _joined(before, whole, start), min(_BLEND_FRAMES, len(before), start)
    end = len(before)
    voiced = np.minimum(before[end - count :], whole[start - count : start]) > VOICED_ABOVE_HZ
    joined[end - count : end] = np.where(voiced, joined[end - count : end], before[end - count :])
    return joined
