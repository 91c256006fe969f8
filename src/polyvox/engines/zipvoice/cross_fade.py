"""Cross-fades between the chunks of an utterance."""

import numpy as np

from polyvox.types import Pcm


class CrossFade:
    """Holds back the end of each chunk and fades it into the beginning of the next; `overlap` is in samples."""

    def __init__(self, overlap: int) -> None:
        self._overlap = overlap
        self._held: Pcm | None = None

    def push(self, pcm: Pcm, *, last: bool) -> Pcm:
        """Add a chunk and return the samples that are final now; all of them if it is the last."""
        joined = pcm if self._held is None else overlap_add(self._held, pcm)
        hold = 0 if last else min(self._overlap, len(joined))
        final = len(joined) - hold
        self._held = None if last else joined[final:]
        return joined[:final]


def overlap_add(before: Pcm, after: Pcm) -> Pcm:
    """The end of one chunk and the whole of the next, cross-faded linearly over the shorter of the two."""
    overlap = min(len(before), len(after))
    fade_out = np.linspace(1.0, 0.0, overlap, dtype=np.float32)
    if after.ndim > 1:
        fade_out = fade_out[:, np.newaxis]
    start = len(before) - overlap
    mixed = before[start:] * fade_out + after[:overlap] * (1 - fade_out)
    return np.concatenate((before[:start], mixed, after[overlap:]))
