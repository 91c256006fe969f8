"""ZipVoice's published ONNX graphs on ONNX Runtime, in the place of the network itself."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from polyvox.errors import BundleError
from polyvox.models.zipvoice.calls import ONE_BY_ONE, Each
from polyvox.models.zipvoice.model import Flow, Line, Solver, begun
from polyvox.runtime.executors.ort import OrtGraph

_TEXT_INPUTS = ("tokens", "prompt_tokens", "prompt_features_len", "speed")
_DECODER_INPUTS = ("t", "x", "text_condition", "speech_condition", "guidance_scale")


class ZipVoiceGraphs:
    """Text encoder and decoder as two graphs. They take one row at a time and guide it themselves."""

    def __init__(self, folder: Path, *, int8: bool, threads: int) -> None:
        suffix = "_int8.onnx" if int8 else ".onnx"
        self._text = _opened(folder / f"text_encoder{suffix}", threads, _TEXT_INPUTS)
        self._decoder = _opened(folder / f"fm_decoder{suffix}", threads, _DECODER_INPUTS)

    def start(self, lines: Sequence[Line], noise: Sequence[Tensor], solvers: Sequence[Solver]) -> list[Flow]:
        """Flows at their beginning; each line's noise is [frames, features]."""
        return begun(lines, [self._text_condition(line) for line in lines], noise, solvers)

    def step(self, flows: Sequence[Flow], frames_per_call: int | None = None, each: Each = ONE_BY_ONE) -> list[Flow]:
        """Each flow one step on; a graph's call is one row whatever the budget is, by threads of its own."""
        return [flow.advanced(self._velocity(flow)) for flow in flows]

    def _text_condition(self, line: Line) -> Tensor:
        """What each frame is to say, [frames, bins].

        The graph divides the prompt's frames by the speed as well, which the network does not. Asked at the speed for
        which its rule gives the length that the network's gives, it gives what the network gives.
        """
        prompt, tokens = len(line.prompt_tokens), len(line.prompt_tokens) + len(line.tokens)
        speed = len(line.prompt) / prompt * tokens / (line.frames - 0.5)
        (condition,) = self._text.run(
            ("text_condition",),
            {
                "tokens": np.array([line.tokens], np.int64),
                "prompt_tokens": np.array([line.prompt_tokens], np.int64),
                "prompt_features_len": np.array(len(line.prompt), np.int64),
                "speed": np.array(speed, np.float32),
            },
        )
        if condition.shape[1] != line.frames:
            raise BundleError(f"The text graph made {condition.shape[1]} frames where {line.frames} were due.")
        return torch.from_numpy(condition[0])

    def _velocity(self, flow: Flow) -> Tensor:
        (velocity,) = self._decoder.run(
            ("v",),
            {
                "t": np.array(flow.time, np.float32),
                "x": flow.mel[None].numpy(),
                "text_condition": flow.text[None].numpy(),
                "speech_condition": flow.speech[None].numpy(),
                "guidance_scale": np.array(flow.guidance, np.float32),
            },
        )
        return torch.from_numpy(velocity[0])


def _opened(path: Path, threads: int, inputs: tuple[str, ...]) -> OrtGraph:
    """A graph that takes what ZipVoice's takes."""
    try:
        graph = OrtGraph(path, threads)
    except Exception as error:
        # ONNX Runtime raises classes of its own for every kind of broken file, all of them plain exceptions.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BundleError(f"{path} cannot be opened as a graph ({reason}); fetch the model again.") from error
    if sorted(graph.inputs) != sorted(inputs):
        raise BundleError(f"{path} takes {', '.join(graph.inputs)}, not {', '.join(inputs)}; fetch the model again.")
    return graph
