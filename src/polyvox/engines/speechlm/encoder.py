"""NeuCodec's encoder as an ONNX graph: a recording to codec tokens."""

from pathlib import Path

import numpy as np

from polyvox.audio.resample import resampled
from polyvox.engines.speechlm.prompt_builder import CodeVoice
from polyvox.errors import BundleError
from polyvox.runtime.executors.ort import OrtGraph, share_of_cores
from polyvox.types import VoicePrompt

INPUT, OUTPUT = "audio", "codes"
INPUT_RATE = 16_000


class CodecEncoder:
    """An ONNX graph that takes `audio`, float32 [1, 1, samples] at 16 kHz, and gives `codes`, [1, 1, tokens]."""

    def __init__(self, path: Path) -> None:
        self._graph = OrtGraph(path, share_of_cores(1))
        if OUTPUT not in self._graph.outputs:
            raise BundleError(f"{path} has no output '{OUTPUT}': it is not an encoder of NeuCodec.")

    def voice(self, prompt: VoicePrompt) -> CodeVoice:
        """Encode a recording."""
        pcm = resampled(prompt.pcm, prompt.sample_rate, INPUT_RATE)
        (codes,) = self._graph.run((OUTPUT,), {INPUT: pcm[None, None].astype(np.float32)})
        return CodeVoice.of(codes.reshape(-1).astype(np.int64), prompt.transcript, "reference_audio")
