"""Quality of a reference recording: level, noise, clipping and the share of speech."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyvox.types import Pcm, Span

_FRAME_SECONDS = 0.02
_SNR_RANGE = (-10.0, 60.0)
_LEAST_POWER = 1e-12

# Words fade in and out beyond their detected edges; power below this is digital silence, not a microphone's noise.
_FADE_SECONDS = 0.1
_EDITED_SILENCE = 1e-9
_LEAST_NOISE_FRAMES = 5
_QUIETEST_PERCENT = 5.0

# One step of 16 bits apart still counts as the same height; a natural crest holds its height for two samples at most.
_SAME_HEIGHT = 1.5 / 32_768
_FLAT_SAMPLES = 3

# Of each aspect, the value that scores 0 and the value that scores 1.
_SNR_DB = (0.0, 25.0)
_LEVEL_DBFS = (-55.0, -35.0)
_CLIPPED_RATIO = (0.05, 0.001)
_SPEECH_RATIO = (0.1, 0.5)
_WORTH_A_WARNING = 0.8


@dataclass(frozen=True, slots=True)
class QualityReport:
    """Measurements of a recording; every field is plain, so that `dataclasses.asdict` of it is JSON.

    `duration` and `speech_seconds` are in seconds, `level_dbfs` is the level of the speech alone, `score` runs from 0
    (of no use) to 1, and `warnings` say in sentences what lowers it.
    """

    duration: float
    speech_seconds: float
    speech_ratio: float
    snr_db: float
    clipped_ratio: float
    level_dbfs: float
    score: float
    warnings: tuple[str, ...]


def assess(
    pcm: Pcm, rate: int, speech: Sequence[Span], *, clipped: float | None = None, noise: float | None = None
) -> QualityReport:
    """Assess a mono recording with the speech segments `speech`.

    `clipped` and `noise` are `clipped_ratio` and `noise_power` of the recording before processing: resampling rounds
    flat tops off, and trimming removes the ends, which show the noise best. The score is the product of four factors,
    so that one bad aspect cannot be outweighed.
    """
    duration = len(pcm) / rate
    spoken = sum(len(span) for span in speech) / rate
    ratio = spoken / duration if duration else 0.0
    loud = _speech_power(pcm, rate, speech)
    calm = noise_power(pcm, rate, speech) if noise is None else noise
    flat = clipped_ratio(pcm) if clipped is None else clipped
    level = _decibels(loud)
    snr = float(np.clip(_decibels(loud - calm) - _decibels(calm), *_SNR_RANGE))
    factors = {
        f"The speech is only {snr:.0f} dB above the noise; record it in a quieter place.": _factor(snr, _SNR_DB),
        f"The speech is quiet, at {level:.0f} dBFS; record it closer to the microphone.": _factor(level, _LEVEL_DBFS),
        f"Clipping flattens {flat:.1%} of the samples; record it with less gain.": _factor(flat, _CLIPPED_RATIO),
        f"Only {ratio:.0%} of the recording is speech; cut the pauses out.": _factor(ratio, _SPEECH_RATIO),
    }
    return QualityReport(
        duration=round(duration, 3),
        speech_seconds=round(spoken, 3),
        speech_ratio=round(ratio, 3),
        snr_db=round(snr, 1),
        clipped_ratio=round(flat, 5),
        level_dbfs=round(level, 1),
        score=round(float(np.prod(list(factors.values()))), 3),
        warnings=tuple(sentence for sentence, factor in factors.items() if factor < _WORTH_A_WARNING),
    )


def clipped_ratio(pcm: Pcm) -> float:
    """The share of samples on flat tops: three or more in a row at the recording's highest or lowest value.

    Measured against the recording's own extremes, so that one that was clipped first and turned down later is found.
    """
    if not pcm.size:
        return 0.0
    channels = pcm.reshape(len(pcm), -1)
    flat = sum(_flat_samples(channel) + _flat_samples(-channel) for channel in channels.T)
    return flat / channels.size


def _flat_samples(channel: Pcm) -> int:
    top = channel.max()
    if top <= 2 * _SAME_HEIGHT:
        return 0
    edges = np.flatnonzero(np.diff(np.concatenate(([False], channel >= top - _SAME_HEIGHT, [False]))))
    lengths = edges[1::2] - edges[::2]
    return int(lengths[lengths >= _FLAT_SAMPLES].sum())


def noise_power(pcm: Pcm, rate: int, speech: Sequence[Span]) -> float:
    """The median power of frames away from speech.

    Where there are too few, or they are digital silence, the quietest frames within the speech are used instead.
    """
    frames, length = _frame_powers(pcm, rate)
    fade = round(_FADE_SECONDS * rate)
    apart = frames[~_inside([Span(span.start - fade, span.end + fade) for span in speech], len(frames), length)]
    if len(apart) >= _LEAST_NOISE_FRAMES and np.median(apart) > _EDITED_SILENCE:
        return float(np.median(apart))
    within = frames[_inside(speech, len(frames), length)]
    return float(np.percentile(within, _QUIETEST_PERCENT)) if len(within) else 0.0


def _speech_power(pcm: Pcm, rate: int, speech: Sequence[Span]) -> float:
    frames, length = _frame_powers(pcm, rate)
    within = frames[_inside(speech, len(frames), length)]
    return float(within.mean()) if len(within) else 0.0


def _frame_powers(pcm: Pcm, rate: int) -> tuple[npt.NDArray[np.float64], int]:
    """The mean power of each whole frame, and a frame's length in samples."""
    length = round(_FRAME_SECONDS * rate)
    frames = pcm[: len(pcm) // length * length].reshape(-1, length)
    return np.square(frames, dtype=np.float64).mean(axis=1), length


def _inside(spans: Sequence[Span], count: int, length: int) -> npt.NDArray[np.bool_]:
    """A mask of the frames whose middle is in one of the spans."""
    middles = (np.arange(count) + 0.5) * length
    inside = np.zeros(count, np.bool_)
    for span in spans:
        inside |= (middles >= span.start) & (middles < span.end)
    return inside


def _decibels(power: float) -> float:
    return 10 * float(np.log10(max(power, _LEAST_POWER)))


def _factor(value: float, scale: tuple[float, float]) -> float:
    useless, good = scale
    return float(np.clip((value - useless) / (good - useless), 0.0, 1.0))
