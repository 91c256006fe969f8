"""PCM helpers: float32 inside the server, 16-bit little-endian on the wire."""

import numpy as np
import numpy.typing as npt

from polyvox.errors import AudioDecodeError, InvalidRequestError
from polyvox.types import Pcm

MIN_RATE = 4_000
MAX_RATE = 192_000


def check_rate(rate: int, field: str = "sample_rate") -> int:
    """The rate itself, if it is supported."""
    if not MIN_RATE <= rate <= MAX_RATE:
        raise InvalidRequestError(f"{field} must lie between {MIN_RATE} and {MAX_RATE} Hz, not {rate}.", field=field)
    return rate


def check_channels(channels: int) -> int:
    """The count itself, if it is mono or stereo."""
    if channels not in (1, 2):
        raise ValueError(f"audio is mono or stereo, not {channels} channels")
    return channels


def shaped(pcm: Pcm, channels: int) -> Pcm:
    """The samples as a contiguous float32 array of shape [n] (mono) or [n, 2] (stereo)."""
    samples = np.ascontiguousarray(pcm, dtype=np.float32)
    if samples.size == 0:
        return np.zeros(0 if channels == 1 else (0, channels), np.float32)
    if samples.shape[1:] != (() if channels == 1 else (channels,)):
        raise ValueError(f"expected {channels} channel(s), got an array of shape {samples.shape}")
    return samples


def bounded(pcm: Pcm) -> Pcm:
    """The samples clipped to [-1, 1], NaN as silence."""
    return np.clip(np.nan_to_num(pcm, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)


def to_int16(pcm: Pcm) -> npt.NDArray[np.int16]:
    """Round to 16 bits. Full scale is 32768, so that 16-bit audio comes back unchanged from `from_pcm16`."""
    samples = np.clip(pcm, -1.0, 1.0)
    samples *= np.float32(32768.0)
    np.rint(samples, out=samples)
    np.minimum(samples, 32767.0, out=samples)
    # NaN passes through a clip; a sum finds it at a fraction of the cost of looking at each sample.
    if np.isnan(samples.sum()):
        np.nan_to_num(samples, copy=False, nan=0.0)
    return samples.astype(np.int16)


def to_pcm16(pcm: Pcm) -> bytes:
    """Signed 16-bit little-endian samples, channels interleaved."""
    return to_int16(pcm).astype("<i2").tobytes()


def from_pcm16(data: bytes, channels: int = 1) -> Pcm:
    """The inverse of `to_pcm16`."""
    if len(data) % (2 * channels):
        raise AudioDecodeError("Raw 16-bit audio must end at a whole sample; send an even number of bytes per channel.")
    samples = np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32768.0)
    return samples if channels == 1 else samples.reshape(-1, channels)


def scale(pcm: Pcm, gain: float) -> Pcm:
    """Louder or softer by a linear factor; what would pass full scale is clipped."""
    return pcm if gain == 1.0 else np.clip(pcm * np.float32(gain), -1.0, 1.0)


def silence(seconds: float, rate: int, channels: int = 1) -> Pcm:
    """Zeros, rounded to whole samples."""
    samples = round(seconds * rate)
    return np.zeros(samples if channels == 1 else (samples, channels), np.float32)
