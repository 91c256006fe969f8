"""Loudness normalisation of a stream: measured by ITU-R BS.1770, corrected once, then locked."""

from collections import deque

import numpy as np
import numpy.typing as npt

from polyvox.audio.limiter import StreamLimiter
from polyvox.audio.pcm import bounded, check_channels, check_rate, shaped
from polyvox.errors import InvalidRequestError
from polyvox.types import Pcm

MIN_TARGET = -40.0
MAX_TARGET = -5.0
_CEILING = -1.0
_BLOCK_SECONDS = 0.1
_BLOCKS_PER_WINDOW = 4
_RELATIVE_GATE = -10.0
# The standard's gate is -70. Speech from an engine is far above this one, and breath before the first word is not.
_SPEECH_GATE = -50.0
_MAX_CORRECTION = 20.0
# Windows of speech (ten to the second) after which the gain only creeps, and after which it is locked; dB per block.
_WINDOWS_TO_SETTLE = 10
_WINDOWS_TO_LOCK = 80
_STEP = 2.0
_CREEP = 0.05


class StreamLoudness:
    """Brings one stream of speech to `target_lufs`.

    After the first 0.4 s the gain follows the measurement, by at most 2 dB per 0.1 s, and settles after a second of
    speech. Since the first words of a sentence are its loudest, it may then still creep, by at most 0.5 dB
    a second, which is not heard as a change; after eight seconds of speech it is locked, and the voice keeps its own
    dynamics. No sample passes -1 dBFS. The result does not depend on how the input is cut.
    """

    def __init__(self, target_lufs: float, sample_rate: int, channels: int = 1) -> None:
        if not MIN_TARGET <= target_lufs <= MAX_TARGET:
            raise InvalidRequestError(
                f"loudness must lie between {MIN_TARGET:g} and {MAX_TARGET:g} LUFS, not {target_lufs}.",
                field="loudness",
            )
        self._target = target_lufs
        self._channels = check_channels(channels)
        self._meter = LoudnessMeter(sample_rate, channels)
        self._limiter = StreamLimiter(_CEILING, sample_rate, channels)
        self._block = np.zeros((self._meter.block, channels))
        self._filled = 0
        self._locked = False
        self._from = self._to = self._wanted = 0.0

    def push(self, pcm: Pcm) -> Pcm:
        """Take samples; return the output that is ready."""
        return self._limiter.push(self._levelled(bounded(shaped(pcm, self._channels))))

    def finish(self) -> Pcm:
        """Return the rest of the output; the object cannot be used afterwards."""
        return self._limiter.finish()

    def _levelled(self, pcm: Pcm) -> Pcm:
        parts: list[Pcm] = []
        while len(pcm) and not self._settled:
            size = min(len(self._block) - self._filled, len(pcm))
            parts.append(self._ramped(pcm[:size]))
            self._block[self._filled : self._filled + size] = pcm[:size].reshape(size, -1)
            self._filled += size
            pcm = pcm[size:]
            if self._filled == len(self._block):
                self._turn_block()
        parts.append(pcm * np.float32(10.0 ** (self._to / 20)))
        return np.concatenate(parts)

    @property
    def _settled(self) -> bool:
        return self._locked and self._filled == 0 and self._from == self._to == self._wanted

    def _ramped(self, pcm: Pcm) -> Pcm:
        """The gain passes from one block's end to the next's in a straight line of dB."""
        way = (self._filled + np.arange(len(pcm))) / len(self._block)
        gains = 10.0 ** ((self._from + (self._to - self._from) * way) / 20)
        return (pcm * gains.reshape(-1, *[1] * (pcm.ndim - 1))).astype(np.float32)

    def _turn_block(self) -> None:
        self._filled = 0
        if not self._locked:
            self._meter.add(self._block)
            self._locked = self._meter.windows >= _WINDOWS_TO_LOCK
            measured = self._meter.loudness
            if measured is not None:
                self._wanted = float(np.clip(self._target - measured, -_MAX_CORRECTION, _MAX_CORRECTION))
        self._from = self._to
        step = _CREEP if self._meter.windows >= _WINDOWS_TO_SETTLE else _STEP
        change = self._wanted - self._from
        self._to = self._wanted if abs(change) <= step else self._from + float(np.copysign(step, change))


