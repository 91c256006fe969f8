"""ZipVoice's ONNX graphs on ONNX Runtime, in place of the PyTorch network."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from polyvox.errors import BundleError
from polyvox.models.zipvoice.batching import SEQUENTIAL, CallRunner
from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput, initial_states
from polyvox.runtime.executors.ort import OrtGraph, open_graph

_TEXT_INPUTS = ("tokens", "prompt_tokens", "prompt_features_len", "speed")
_DECODER_INPUTS = ("t", "x", "text_condition", "speech_condition", "guidance_scale")


class OnnxZipVoice:
    """Text encoder and decoder as two graphs. They take one row at a time; guidance is part of the decoder's graph."""

    def __init__(self, folder: Path, *, int8: bool, threads: int) -> None:
        suffix = "_int8.onnx" if int8 else ".onnx"
        self._text = _open(folder / f"text_encoder{suffix}", threads, _TEXT_INPUTS)
        self._decoder = _open(folder / f"fm_decoder{suffix}", threads, _DECODER_INPUTS)

    def start(
        self, inputs: Sequence[ZipVoiceInput], noise: Sequence[Tensor], options: Sequence[SolverOptions]
    ) -> list[SolverState]:
        """States before the first step; the noise of each row is [frames, features]."""
        return initial_states(inputs, [self._text_condition(row) for row in inputs], noise, options)

    def step(
        self, states: Sequence[SolverState], frames_per_call: int | None = None, runner: CallRunner = SEQUENTIAL
    ) -> list[SolverState]:
        """Advance each row by one step; a call is one row whatever the budget, on ONNX Runtime's own threads."""
        return [state.advance(self._velocity(state)) for state in states]

    def _text_condition(self, row: ZipVoiceInput) -> Tensor:
        """The text condition, [frames, bins].

        The graph divides the prompt's frames by the speed as well, which the network does not. At the speed for which
        its rule gives the network's length, its output is the network's.
        """
        prompt, tokens = len(row.prompt_tokens), len(row.prompt_tokens) + len(row.tokens)
        speed = len(row.prompt) / prompt * tokens / (row.frames - 0.5)
        (condition,) = self._text.run(
            ("text_condition",),
            {
                "tokens": np.array([row.tokens], np.int64),
                "prompt_tokens": np.array([row.prompt_tokens], np.int64),
                "prompt_features_len": np.array(len(row.prompt), np.int64),
                "speed": np.array(speed, np.float32),
            },
        )
        if condition.shape[1] != row.frames:
            raise BundleError(f"The text graph made {condition.shape[1]} frames, not {row.frames}.")
        return torch.from_numpy(condition[0])

    def _velocity(self, state: SolverState) -> Tensor:
        (velocity,) = self._decoder.run(
            ("v",),
            {
                "t": np.array(state.time, np.float32),
                "x": state.mel[None].numpy(),
                "text_condition": state.text_condition[None].numpy(),
                "speech_condition": state.speech_condition[None].numpy(),
                "guidance_scale": np.array(state.guidance, np.float32),
            },
        )
        return torch.from_numpy(velocity[0])


def _open(path: Path, threads: int, inputs: tuple[str, ...]) -> OrtGraph:
    """A graph with the inputs that ZipVoice's has."""
    graph = open_graph(path, threads)
    if sorted(graph.inputs) != sorted(inputs):
        raise BundleError(f"{path} takes {', '.join(graph.inputs)}, not {', '.join(inputs)}; fetch the model again.")
    return graph
