"""The contract of the audio decoder's two stages, flow and vocoder: hops of many streams in, each one's result out.

A stage holds no state of a stream, and no state is ever written to. One thread may use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from polyvox.models.cosyvoice.flow import FlowPrompt


class FlowStageState(Protocol):
    """A stream's flow."""

    @property
    def nbytes(self) -> int:
        """Memory of its caches, what is shared with other streams of the same voice included."""


@dataclass(frozen=True, slots=True)
class FlowHop:
    """New tokens of a stream, and the state that they continue."""

    tokens: Sequence[int]
    state: FlowStageState
    final: bool = False


@dataclass(frozen=True, slots=True)
class FlowResult:
    """The mel frames [bins, n] that a hop completes, without the prompt's, and the state after it.

    There is no mel where there was no memory to compute it, and no state where there was none to keep it.
    """

    mel: Tensor | None
    state: FlowStageState | None


class FlowStage(Protocol):
    """Tokens to mel frames."""

    def start(self, prompt: FlowPrompt) -> FlowStageState:
        """The state of a stream in this voice, whose prompt the first hop computes."""

    def step(self, hops: Sequence[FlowHop]) -> list[FlowResult]:
        """The result of each hop."""


@dataclass(frozen=True, slots=True)
class VocoderHop:
    """New mel frames [bins, n] of a stream, and the state that they continue; None is the start."""

    mel: Tensor
    state: object | None
    final: bool
    noise_start: int = 0
    """The sample of the noise that version 2 begins this hop with."""


@dataclass(frozen=True, slots=True)
class VocoderResult:
    """The samples [n] that a hop completes, and the state after it; None behind the last."""

    samples: Tensor
    state: object | None


class VocoderStage(Protocol):
    """Mel frames to samples."""

    def step(self, hops: Sequence[VocoderHop]) -> list[VocoderResult]:
        """The result of each hop."""
