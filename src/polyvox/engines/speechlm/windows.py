"""Speech tokens decoded while they arrive: windows that see past their edges, and seams that are not heard."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from polyvox.types import ChunkPolicy, Pcm, Span

FADE_SECONDS = 0.012


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """How many tokens a window adds to the speech, and how many it sees on either side of them.

    A window is decoded when the tokens it looks `ahead` to have come; what is `past` costs no time to wait for.
    """

    chunks: ChunkPolicy
    past: int
    ahead: int

    def __post_init__(self) -> None:
        if min(self.chunks.first, self.past, self.ahead) < 1:
            raise ValueError("A window adds at least one token and sees at least one on either side.")

    @classmethod
    def steady(cls, tokens: int, context: int) -> "WindowPolicy":
        """Windows of one size."""
        return cls(ChunkPolicy(tokens, 1.0, tokens), context, context)


@dataclass(frozen=True, slots=True)
class Window:
    """The tokens to be decoded together, and those among them that are new."""

    seen: Span
    new: Span


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the tokens of one utterance have been cut into windows."""

    policy: WindowPolicy
    done: int = 0
    previous: int | None = None

    @property
    def needed(self) -> int:
        """How many tokens must have arrived for the next window, unless they end before."""
        return self.done + self.policy.chunks.size(self.previous) + self.policy.ahead

    def next(self, arrived: int, *, ended: bool) -> Window | None:
        """The next window, if the tokens that have arrived suffice for it; after the last token, all that is left."""
        end = self.needed - self.policy.ahead
        if arrived < self.needed:
            if not ended or self.done == arrived:
                return None
            end = arrived
        seen = Span(max(0, self.done - self.policy.past), min(arrived, end + self.policy.ahead))
        return Window(seen, Span(self.done, end))

    def after(self, window: Window) -> "Cursor":
        """The cursor behind a window."""
        return Cursor(self.policy, window.new.end, len(window.new))


class Joiner:
    """Lays decoded windows end to end: each fades into the next, half before the seam and half behind it.

    Half a fade is therefore held back until the next window comes. All samples together are those of all tokens.
    """

    def __init__(self, hop: int, sample_rate: int) -> None:
        self._hop = hop
        self._half = int(FADE_SECONDS * sample_rate) // 2
        if self._half > hop:
            raise ValueError("A fade must fit into the token that every window sees past its end.")
        self._fading: Pcm | None = None

    def push(self, window: Window, pcm: Pcm) -> Pcm:
        """The samples that are final once `window` has been decoded to `pcm`."""
        before = self._samples(window.new.start - window.seen.start)
        end = self._samples(window.new.end - window.seen.start)
        last = window.seen.end == window.new.end
        ready = pcm[before : end if last else end - self._half]
        if self._fading is not None:
            seam = pcm[before - self._half : before + self._half]
            rise = _raised_cosine(2 * self._half)
            faded = self._fading * (1 - rise) + seam * rise
            ready = np.concatenate((faded, ready[self._half :]))
        self._fading = None if last else pcm[end - self._half : end + self._half].copy()
        return ready

    def _samples(self, tokens: int) -> int:
        return tokens * self._hop


@cache
def _raised_cosine(length: int) -> Pcm:
    """From 0 to 1, both included."""
    return (0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, length))).astype(np.float32)
