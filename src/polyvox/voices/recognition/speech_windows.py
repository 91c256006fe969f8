"""Windows of speech: a long recording in parts that a recogniser takes, cut where nobody speaks."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from polyvox.types import Pcm, Span
from polyvox.voices.recognition.recogniser import RATE

_MARGIN: Final = int(0.2 * RATE)
"""Samples that are kept before and behind speech: its faint edges."""
_LONGEST_PAUSE: Final = int(2.0 * RATE)
"""Pauses beyond this part two windows: recognisers tend to hear words in long silence."""
_FRAME: Final = RATE // 50
_SMOOTHED_FRAMES: Final = 15


def speech_windows(pcm: Pcm, speech: Sequence[Span], longest: float) -> list[Span]:
    """The windows of a recording at 16 kHz, each of at most `longest` seconds, with all of the `speech` in them."""
    limit = int(longest * RATE)
    joined: list[Span] = []
    for span in speech:
        wide = Span(max(span.start - _MARGIN, 0), min(span.end + _MARGIN, len(pcm)))
        if joined and wide.start - joined[-1].end < _LONGEST_PAUSE and wide.end - joined[-1].start <= limit:
            wide = joined.pop().cover(wide)
        elif joined:
            wide = Span(max(wide.start, joined[-1].end), wide.end)
        joined.append(wide)
    return [part for span in joined for part in _parts(pcm, span, limit)]


def _parts(pcm: Pcm, span: Span, limit: int) -> Iterator[Span]:
    """The span in parts within the limit, cut at its quietest places."""
    start = span.start
    while span.end - start > limit:
        cut = start + limit // 2 + quietest(pcm[start + limit // 2 : start + limit])
        yield Span(start, cut)
        start = cut
    yield Span(start, span.end)


def quietest(pcm: Pcm) -> int:
    """The middle of the quietest run of frames, in samples."""
    frames = pcm[: len(pcm) // _FRAME * _FRAME].reshape(-1, _FRAME)
    energy = np.square(frames).mean(axis=1)
    calm = np.convolve(energy, np.ones(_SMOOTHED_FRAMES), mode="valid")
    return (int(calm.argmin()) + _SMOOTHED_FRAMES // 2) * _FRAME
