"""The plan of an utterance by Kokoro's front, before it is decoded."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class UtterancePlan:
    """Aligned text [width, n], pitch in hertz and energy [2 n], acoustic style [128], and frames of each id.

    A frame of text is 600 samples long, and one of pitch or energy 300.
    """

    text: npt.NDArray[np.float32]
    pitch: npt.NDArray[np.float32]
    energy: npt.NDArray[np.float32]
    style: npt.NDArray[np.float32]
    durations: npt.NDArray[np.int64]
