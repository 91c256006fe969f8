"""Fake ZipVoice networks that make a constant tone of the right length at once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.models.zipvoice.batching import SEQUENTIAL, CallRunner
from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput, initial_states
from polyvox.text.tokenizers.vocabulary import read_vocabulary

TOKENS = Path(__file__).parents[1] / "golden" / "zipvoice_frontend" / "tokens.txt"


class FakeAcousticModel:
    """Leaves the noise as it is; counts the steps and keeps the inputs."""

    def __init__(self) -> None:
        self.steps = 0
        self.inputs: list[ZipVoiceInput] = []

    def start(
        self, inputs: Sequence[ZipVoiceInput], noise: Sequence[torch.Tensor], options: Sequence[SolverOptions]
    ) -> list[SolverState]:
        self.inputs += inputs
        return initial_states(inputs, [torch.zeros(row.frames, BINS) for row in inputs], noise, options)

    def step(
        self, states: Sequence[SolverState], frames_per_call: int | None = None, runner: CallRunner = SEQUENTIAL
    ) -> list[SolverState]:
        self.steps += 1
        return [state.advance(torch.zeros(())) for state in states]


def constant_tone(mel: torch.Tensor) -> torch.Tensor:
    """Samples of the mel's length, without a pause."""
    return torch.full(((len(mel) - 1) * 256,), 0.1)


def fake_networks(
    sound: Callable[[torch.Tensor], torch.Tensor] = constant_tone,
) -> tuple[ZipVoiceNetworks, FakeAcousticModel]:
    """The networks of a model for one voice, and their acoustic model for its counts."""
    vocos: Any = lambda mels: [sound(mel) for mel in mels]  # noqa: E731
    acoustic_model = FakeAcousticModel()
    return ZipVoiceNetworks(acoustic_model, vocos, read_vocabulary(TOKENS), None), acoustic_model
