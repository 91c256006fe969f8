"""The flow of whole segments with full attention, as the original runs it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop, FlowResult
from polyvox.models.cosyvoice.flow import Flow, FlowPrompt


@dataclass(frozen=True, slots=True)
class WholeFlowState:
    """The tokens of a segment so far."""

    prompt: FlowPrompt
    tokens: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """It has no caches."""
        return 0


class WholeFlow:
    """A `FlowStage` that computes a segment when its last token is there.

    Segments run one after the other: full attention over segments of different lengths would have to mask padding in
    every layer, for a mode that is there to compare with the original.
    """

    def __init__(self, flow: Flow, noise: Tensor) -> None:
        self._flow, self._noise = flow, noise

    def start(self, prompt: FlowPrompt) -> WholeFlowState:
        return WholeFlowState(prompt)

    def step(self, hops: Sequence[FlowHop]) -> list[FlowResult]:
        return [self._step(hop) for hop in hops]

    def _step(self, hop: FlowHop) -> FlowResult:
        assert isinstance(hop.state, WholeFlowState)
        state = replace(hop.state, tokens=(*hop.state.tokens, *hop.tokens))
        if not hop.final:
            return FlowResult(self._noise.new_zeros(self._flow.config.bins, 0), state)
        tokens = torch.tensor([state.tokens], dtype=torch.long, device=self._noise.device)
        mel = self._flow.render(state.prompt, tokens, self._noise, streaming=False, final=True)
        return FlowResult(mel[0], None)
