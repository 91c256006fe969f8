"""Speech tokens to samples: the flow and the vocoder of one model on one device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import structlog
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.budget import ByteBudget, Lease
from polyvox.engines.cosyvoice.cuda_graphs.encoder import TokenEncoderGraphs
from polyvox.engines.cosyvoice.cuda_graphs.flow import EXTENTS, SolverGraphs
from polyvox.engines.cosyvoice.cuda_graphs.vocoder import CausalHiftGraphs, HiftGraphs
from polyvox.engines.cosyvoice.hops import HopLengths
from polyvox.engines.cosyvoice.speech_decoder import DecoderState, DeviceStream, Token2WavResult, step_noise
from polyvox.engines.cosyvoice.stage_clock import StageClock
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowPrompt, FlowRunner, FlowState
from polyvox.models.cosyvoice.flow_v2 import ConformerTokenEncoder
from polyvox.models.cosyvoice.noise import flow_noise, source_noise
from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import OVERLAP_FRAMES, Hift, HiftState
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.placement import Placement
from polyvox.types import PreparedVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

MAX_TOKENS = 1500
"""Speech tokens of the longest segment, a minute; version 3's vocoder noise covers it."""

FlowCache = Literal["full", "window", "recompute"]
_SAMPLES_PER_FRAME = 480
_VOCODER_NOISE = 1
_CAPTURED_BLOCKS = (1, 2, 4)
"""Blocks of the flow in one captured call."""


@dataclass(frozen=True, slots=True)
class Token2WavState(DecoderState):
    """State of one stream. It is never written to."""

    prompt: FlowPrompt
    flow: FlowState
    vocoder: HiftState | CausalHiftState | None
    steps: int = 0
    frames: int = 0
    known: tuple[int, ...] = ()
    """All tokens so far."""
    leases: tuple[Lease, ...] = ()
    """Shares of the memory budget that pay for the flow's caches."""
    recomputes: bool = False
    """Whether the flow has no cache and computes the whole stream again in each step."""

    @property
    def nbytes(self) -> int:
        """Memory of the flow's caches for this stream."""
        return self.flow.nbytes