class LoudnessMeter:
    """Loudness of a stream that comes in blocks of 0.1 s, over windows of 0.4 s, gated; LUFS."""

    def __init__(self, sample_rate: int, channels: int = 1, *, gate: float = _SPEECH_GATE) -> None:
        self._gate = gate
        self.block = round(_BLOCK_SECONDS * check_rate(sample_rate))
        self._response = k_weighting(sample_rate, 2 * self.block)[:, None]
        self._previous = np.zeros((self.block, check_channels(channels)))
        self._energies: deque[float] = deque(maxlen=_BLOCKS_PER_WINDOW)
        self._windows: list[float] = []

    def add(self, block: npt.NDArray[np.float64]) -> None:
        """Take the next block, [samples, channels].

        The weighting is applied to the spectrum of this block and the one before. Its impulse response has died away
        within one block, so the second half is what a filter running over the whole stream would give.
        """
        spectrum = np.fft.rfft(np.concatenate([self._previous, block]), axis=0) * self._response
        weighted = np.fft.irfft(spectrum, 2 * self.block, axis=0)[self.block :]
        self._previous = block.copy()
        energy = float(np.mean(weighted**2, axis=0).sum())
        if not self._energies and _lufs(energy) <= self._gate:
            return  # A window half full of the silence before the first word would call the voice too soft.
        self._energies.append(energy)
        if len(self._energies) == _BLOCKS_PER_WINDOW:
            mean = sum(self._energies) / _BLOCKS_PER_WINDOW
            if _lufs(mean) > self._gate:
                self._windows.append(mean)

    @property
    def loudness(self) -> float | None:
        """The loudness so far; None before there was any speech."""
        windows = self._gated()
        return _lufs(sum(windows) / len(windows)) if windows else None

    @property
    def windows(self) -> int:
        """The number of speech windows measured."""
        return len(self._gated())

    def _gated(self) -> list[float]:
        if not self._windows:
            return []
        least = sum(self._windows) / len(self._windows) * 10.0 ** (_RELATIVE_GATE / 10)
        return [energy for energy in self._windows if energy > least]


def _lufs(energy: float) -> float:
    return -0.691 + 10.0 * float(np.log10(max(energy, 1e-12)))


def k_weighting(sample_rate: int, size: int) -> npt.NDArray[np.complex128]:
    """The standard's two filters as one frequency response, at the bins of a real FFT of `size` points.

    The standard tabulates coefficients for 48 kHz; the analogue filters behind them give those of any rate.
    """
    delay = np.exp(-2j * np.pi * np.fft.rfftfreq(size))
    bins = np.stack([np.ones_like(delay), delay, delay**2])
    response: npt.NDArray[np.complex128] = np.ones_like(delay)
    for numerator, denominator in (shelf_filter(sample_rate), highpass_filter(sample_rate)):
        response *= (numerator @ bins) / (denominator @ bins)
    return response


Biquad = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def shelf_filter(sample_rate: int) -> Biquad:
    """The first filter: treble raised by 4 dB, as the head does."""
    warped = np.tan(np.pi * 1681.974450955533 / sample_rate)
    quality, high = 0.7071752369554196, 10.0 ** (3.999843853973347 / 20)
    middle = high**0.4996667741545416
    lead = 1 + warped / quality + warped**2
    numerator = [high + middle * warped / quality + warped**2, 2 * (warped**2 - high)]
    numerator.append(high - middle * warped / quality + warped**2)
    return np.array(numerator) / lead, np.array([lead, 2 * (warped**2 - 1), 1 - warped / quality + warped**2]) / lead


def highpass_filter(sample_rate: int) -> Biquad:
    """The second filter: what is too deep to add loudness is cut."""
    warped = np.tan(np.pi * 38.13547087602444 / sample_rate)
    quality = 0.5003270373238773
    lead = 1 + warped / quality + warped**2
    denominator = np.array([lead, 2 * (warped**2 - 1), 1 - warped / quality + warped**2]) / lead
    return np.array([1.0, -2.0, 1.0]), denominator
