"""What speaks: from tokens to mel, and from mel to samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from polyvox.models.zipvoice.calls import ONE_BY_ONE, Each
from polyvox.models.zipvoice.model import Flow, Line, Solver
from polyvox.models.zipvoice.vocos import Vocos
from polyvox.text.tokenizers.vocabulary import TokenVocabulary


class Acoustics(Protocol):
    """Tokens to mel, step by step, many requests at once: the network, or graphs in its place."""

    def start(self, lines: Sequence[Line], noise: Sequence[Tensor], solvers: Sequence[Solver]) -> list[Flow]: ...

    def step(
        self, flows: Sequence[Flow], frames_per_call: int | None = None, each: Each = ONE_BY_ONE
    ) -> list[Flow]: ...


@dataclass(frozen=True, slots=True)
class Networks:
    """The networks of one model, its tokens, and in a model for dialogues the tokens of its two speakers."""

    acoustics: Acoustics
    vocos: Vocos
    vocabulary: TokenVocabulary
    speaker_tags: tuple[int, int] | None
