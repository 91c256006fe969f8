"""One call of Kokoro's network: phoneme ids and a style in, samples and durations out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.runtime.executors.ort import OrtGraph
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


class KokoroModel:
    """The network on ONNX Runtime. It has no random node: the same input gives the same samples."""

    def __init__(self, path: Path, threads: int) -> None:
        self._graph = OrtGraph(path, threads)

    def run(self, item: ModelInput) -> ModelOutput:
        waveform, durations = self._graph.run(
            ("waveform", "durations"),
            {
                "input_ids": np.array([[PADDING, *item.ids, PADDING]], dtype=np.int64),
                "style": item.style,
                "speed": np.array([item.speed], dtype=np.float32),
            },
        )
        return ModelOutput(waveform.reshape(-1), durations.reshape(-1).astype(np.int64))
