"""Kokoro's network on ONNX Runtime."""

from pathlib import Path

import numpy as np

from polyvox.engines.kokoro.request import ModelInput, ModelOutput
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.runtime.executors.ort import OrtGraph


class KokoroModel:
    """The quantised ONNX graph. It has no random node: the same input gives the same samples."""

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
