"""Chunks put together with seams that cannot be heard."""

import numpy as np

from polyvox.types import Pcm


class Joiner:
    """Holds back the end of each chunk and fades it into the beginning of the next."""

    def __init__(self, overlap: int) -> None:
        self._overlap = overlap
        self._held: Pcm | None = None

    def push(self, pcm: Pcm, *, last: bool) -> Pcm:
        """The samples that are settled once this chunk is known; all of them if nothing follows it."""
        joined = pcm if self._held is None else cross_faded(self._held, pcm)
        hold = 0 if last else min(self._overlap, len(joined))
        settled = len(joined) - hold
        self._held = None if last else joined[settled:]
        return joined[:settled]


def cross_faded(before: Pcm, after: Pcm) -> Pcm:
    """The end of one chunk and the whole of the next, laid over each other: one falls as the other rises."""
    overlap = min(len(before), len(after))
    fall = np.linspace(1.0, 0.0, overlap, dtype=np.float32)
    if after.ndim > 1:
        fall = fall[:, np.newaxis]
    start = len(before) - overlap
    return np.concatenate((before[:start], before[start:] * fall + after[:overlap] * (1 - fall), after[overlap:]))
