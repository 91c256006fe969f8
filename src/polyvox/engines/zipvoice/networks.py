"""The networks of one ZipVoice model: tokens to mel, and mel to samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from polyvox.models.zipvoice.batching import SEQUENTIAL, CallRunner
from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput
from polyvox.models.zipvoice.vocos import Vocos
from polyvox.text.tokenizers.vocabulary import TokenVocabulary


class AcousticModel(Protocol):
    """Tokens to mel, step by step, many requests at once: the PyTorch network or the ONNX graphs."""

    def start(
        self, inputs: Sequence[ZipVoiceInput], noise: Sequence[Tensor], options: Sequence[SolverOptions]
    ) -> list[SolverState]: ...

    def step(
        self, states: Sequence[SolverState], frames_per_call: int | None = None, runner: CallRunner = SEQUENTIAL
    ) -> list[SolverState]: ...


@dataclass(frozen=True, slots=True)
class ZipVoiceNetworks:
    """Acoustic model and vocoder of one model, its vocabulary, and in a dialogue model its two speaker tags."""

    acoustic_model: AcousticModel
    vocos: Vocos
    vocabulary: TokenVocabulary
    speaker_tags: tuple[int, int] | None
