"""Windows over a stream of codec tokens, with context on both sides, and crossfades between their samples."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from polyvox.types import ChunkPolicy, Pcm, Span

FADE_SECONDS = 0.012
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """Sizes of a window: its new tokens, and its context on either side.

    A window is decoded when the tokens `ahead` of it have arrived; those `past` cost no waiting.
    """

    chunks: ChunkPolicy
    past: int
    ahead: int

    def __post_init__(self) -> None:
        if min(self.chunks.first, self.past, self.ahead) < 1:
            raise ValueError("A window needs at least one new token and one of context on either side.")

    @classmethod
    def steady(cls, tokens: int, context: int) -> "WindowPolicy":
        """Windows of one size."""
        return cls(ChunkPolicy(tokens, 1.0, tokens), context, context)


@dataclass(frozen=True, slots=True)
class CodecWindow:
    """The tokens that are decoded together, and those among them that are new."""

    decoded: Span
    new: Span


@dataclass(frozen=True, slots=True, eq=False)
class WindowCodes:
    """The tokens of a window, and those of its samples that are wanted."""

    codes: Codes
    wanted: Span

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, slots=True)
class WindowCursor:
    """Position up to which the tokens of one segment have been cut into windows."""

    policy: WindowPolicy
    done: int = 0
    previous: int | None = None

    @property
    def needed(self) -> int:
        """Number of tokens that must have arrived for the next window, unless they end before."""
        return self.done + self.policy.chunks.size(self.previous) + self.policy.ahead

    def next(self, arrived: int, *, ended: bool) -> CodecWindow | None:
        """The next window, if enough tokens have arrived; after the last token, all that is left."""
        end = self.needed - self.policy.ahead
        if arrived < self.needed:
            if not ended or self.done == arrived:
                return None
            end = arrived
        decoded = Span(max(0, self.done - self.policy.past), min(arrived, end + self.policy.ahead))
        return CodecWindow(decoded, Span(self.done, end))

    def after(self, window: CodecWindow) -> "WindowCursor":
        """The cursor behind a window."""
        return WindowCursor(self.policy, window.new.end, len(window.new))


class WindowCrossfade:
    """Joins decoded windows: each fades into the next, half before the seam and half behind it.

    Half a fade is therefore held back until the next window comes. All samples together are those of all tokens.
    """

    def __init__(self, hop: int, sample_rate: int) -> None:
        self._hop = hop
        self._half = int(FADE_SECONDS * sample_rate) // 2
        if self._half > hop:
            raise ValueError("A fade must fit into the one token of context behind every window.")
        self._fading: Pcm | None = None

    def wanted(self, window: CodecWindow) -> Span:
        """The samples that `push` takes, counted from the window's first: the new ones, and half a fade around them."""
        before = self._samples(window.new.start - window.decoded.start)
        end = self._samples(window.new.end - window.decoded.start)
        return Span(max(0, before - self._half), min(self._samples(len(window.decoded)), end + self._half))

    def push(self, window: CodecWindow, pcm: Pcm) -> Pcm:
        """The samples that are final once `window` has been decoded, given those `wanted`, which are written to."""
        last = window.decoded.end == window.new.end
        end = len(pcm) if last else len(pcm) - 2 * self._half
        fading = self._fading
        self._fading = None if last else pcm[end:].copy()
        if fading is not None:
            rise = _raised_cosine(2 * self._half)
            seam = pcm[: 2 * self._half]
            seam[:] = fading * (1 - rise) + seam * rise
        return pcm[:end]

    def _samples(self, tokens: int) -> int:
        return tokens * self._hop


@cache
def _raised_cosine(length: int) -> Pcm:
    """From 0 to 1, both included."""
    return (0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, length))).astype(np.float32)
