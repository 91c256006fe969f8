"""Kokoro's front on ONNX Runtime: text encoder and prosody behind a small BERT, without the decoder."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.engines.kokoro.wren.front_cache import FrontCache
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.runtime.executors.ort import OrtGraph

_OUTPUTS: Final = ("text", "pitch", "energy", "durations")


class KokoroFront:
    """Plans a chunk: durations, aligned text, pitch and energy."""

    def __init__(self, model: Path, bert: Path, threads: int) -> None:
        self._graph = OrtGraph(FrontCache(model, bert).graph(), threads)

    def plan(self, item: ModelInput) -> UtterancePlan:
        style = item.style.reshape(1, -1)
        inputs: dict[str, npt.NDArray[Any]] = {
            "input_ids": np.array([[PADDING, *item.ids, PADDING]], dtype=np.int64),
            "style": style,
            "speed": np.array([item.speed], dtype=np.float32),
        }
        text, pitch, energy, durations = self._graph.run(_OUTPUTS, inputs)
        acoustic = style[0, : style.shape[1] // 2]
        return UtterancePlan(text[0], pitch[0], energy[0], acoustic, durations.reshape(-1).astype(np.int64))
