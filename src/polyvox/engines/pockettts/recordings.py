"""Recordings as the codec's encoder takes them: at its rate, ending on a pause."""

import numpy as np

from polyvox.errors import PromptError
from polyvox.types import Pcm, VoicePrompt

MAX_SECONDS = 30.0
_LEAST_SECONDS = 0.5
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


def check_recording(prompt: VoicePrompt) -> None:
    """Refuse a recording that is too long or too short, before any work."""
    seconds = len(prompt.pcm) / prompt.sample_rate
    if seconds > MAX_SECONDS:
        raise PromptError(
            f"The recording has {seconds:.1f} seconds; {MAX_SECONDS:g} are the most. Cut it.", field="voice"
        )
    if seconds < _LEAST_SECONDS:
        raise PromptError("The recording is too short to hear a voice in it; send a second or more.", field="voice")
