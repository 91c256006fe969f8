"""Flow and vocoder one stream after the other: on the CPU, and for executors that take one stream at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.budget import ByteBudget, Lease
from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop, FlowResult, VocoderHop, VocoderResult
from polyvox.models.cosyvoice.flow import Flow, FlowPrompt, FlowRunner, FlowState
from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import Hift, HiftState

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LeasedFlowState:
    """A stream's flow, and the shares of the memory budget that pay for its caches."""

    flow: FlowState
    leases: tuple[Lease, ...] = ()

    @property
    def nbytes(self) -> int:
        return self.flow.nbytes


class SequentialFlow:
    """Hops one after the other, by any `FlowRunner`."""

    def __init__(
        self,
        flow: Flow,
        noise: Tensor,
        runner: FlowRunner,
        window: int | None = None,
        budget: ByteBudget | None = None,
    ) -> None:
        """The `budget`, if there is one, bounds the caches of all streams together."""
        self._flow, self._noise, self._window, self._budget = flow, noise, window, budget
        self.runner = runner

    def start(self, prompt: FlowPrompt) -> LeasedFlowState:
        return LeasedFlowState(self._flow.start(prompt, self._noise, window=self._window))

    def step(self, hops: Sequence[FlowHop]) -> list[FlowResult]:
        return [self._step(hop) for hop in hops]

    def _step(self, hop: FlowHop) -> FlowResult:
        assert isinstance(hop.state, LeasedFlowState)
        tokens = torch.tensor([list(hop.tokens)], dtype=torch.long, device=self._noise.device)
        mel, after = self._flow.step(tokens, hop.state.flow, final=hop.final, runner=self.runner)
        return FlowResult(mel[0], None if hop.final else self._with_lease(replace(hop.state, flow=after)))

    def _with_lease(self, state: LeasedFlowState) -> LeasedFlowState | None:
        """The state with its caches paid for, or None where the budget is exhausted."""
        owed = state.nbytes - sum(lease.nbytes for lease in state.leases)
        if self._budget is None or owed <= 0:
            return state
        lease = self._budget.take(owed)
        return None if lease is None else replace(state, leases=(*state.leases, lease))


class SequentialVocoder:
    """Hops one after the other."""

    def __init__(self, vocoder: Hift | CausalHift, noise: Tensor) -> None:
        """`noise` [1, samples, harmonics]: version 3 uses it from the start of each stream, version 2 from anywhere."""
        self.vocoder, self._noise = vocoder, noise

    def step(self, hops: Sequence[VocoderHop]) -> list[VocoderResult]:
        return [self._step(hop) for hop in hops]

    def _step(self, hop: VocoderHop) -> VocoderResult:
        mel, state = hop.mel.float()[None], hop.state
        if isinstance(self.vocoder, CausalHift):
            before = state or self.vocoder.start(self._noise)
            assert isinstance(before, CausalHiftState)
            samples, after = self.vocoder.step(mel, before, final=hop.final)
            return VocoderResult(samples[0], None if hop.final else after)
        assert state is None or isinstance(state, HiftState)
        frames = mel.shape[2] + (0 if state is None else state.mel.shape[2])
        samples, following = self.vocoder.step(mel, self._noise_of(hop, frames), state, final=hop.final)
        return VocoderResult(samples[0], following)

    def _noise_of(self, hop: VocoderHop, frames: int) -> Tensor:
        count = frames * self.vocoder.config.source.samples_per_frame
        positions = torch.arange(hop.noise_start, hop.noise_start + count, device=self._noise.device)
        return self._noise[:, positions % self._noise.shape[1]]
