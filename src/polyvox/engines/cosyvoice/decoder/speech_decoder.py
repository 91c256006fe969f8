"""The contract of CosyVoice's audio decoders: speech tokens of one stream in, samples out, step by step."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from polyvox.types import Pcm, PreparedVoice, Seconds


@dataclass(frozen=True, slots=True)
class DecoderState:
    """State of one stream, whose random draws follow from `seed`. It is never written to."""

    seed: int

    @property
    def nbytes(self) -> int:
        """Memory of the caches for this stream."""
        return 0


@dataclass(frozen=True, slots=True)
class Token2WavResult:
    """The samples of one step, the number of its mel frames, the state after it, and the time of flow and vocoder."""

    pcm: Pcm
    frames: int
    state: DecoderState
    flow_seconds: Seconds | None = None
    vocoder_seconds: Seconds | None = None

    @property
    def device_seconds(self) -> float:
        """The share of the device's time that the step took."""
        return sum(each.device or 0.0 for each in (self.flow_seconds, self.vocoder_seconds) if each is not None)


@dataclass(frozen=True, slots=True)
class Hop:
    """One decoding step of a stream: new tokens and the state that they continue."""

    tokens: tuple[int, ...]
    state: DecoderState
    final: bool


class SpeechDecoder(Protocol):
    """Flow and vocoder of one model. It holds no state of a stream; one thread may call it."""

    def start(self, voice: PreparedVoice) -> DecoderState:
        """The state before the first token of a stream in this voice; it may be reused."""

    def step(self, tokens: Sequence[int], state: DecoderState, *, final: bool) -> Token2WavResult:
        """Add tokens; returns the samples that are complete, with the `final` call all of them."""

    def step_batch(self, hops: Sequence[Hop]) -> list[Token2WavResult]:
        """One step of each of several streams."""


class DeviceStream:
    """A CUDA stream of its own on a GPU, so that audio and the language model's decoding do not wait for each other."""

    def __init__(self, device: torch.device) -> None:
        self._stream = _new_stream() if device.type == "cuda" else None

    def __call__(self) -> AbstractContextManager[object]:
        """The context in which work goes to the stream; elsewhere it changes nothing."""
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)


def _new_stream() -> torch.cuda.Stream:
    """A CUDA stream whose work begins when that of the default stream is done.

    Its priority is high: a chunk that is decoded is heard, while the language model works ahead.
    """
    torch.cuda.synchronize()
    return torch.cuda.Stream(priority=-1)  # type: ignore[no-untyped-call]


def step_noise(seed: int, kind: int, step: int, shape: tuple[int, ...]) -> Tensor:
    """Gaussian noise as a function of seed, kind and step, where the original draws it anew."""
    return torch.from_numpy(_generator(seed, kind, step).standard_normal(shape, np.float32))


def step_uniforms(seed: int, kind: int, step: int, shape: tuple[int, ...]) -> Tensor:
    """Uniform numbers in [0, 1), likewise."""
    return torch.from_numpy(_generator(seed, kind, step).random(shape, np.float32))


def step_integer(seed: int, kind: int, step: int, below: int) -> int:
    """A whole number from 0 on, likewise."""
    return int(_generator(seed, kind, step).integers(below))


def _generator(seed: int, kind: int, step: int) -> np.random.Generator:
    key = np.array([seed % 2**64, kind], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, step]))
