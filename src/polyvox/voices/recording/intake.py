"""Intake of reference recordings: decoded within limits, cleaned, and checked for quality."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from polyvox.audio.resample import resampled
from polyvox.config import Settings
from polyvox.errors import OverloadedError, PromptError
from polyvox.types import Pcm, Span
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording.decoder import decode_bounded
from polyvox.voices.recording.quality import QualityReport, assess, clipped_ratio, noise_power

_SILENT_PEAK = 1e-3
_KEPT_SECONDS = 0.1
# Twice over this long, the running mean leaves in place what any voice has: 60 Hz and up.
_OFFSET_SECONDS = 0.1
_RETRY_SECONDS = 2.0


class VoiceActivityDetector(Protocol):
    """Finds speech segments; `vad.SileroVad` is one."""

    def speech(self, pcm: Pcm, rate: int) -> list[Span]: ...


@dataclass(frozen=True, slots=True)
class CheckedRecording:
    """A checked recording: mono, at the rate asked for, silence cut from its ends.

    `digest` is the SHA-256 of the file it came from, in hexadecimal digits.
    """

    pcm: Pcm
    sample_rate: int
    digest: str
    report: QualityReport


class RecordingIntake:
    """Checks recordings, a few at a time; the others wait in a bounded queue."""

    def __init__(self, settings: Settings, detector: VoiceActivityDetector) -> None:
        self._detector = detector
        self._min_score = settings.prompt_min_score
        self._slots = asyncio.Semaphore(settings.prompt_workers)
        self._max_waiting = settings.max_queue
        self._waiting = 0

    async def take(self, data: bytes, limits: PromptLimits) -> CheckedRecording:
        """Decode and check an untrusted file.

        AudioDecodeError or RequestTooLargeError for a file that cannot be read, PromptError for a recording that is not
        good enough; each gives the reason.
        """
        async with self._slot():
            pcm, rate = await decode_bounded(data, limits)
            return await asyncio.to_thread(self._checked, data, pcm, rate, limits)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self._slots.locked() and self._waiting >= self._max_waiting:
            raise OverloadedError("Too many recordings wait to be read; try again later.", retry_after=_RETRY_SECONDS)
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._slots.release()

    def _checked(self, data: bytes, decoded: Pcm, rate: int, limits: PromptLimits) -> CheckedRecording:
        if len(decoded) < limits.min_seconds * rate:
            raise PromptError(f"The recording is too short; send at least {limits.min_seconds:g} seconds.")
        pcm = _centred(resampled(_mono(decoded), rate, limits.sample_rate), limits.sample_rate)
        if np.abs(pcm).max(initial=0.0) < _SILENT_PEAK:
            raise PromptError("The recording is silent; send one in which somebody speaks.")
        speech = self._detector.speech(pcm, limits.sample_rate)
        if not speech:
            raise PromptError("No speech was found in the recording; send one in which somebody speaks.")
        kept, within = _trimmed(pcm, limits.sample_rate, speech)
        _check_length(len(kept) / limits.sample_rate, limits)
        noise = noise_power(pcm, limits.sample_rate, speech)
        report = assess(kept, limits.sample_rate, within, clipped=clipped_ratio(decoded), noise=noise)
        if report.score < self._min_score:
            score = f"score {report.score:.2f}, needed {self._min_score:.2f}"
            raise PromptError(f"The recording is too poor to use ({score}). {' '.join(report.warnings)}")
        return CheckedRecording(kept, limits.sample_rate, hashlib.sha256(data).hexdigest(), report)


def _mono(decoded: Pcm) -> Pcm:
    return decoded if decoded.ndim == 1 else decoded.mean(axis=1, dtype=np.float32)


def _centred(pcm: Pcm, rate: int) -> Pcm:
    """The recording without DC offset, also one that drifts or exists only in a part of it."""
    window = round(_OFFSET_SECONDS * rate)
    offset = _running_mean(_running_mean(pcm.astype(np.float64), window), window)
    return (pcm - offset).astype(np.float32)


def _running_mean(values: npt.NDArray[np.float64], window: int) -> npt.NDArray[np.float64]:
    padded = np.pad(values, (window // 2 + 1, window - window // 2 - 1), mode="edge")
    sums = np.cumsum(padded)
    return (sums[window:] - sums[:-window]) / window


def _trimmed(pcm: Pcm, rate: int, speech: Sequence[Span]) -> tuple[Pcm, list[Span]]:
    """The recording from shortly before the first speech to shortly after the last, and where the speech is now."""
    margin = round(_KEPT_SECONDS * rate)
    start = max(speech[0].start - margin, 0)
    kept = pcm[start : speech[-1].end + margin].copy()
    return kept, [Span(span.start - start, span.end - start) for span in speech]


def _check_length(seconds: float, limits: PromptLimits) -> None:
    if not limits.min_seconds <= seconds <= limits.max_seconds:
        raise PromptError(f"The recording has {seconds:.1f} seconds from its first word to its last; {limits.bounds}.")
