"""Sound that arrives in pieces for hours: its turns are cut out, and the rest is forgotten."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from polyvox.audio.pcm import from_pcm16, to_pcm16
from polyvox.audio.resample import StreamResampler
from polyvox.service.listening.turn_detector import TurnChange, TurnDetection, TurnDetector
from polyvox.types import Pcm
from polyvox.voices.limits import LISTENING_RATE
from polyvox.voices.recording.vad import WINDOW, SileroVad, VadState

SAMPLE_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody begins to speak; `start` is in samples of all that has arrived, the prefix included."""

    start: int


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """A turn has ended at this sample; `turn` is its sound as 16-bit samples at 16 kHz."""

    end: int
    turn: bytes


TurnEvent = SpeechStarted | SpeechStopped


class ArrivingAudio:
    """The sound of one client since its last turn, mono, as 16-bit samples at 16 kHz.

    With `detection` a turn ends by itself, at the latest after `max_samples`, and while nobody speaks only what may
    become a prefix is kept. Without it everything is kept until `take`. Positions count all samples since the
    beginning. How the sound is cut into pieces changes nothing.
    """

    def __init__(self, rate: int, detection: TurnDetection | None, max_samples: int) -> None:
        self._rate = rate
        self._max_samples = max_samples
        self._resampler = StreamResampler(rate, LISTENING_RATE)
        self._samples = bytearray()
        self._start = 0
        self._configure(detection)

    @property
    def end(self) -> int:
        """Samples that have arrived until now."""
        return self._start + self.length

    @property
    def length(self) -> int:
        """Samples that are kept."""
        return len(self._samples) // SAMPLE_BYTES

    @property
    def speaking(self) -> bool:
        return self._detector is not None and self._detector.speaking

    def reconfigure(self, rate: int, detection: TurnDetection | None) -> None:
        """Take further sound at this rate, and by these wishes; what has arrived stays."""
        if rate != self._rate:
            self._rate = rate
            self.flush()
        if detection != self._detection:
            self._configure(detection)

    def push(self, pcm: Pcm, vad: SileroVad) -> list[TurnEvent]:
        """Take samples at the client's rate; blocks for about a fiftieth of their length."""
        self._samples += to_pcm16(self._resampler.push(pcm))
        return list(self._turns(vad)) if self._detector is not None else []

    def flush(self) -> None:
        """Take in the last samples, which the resampler holds back until more come."""
        self._samples += to_pcm16(self._resampler.finish())
        self._resampler = StreamResampler(self._rate, LISTENING_RATE)

    def take(self) -> bytes:
        """All that is kept, as a turn."""
        self.flush()
        taken = bytes(self._samples)
        self.clear()
        return taken

    def clear(self) -> None:
        """Forget all that is kept."""
        self._drop(self.length)
        self._configure(self._detection)

    def _configure(self, detection: TurnDetection | None) -> None:
        self._detection = detection
        self._detector = None if detection is None else TurnDetector(detection)
        self._vad_state = VadState.start()
        self._looked_at = self.end
        """Sample up to which turns were looked for."""

    def _turns(self, vad: SileroVad) -> Iterator[TurnEvent]:
        assert self._detector is not None
        whole = (self.end - self._looked_at) // WINDOW * WINDOW
        if not whole:
            return
        ahead = self._between(self._looked_at, self._looked_at + whole)
        probabilities, self._vad_state = vad.advance(from_pcm16(ahead), self._vad_state)
        for probability in np.atleast_1d(probabilities):
            self._looked_at += WINDOW
            change = self._detector.step(float(probability))
            if change is TurnChange.STARTED:
                self._forget_silence()
                yield SpeechStarted(self._start)
            elif change is TurnChange.STOPPED or self._is_too_long():
                self._detector.reset()
                turn = self._between(self._start, self._looked_at)
                self._drop(self._looked_at - self._start)
                yield SpeechStopped(self._looked_at, turn)
            elif not self._detector.speaking:
                self._forget_silence()

    def _is_too_long(self) -> bool:
        return self.speaking and self._looked_at - self._start >= self._max_samples

    def _forget_silence(self) -> None:
        assert self._detection is not None
        self._drop(max(0, self._looked_at - self._start - self._detection.kept_samples))

    def _between(self, start: int, end: int) -> bytes:
        return bytes(self._samples[(start - self._start) * SAMPLE_BYTES : (end - self._start) * SAMPLE_BYTES])

    def _drop(self, samples: int) -> None:
        del self._samples[: samples * SAMPLE_BYTES]
        self._start += samples
