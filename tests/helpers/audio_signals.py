"""Signals and measures that the tests of the audio room share."""

import io
from dataclasses import dataclass
from functools import lru_cache

import av
import numpy as np

from polyvox.audio.resample import StreamResampler
from polyvox.types import Pcm


@lru_cache(maxsize=64)
def voice(seconds: float, rate: int, channels: int = 1, *, seed: int = 0) -> Pcm:
    """Something like speech: syllables of drifting pitch with harmonics below 3.2 kHz, and pauses between them."""
    time = np.arange(round(seconds * rate)) / rate
    rng = np.random.default_rng(seed)
    tracks = []
    for _ in range(channels):
        pitch = 140 + 25 * np.sin(2 * np.pi * (0.7 * time + rng.random()))
        phase = 2 * np.pi * np.cumsum(pitch) / rate
        tone = sum(np.sin(k * phase + rng.random()) / k for k in range(1, 19))
        syllables = np.clip(np.sin(2 * np.pi * (3.1 * time + rng.random())), 0, None) ** 0.5
        tracks.append(0.25 * tone * syllables)
    pcm = np.asarray(tracks[0] if channels == 1 else np.stack(tracks, axis=1), dtype=np.float32)
    pcm.setflags(write=False)
    return pcm


def tone(seconds: float, rate: int, hertz: float, amplitude: float = 0.5) -> Pcm:
    return (amplitude * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def pieces(pcm: Pcm, length: int) -> list[Pcm]:
    return [pcm[at : at + length] for at in range(0, len(pcm), length)]


def played(data: bytes, container: str | None = None) -> tuple[Pcm, int]:
    """What a player hears: samples [n, channels] and their rate. Bytes that do not play yet give no samples.

    A player that was told the container need not guess it from the first bytes.
    """
    frames = [np.zeros((0, 1), np.float32)]
    rate = 0
    try:
        with av.open(io.BytesIO(data), format=container) as opened:
            for frame in opened.decode(audio=0):
                rate = frame.sample_rate
                frames.append(_as_float(frame))
    except av.FFmpegError:
        return _joined(frames), rate
    return _joined(frames), rate


def _joined(frames: list[Pcm]) -> Pcm:
    return np.concatenate(frames[1:] or frames)


def _as_float(frame: av.AudioFrame) -> Pcm:
    samples = frame.to_ndarray()
    if samples.dtype == np.int16:
        samples = samples.astype(np.float32) / 32768
    if not frame.format.is_planar:
        return samples.reshape(-1, frame.layout.nb_channels)
    return samples.T


def at_rate(pcm: Pcm, source: int, target: int) -> Pcm:
    channels = 1 if pcm.ndim == 1 else pcm.shape[1]
    resampler = StreamResampler(source, target, channels)
    return np.concatenate([resampler.push(pcm), resampler.finish()])


@dataclass(frozen=True, slots=True)
class Match:
    """How a copy compares: samples it trails by, its level in dB, and its signal-to-noise ratio in dB beyond both."""

    lag: int
    level: float
    snr: float


def matched(original: Pcm, heard: Pcm) -> Match:
    """Line a mono copy up with its original by cross-correlation and compare what overlaps."""
    size = 1 << (len(original) + len(heard)).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(original, size))
    lag = int(np.argmax(np.fft.irfft(spectrum, size)))
    lag -= size if lag > size // 2 else 0
    shifted = heard[max(lag, 0) :]
    reference = original[max(-lag, 0) :].astype(np.float64)
    length = min(len(reference), len(shifted))
    reference, shifted = reference[:length], shifted[:length]
    gain = float(reference @ shifted / (reference @ reference))
    noise = shifted - gain * reference
    snr = 10 * np.log10(np.sum((gain * reference) ** 2) / max(float(noise @ noise), 1e-20))
    return Match(lag, float(20 * np.log10(gain)), float(snr))
