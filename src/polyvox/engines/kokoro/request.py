"""One chunk's request to Kokoro's network, and the network's input and output."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.chunking import PhonemeChunk
from polyvox.types import Pcm

if TYPE_CHECKING:
    from polyvox.engines.kokoro.remote_chunk import RemoteChunk


@dataclass(frozen=True, slots=True)
class ModelInput:
    """Token ids without padding, the row of the voice pack for their number, and the speed."""

    ids: tuple[int, ...]
    style: npt.NDArray[np.float32]
    speed: float

    def first(self, count: int) -> "ModelInput":
        """The first ids, in the style of all of them."""
        return replace(self, ids=self.ids[:count])


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """Samples at 24 kHz, and the duration of each id in frames of 600 samples, the padding at both ends included."""

    pcm: Pcm
    durations: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """A chunk and its network input; a chunk that is only a pause has no ids. Without a gain, samples stay raw."""

    chunk: "PhonemeChunk | RemoteChunk"
    input: ModelInput
    gain: float | None = None

    @property
    def phoneme_chunk(self) -> PhonemeChunk:
        """The chunk with its words, which this process has read."""
        assert isinstance(self.chunk, PhonemeChunk)
        return self.chunk
