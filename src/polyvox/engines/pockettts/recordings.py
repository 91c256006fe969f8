"""Recordings as the codec's encoder takes them: at its rate, ending on a pause."""

import numpy as np

from polyvox.types import Pcm

_PAUSE, _FADE, _FRAME = 0.08, 0.02, 0.02
_FLOOR_DB = 35.0
_SILENCE = 1e-12


def ending_on_pause(pcm: Pcm, rate: int) -> Pcm:
    """A recording up to its last sound, faded out and followed by a short pause, as those of the training end.

    One that stops on speech would make each text begin with a burst, and a long silence would delay it.
    """
    frame = int(_FRAME * rate)
    count = len(pcm) // frame
    if count == 0:
        return pcm
    power = np.square(pcm[: count * frame].reshape(count, frame)).mean(axis=1)
    level = 20 * np.log10(np.sqrt(power) + _SILENCE)
    end = (int(np.flatnonzero(level > level.max() - _FLOOR_DB)[-1]) + 1) * frame
    kept = pcm[:end].astype(np.float32)
    fade = min(int(_FADE * rate), end)
    kept[end - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)
    return np.concatenate((kept, np.zeros(int(_PAUSE * rate), np.float32)))