class Token2Wav:
    """Flow and vocoder, the latter in single precision everywhere.

    It holds no state of a stream; one thread may call it.
    """

    def __init__(
        self,
        flow: Flow,
        vocoder: Hift | CausalHift,
        placement: Placement,
        flow_cache: FlowCache = "full",
        window: int = 500,
        budget: ByteBudget | None = None,
    ) -> None:
        """The `budget`, if there is one, bounds the flow's caches of all streams together."""
        self._device = torch.device(placement.device)
        self.flow: Flow = flow.to(self._device)
        self.vocoder: Hift | CausalHift = vocoder.to(self._device)
        self._flow_cache = flow_cache
        self._window = window if flow_cache == "window" else None
        self._budget = budget
        self._flow_noise = flow_noise().to(self._device)
        self._source_noise = self._make_source_noise() if isinstance(vocoder, CausalHift) else None
        self.flow_runner = self.flow.eager_runner
        self.vocoder_runner: Hift | CausalHift | HiftGraphs | CausalHiftGraphs = self.vocoder
        self.stream = DeviceStream(self._device)
        """Callers that run the networks directly do so within it."""

    @torch.inference_mode()
    def capture(self, replay: Replay, hops: HopLengths) -> None:
        """Capture hops of these lengths and replay them from now on; RuntimeError where they cannot be captured."""
        with self.stream():
            # Without a cache, the flow computes ever longer sequences, which have no fixed shapes.
            flow_runner = self.flow_runner if self._flow_cache == "recompute" else self._capture_flow(replay, hops)
            vocoder_runner = self._capture_vocoder(replay, hops)
        self.flow_runner, self.vocoder_runner = flow_runner, vocoder_runner

    def use(self, flow_runner: FlowRunner | None = None, vocoder_runner: Hift | CausalHift | None = None) -> None:
        """Run a stage by another executor from now on; None leaves it as it is."""
        self.flow_runner = flow_runner or self.flow_runner
        self.vocoder_runner = vocoder_runner or self.vocoder_runner

    def _capture_flow(self, replay: Replay, hops: HopLengths) -> FlowRunner:
        block, most = self.flow.config.block, _CAPTURED_BLOCKS[-1]
        sizes = [
            block * each for each in {*_CAPTURED_BLOCKS, *(later // block for later in hops.later)} if each <= most
        ]
        solver = SolverGraphs(self.flow, replay, [FRAMES_PER_TOKEN * each for each in sizes])
        solver.capture()
        # The token encoder of version 3 is a single layer, not worth a graph.
        if not isinstance(self.flow.token_encoder, ConformerTokenEncoder):
            return FlowRunner(self.flow.encode, solver)
        encoder = TokenEncoderGraphs(self.flow, replay, sizes, [extent // FRAMES_PER_TOKEN for extent in EXTENTS])
        encoder.capture()
        return FlowRunner(encoder, solver)

    def _capture_vocoder(self, replay: Replay, hops: HopLengths) -> HiftGraphs | CausalHiftGraphs:
        first, later = ([FRAMES_PER_TOKEN * each for each in lengths] for lengths in (hops.first, hops.later))
        # The last hop of a stream holds the rest of its tokens and the lookahead of the hop before it.
        ends = (each + self.flow.config.ahead for each in (self.flow.config.block, max(hops.first), *hops.later))
        last = {FRAMES_PER_TOKEN * each for each in ends}
        runner: HiftGraphs | CausalHiftGraphs
        if isinstance(self.vocoder, CausalHift):
            runner = CausalHiftGraphs(self.vocoder, replay, first, later, last)
        else:
            runner = HiftGraphs(self.vocoder, replay, first, later, last)
        runner.capture()
        return runner

    def _make_source_noise(self) -> Tensor:
        flow, source = self.flow.config, self.vocoder.config.source
        samples = (MAX_TOKENS * FRAMES_PER_TOKEN + 16) * _SAMPLES_PER_FRAME
        noise = source_noise(samples, tokens=flow.tokens, speaker=flow.speaker, channels=source.channels)
        return noise.to(self._device)

    @torch.inference_mode()
    def start(self, voice: PreparedVoice) -> Token2WavState:
        """The state before the first token, with the voice's prompt already in the flow's caches; it may be reused."""
        with self.stream():
            return self._start(voice)

    def _start(self, voice: PreparedVoice) -> Token2WavState:
        bins = self.flow.config.bins
        tokens = voice.arrays.get("tokens", np.zeros(0, np.int32))
        mel = voice.arrays.get("mel", np.zeros((bins, 0), np.float32))
        prompt = FlowPrompt(
            self._tensor(tokens, torch.long), self._tensor(mel), self._tensor(voice.arrays["embedding"])
        )
        flow = self.flow.start(prompt, self._flow_noise, window=self._window)
        state = Token2WavState(0, prompt, flow, None, recomputes=self._flow_cache == "recompute")
        if state.recomputes:
            return state
        _, flow = self.flow.step(prompt.tokens[:, :0], flow, runner=self.flow_runner)
        return self._with_lease(replace(state, flow=flow))

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], state: DecoderState, *, final: bool) -> Token2WavResult:
        """Add tokens; returns the samples that are complete, with the `final` call all of them."""
        assert isinstance(state, Token2WavState)
        with self.stream():
            return self._step(tokens, state, final=final)

    def _step(self, tokens: Sequence[int], state: Token2WavState, *, final: bool) -> Token2WavResult:
        known, clock = (*state.known, *tokens), StageClock(self._device)
        if state.recomputes:
            mel, flow = self._recompute(known, state, final=final), state.flow
        else:
            new = self._tensor(np.array(tokens, np.int64), torch.long)
            mel, flow = self.flow.step(new, state.flow, final=final, runner=self.flow_runner)
        clock.mark()
        samples, vocoder = self.vocode(mel.float(), state, final=final)
        clock.mark()
        frames = state.frames + mel.shape[2]
        after = replace(state, flow=flow, vocoder=vocoder, steps=state.steps + 1, frames=frames, known=known)
        # The weights of version 2's crossfade add up to more than one.
        pcm = samples[0].float().clamp(-1.0, 1.0).cpu().numpy()
        return Token2WavResult(pcm, mel.shape[2], after if final else self._with_lease(after), *clock.seconds())

    def _with_lease(self, state: Token2WavState) -> Token2WavState:
        """The state with its caches paid for or, where the budget is exhausted, without caches."""
        owed = state.nbytes - sum(lease.nbytes for lease in state.leases)
        if self._budget is None or owed <= 0:
            return state
        lease = self._budget.take(owed)
        if lease is not None:
            return replace(state, leases=(*state.leases, lease))
        log.warning(
            "The memory for the streams' flow caches is exhausted, so this stream is computed anew with every chunk.",
            limit_bytes=self._budget.most,
            tokens=len(state.known),
        )
        return replace(state, flow=replace(state.flow, encoder_cache=(), solver_cache=None), leases=(), recomputes=True)

    def _recompute(self, known: tuple[int, ...], state: Token2WavState, *, final: bool) -> Tensor:
        """The new frames of a pass over all tokens, cut at the block boundaries of a stream."""
        config, prompt = self.flow.config, state.prompt.tokens.shape[1]
        whole = (prompt + len(known) - config.ahead) // config.block * config.block + config.ahead - prompt
        count = len(known) if final else whole
        if count <= 0:
            return state.prompt.mel.new_zeros(1, config.bins, 0)
        tokens = self._tensor(np.array(known[:count], np.int64), torch.long)
        mel = self.flow.render(state.prompt, tokens, self._flow_noise, streaming=True, final=final)
        return mel[:, :, state.frames :]

    def vocode(
        self, mel: Tensor, state: Token2WavState, *, final: bool
    ) -> tuple[Tensor, HiftState | CausalHiftState | None]:
        """The samples of more mel frames, and the vocoder's state after them."""
        if isinstance(self.vocoder_runner, CausalHift | CausalHiftGraphs):
            assert isinstance(self.vocoder, CausalHift)
            assert self._source_noise is not None
            before = state.vocoder or self.vocoder.start(self._source_noise)
            assert isinstance(before, CausalHiftState)
            return self.vocoder_runner.step(mel, before, final=final)
        previous = state.vocoder
        assert previous is None or isinstance(previous, HiftState)
        if mel.shape[2] <= OVERLAP_FRAMES and previous is None and not final:
            raise ValueError(f"A first chunk needs more than {OVERLAP_FRAMES} mel frames, not {mel.shape[2]}.")
        frames = mel.shape[2] + (0 if previous is None else previous.mel.shape[2])
        return self.vocoder_runner.step(mel, self._vocoder_noise(state, frames), previous, final=final)

    def _vocoder_noise(self, state: Token2WavState, frames: int) -> Tensor:
        """Version 2's noise of one step."""
        shape = (1, frames * _SAMPLES_PER_FRAME, self.vocoder.config.source.harmonics)
        return step_noise(state.seed, _VOCODER_NOISE, state.steps, shape).to(self._device)

    def _tensor(self, array: "np.ndarray[Any, Any]", dtype: torch.dtype = torch.float32) -> Tensor:
        """A tensor on the device, as a batch of one."""
        return torch.from_numpy(np.array(array)).to(self._device, dtype)[None]
