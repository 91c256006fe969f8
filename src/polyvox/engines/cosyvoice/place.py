"""How far an utterance has come."""

import time
from dataclasses import dataclass, field

from polyvox.engines.cosyvoice.piece import Chunk
from polyvox.engines.cosyvoice.recipe import SAMPLE_RATE
from polyvox.types import AudioChunk, ChunkPolicy, Span


@dataclass(frozen=True, slots=True)
class Wording:
    """What the caller wrote and where, for the chunk that carries it."""

    text: str = ""
    span: Span | None = None


SILENT = Wording()


@dataclass(slots=True)
class Place:
    """Chunks, samples, tokens and frames so far, cut by one policy."""

    policy: ChunkPolicy
    index: int = 0
    samples: int = 0
    tokens: int = 0
    frames: int = 0
    asked: float = field(default_factory=time.perf_counter)

    def next(self, chunk: Chunk, wording: Wording) -> AudioChunk:
        """The chunk in its place."""
        now = time.perf_counter()
        result = AudioChunk(
            pcm=chunk.pcm,
            sample_rate=SAMPLE_RATE,
            index=self.index,
            start=self.samples,
            text=wording.text,
            span=wording.span,
            tokens=Span(self.tokens, self.tokens + chunk.tokens),
            frames=Span(self.frames, self.frames + chunk.frames),
            wall_seconds=now - self.asked,
            device_seconds=chunk.seconds,
            policy=self.policy,
        )
        self.index, self.samples = self.index + 1, result.end
        self.tokens, self.frames = self.tokens + chunk.tokens, self.frames + chunk.frames
        self.asked = now
        return result
