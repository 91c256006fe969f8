"""How an utterance is cut for streaming."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """Chunk sizes of one session, in the engine's own unit (phonemes, tokens).

    The first chunk is short so that audio starts. A later one may be `growth` times as long as the one before it, so
    that it is ready before that one has been played, up to `maximum`. The policy never changes while a session speaks.
    """

    first: int
    growth: float
    maximum: int

    def size(self, previous: int | None) -> int:
        """How long the next chunk should be, given the length of the one before it."""
        if previous is None:
            return self.first
        return max(self.first, min(self.maximum, int(previous * self.growth)))
