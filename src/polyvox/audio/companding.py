"""G.711 companding: samples as one byte each, by the mu-law or the A-law of telephone lines, and back."""

import numpy as np
import numpy.typing as npt

from polyvox.audio.pcm import to_int16
from polyvox.types import Pcm

_MULAW_BIAS = 132
_MULAW_PEAK = 32_635
"""The loudest magnitude whose sum with the bias still has 15 bits."""

_ALAW_TOGGLE = 0x55
"""G.711 inverts every second bit of an A-law byte, so that silence is not a row of zeros."""


def mulaw(pcm: Pcm) -> bytes:
    """Mu-law bytes, channels interleaved."""
    samples = to_int16(pcm).astype(np.int32)
    magnitude = np.minimum(np.abs(samples), _MULAW_PEAK) + _MULAW_BIAS
    segment = _bit_length(magnitude) - 8
    code = (segment << 4) | ((magnitude >> (segment + 3)) & 0x0F)
    return _as_bytes(~np.where(samples < 0, code | 0x80, code))


def alaw(pcm: Pcm) -> bytes:
    """A-law bytes, channels interleaved."""
    samples = to_int16(pcm).astype(np.int32)
    magnitude = np.where(samples < 0, ~samples, samples) >> 4
    segment = np.maximum(_bit_length(magnitude) - 4, 0)
    code = (segment << 4) | ((magnitude >> np.maximum(segment - 1, 0)) & 0x0F)
    return _as_bytes(np.where(samples < 0, code, code | 0x80) ^ _ALAW_TOGGLE)


def from_mulaw(data: bytes) -> Pcm:
    """The samples of mu-law bytes."""
    return _MULAW_SAMPLES[np.frombuffer(data, np.uint8)]


def from_alaw(data: bytes) -> Pcm:
    """The samples of A-law bytes."""
    return _ALAW_SAMPLES[np.frombuffer(data, np.uint8)]


def _mulaw_samples() -> Pcm:
    """The sample that each mu-law byte stands for, the middle of its step."""
    code = ~np.arange(256) & 0xFF
    magnitude = ((((code & 0x0F) << 3) + _MULAW_BIAS) << (code >> 4 & 0x07)) - _MULAW_BIAS
    return _scaled(np.where(code & 0x80, -magnitude, magnitude))


def _alaw_samples() -> Pcm:
    """The sample that each A-law byte stands for, the middle of its step."""
    code = np.arange(256) ^ _ALAW_TOGGLE
    segment, step = code >> 4 & 0x07, ((code & 0x0F) << 4) + 8
    magnitude = np.where(segment, (step + 256) << np.maximum(segment - 1, 0), step)
    return _scaled(np.where(code & 0x80, magnitude, -magnitude))


def _scaled(samples: npt.NDArray[np.int_]) -> Pcm:
    return samples.astype(np.float32) / np.float32(32_768.0)


def _bit_length(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Bits that each number takes; none for 0."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int32)


def _as_bytes(codes: npt.NDArray[np.int32]) -> bytes:
    return (codes & 0xFF).astype(np.uint8).tobytes()


_MULAW_SAMPLES = _mulaw_samples()
_ALAW_SAMPLES = _alaw_samples()
