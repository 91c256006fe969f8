"""Networks that hum instead of speaking, at once and by the rules for lengths."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import Networks
from polyvox.models.zipvoice.calls import ONE_BY_ONE, Each
from polyvox.models.zipvoice.model import Flow, Line, Solver, begun
from polyvox.text.tokenizers.vocabulary import read_vocabulary

TOKENS = Path(__file__).parents[1] / "golden" / "zipvoice_frontend" / "tokens.txt"


class HummingAcoustics:
    """Follows flows that do not move, and counts the steps; keeps the prompts that it was given."""

    def __init__(self) -> None:
        self.steps = 0
        self.lines: list[Line] = []

    def start(self, lines: Sequence[Line], noise: Sequence[torch.Tensor], solvers: Sequence[Solver]) -> list[Flow]:
        self.lines += lines
        return begun(lines, [torch.zeros(line.frames, BINS) for line in lines], noise, solvers)

    def step(self, flows: Sequence[Flow], frames_per_call: int | None = None, each: Each = ONE_BY_ONE) -> list[Flow]:
        self.steps += 1
        return [flow.advanced(torch.zeros(())) for flow in flows]


def hum(mel: torch.Tensor) -> torch.Tensor:
    """As long as a mel is, without a pause."""
    return torch.full(((len(mel) - 1) * 256,), 0.1)


def humming(sound: Callable[[torch.Tensor], torch.Tensor] = hum) -> tuple[Networks, HummingAcoustics]:
    """The networks of a model for one voice, and what is to be asked about them."""
    vocos: Any = lambda mels: [sound(mel) for mel in mels]  # noqa: E731
    acoustics = HummingAcoustics()
    return Networks(acoustics, vocos, read_vocabulary(TOKENS), None), acoustics
