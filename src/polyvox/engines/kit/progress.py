"""The chunks of one utterance, numbered."""

import time

from polyvox.audio.pcm import silence
from polyvox.engines.kit.playhead import Playhead
from polyvox.text.spoken import Pause
from polyvox.types import NO_STAGES, AudioChunk, ChunkPolicy, Pcm, Span, StageSeconds, WordTiming


class ChunkLedger:
    """Counts the chunks, samples, tokens and frames of one utterance, and makes its `AudioChunk`s."""

    def __init__(self, sample_rate: int, policy: ChunkPolicy | None, playhead: Playhead | None = None) -> None:
        """`playhead` plays each chunk as it is made."""
        self.sample_rate = sample_rate
        self.policy = policy
        self._playhead = playhead
        self.index = self.samples = self.tokens = self.frames = 0
        self._asked = time.perf_counter()

    def chunk(
        self,
        pcm: Pcm,
        *,
        text: str = "",
        span: Span | None = None,
        words: tuple[WordTiming, ...] = (),
        tokens: int = 0,
        frames: int | None = None,
        wall_seconds: float | None = None,
        device_seconds: float = 0.0,
        stages: StageSeconds = NO_STAGES,
    ) -> AudioChunk:
        """The next chunk; `tokens` and `frames` count what it adds. Unless given, its wall time runs from the last."""
        now = time.perf_counter()
        result = AudioChunk(
            pcm=pcm,
            sample_rate=self.sample_rate,
            index=self.index,
            start=self.samples,
            text=text,
            span=span,
            words=words,
            tokens=Span(self.tokens, self.tokens + tokens),
            frames=None if frames is None else Span(self.frames, self.frames + frames),
            wall_seconds=now - self._asked if wall_seconds is None else wall_seconds,
            device_seconds=device_seconds,
            policy=self.policy,
            stages=stages,
        )
        self.index, self.samples, self._asked = self.index + 1, result.end, now
        self.tokens, self.frames = self.tokens + tokens, self.frames + (frames or 0)
        if self._playhead is not None:
            self._playhead.push(result.duration)
        return result

    def pause(self, pause: Pause) -> AudioChunk:
        return self.chunk(silence(pause.seconds, self.sample_rate))
