"""The silence between two utterances, as long as it was asked for."""

import numpy as np

from polyvox.types import Capabilities, Pcm

_QUIET = 2e-3
"""Samples below this are silence: no engine's are zero everywhere between words."""
_INSTANT_SECONDS = 0.001
"""A wave is this long below that level where it passes zero."""
_RESERVE_SECONDS = 0.1
"""Part of a silence that is not sent before it is known what the next utterance begins with."""


class Seam:
    """Silence that one utterance ends with, and that which the next one begins with.

    Both are part of the silence between them: the first is held back until it is known what follows, and the second
    is made up to what was asked for, or cut down to it.
    """

    def __init__(self, can: Capabilities) -> None:
        self._can = can
        self.held = self.silence(0)
        self.asked = 0
        """Samples of silence that were asked for and are not sent yet."""

    def silence(self, samples: int) -> Pcm:
        """So many samples of silence."""
        return np.zeros(samples if self._can.channels == 1 else (samples, self._can.channels), np.float32)

    def hold(self, pcm: Pcm) -> Pcm:
        """The samples held before and these, up to the last that is heard; the rest is held back."""
        pcm = np.concatenate((self.held, pcm)) if len(self.held) else pcm
        loud = self._heard(pcm)
        end = int(loud[-1]) + 1 if len(loud) else 0
        self.held = pcm[end:]
        return pcm[:end]

    def release(self, samples: int | None = None) -> Pcm:
        """At most so many of the samples that are held back; the others are dropped."""
        held, self.held = self.held[:samples], self.silence(0)
        return held

    def ask(self, samples: int) -> int:
        """Ask for silence; returns how much of it can be sent now."""
        self.asked += samples
        now = max(0, self.asked - round(_RESERVE_SECONDS * self._can.sample_rate))
        self.asked -= now
        return now

    def settle(self, pcm: Pcm) -> tuple[int, int]:
        """The silence still to be sent before an utterance, given its first samples, and how many of them to cut off.

        Where none was asked for, the utterance begins as it is.
        """
        if not self.asked:
            return 0, 0
        loud = self._heard(pcm)
        lead = int(loud[0]) if len(loud) else len(pcm)
        lead = lead if lead > _INSTANT_SECONDS * self._can.sample_rate else 0
        asked, self.asked = self.asked, 0
        return max(0, asked - lead), max(0, lead - asked)

    def _heard(self, pcm: Pcm) -> "np.ndarray[tuple[int, ...], np.dtype[np.intp]]":
        """Indices of the samples that are heard."""
        return np.flatnonzero(np.abs(pcm) > _QUIET if pcm.ndim == 1 else np.abs(pcm).max(axis=1) > _QUIET)
