"""What is asked of Kokoro's network for one chunk, and what it answers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.plan import Chunk
from polyvox.types import Pcm


@dataclass(frozen=True, slots=True)
class ModelInput:
    """Ids without padding, the style row for their number, and how fast to speak."""

    ids: tuple[int, ...]
    style: npt.NDArray[np.float32]
    speed: float


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """Samples at 24 kHz, and frames of 600 samples for each id, the padding at both ends included."""

    pcm: Pcm
    durations: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Call:
    """One chunk on its way through the network; a pause alone has no ids."""

    chunk: Chunk
    input: ModelInput
