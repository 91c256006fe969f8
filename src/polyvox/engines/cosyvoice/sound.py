"""From speech tokens to samples: the flow and the vocoder of one model on one device."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import structlog
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.budget import ByteBudget, Lease
from polyvox.engines.cosyvoice.flow_graphs import EXTENTS, FlowGraphs
from polyvox.engines.cosyvoice.front_graphs import FrontGraphs
from polyvox.engines.cosyvoice.hops import UsualHops
from polyvox.engines.cosyvoice.vocoder_graphs import CausalHiftGraphs, HiftGraphs
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowMeans, FlowPrompt, FlowState
from polyvox.models.cosyvoice.flow_v2 import ConformerFront
from polyvox.models.cosyvoice.noise import flow_noise, source_noise
from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import KEPT_FRAMES, Hift, HiftState
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.placement import Placement
from polyvox.types import Pcm, PreparedVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

MOST_TOKENS = 1500
"""The longest piece, a minute. The original's noise of version 3 is made for so long."""

FlowMemory = Literal["full", "window", "recompute"]
_SAMPLES_PER_FRAME = 480
_VOCODER_NOISE = 1
_BLOCKS_AT_ONCE = (1, 2, 4)
"""How many blocks of the flow one recorded call computes."""


@dataclass(frozen=True, slots=True)
class SoundState:
    """One stream of sound. It is never written to."""

    prompt: FlowPrompt
    flow: FlowState
    vocoder: HiftState | CausalHiftState | None
    seed: int
    steps: int = 0
    frames: int = 0
    known: tuple[int, ...] = ()
    """All tokens so far."""
    leases: tuple[Lease, ...] = ()
    """The shares of the budget that hold what the flow keeps."""
    recomputes: bool = False
    """Whether the flow keeps nothing and computes all again in each step."""

    @property
    def nbytes(self) -> int:
        """What the flow keeps for this stream."""
        return self.flow.nbytes


@dataclass(frozen=True, slots=True)
class Sounded:
    """What one step gave: samples, how many mel frames they took, and the stream after it."""

    pcm: Pcm
    frames: int
    state: SoundState


class Sound:
    """Flow and vocoder, the latter in single precision everywhere.

    It holds nothing of a stream's; one thread may call it.
    """

    def __init__(
        self,
        flow: Flow,
        vocoder: Hift | CausalHift,
        placement: Placement,
        memory: FlowMemory = "full",
        window: int = 500,
        budget: ByteBudget | None = None,
    ) -> None:
        """What the flow keeps of all streams is bounded by the `budget`, if there is one."""
        self._device = torch.device(placement.device)
        self.flow: Flow = flow.to(self._device)
        self.vocoder: Hift | CausalHift = vocoder.to(self._device)
        self._memory = memory
        self._window = window if memory == "window" else None
        self._budget = budget
        self._flow_noise = flow_noise().to(self._device)
        self._source_noise = self._made_source_noise() if isinstance(vocoder, CausalHift) else None
        self.means = self.flow.own_means
        self.renderer: Hift | CausalHift | HiftGraphs | CausalHiftGraphs = self.vocoder
        self._lane = _own_lane() if self._device.type == "cuda" else None

    @torch.inference_mode()
    def record(self, replay: Replay, hops: UsualHops) -> None:
        """From now on replay what chunks of the usual lengths take; RuntimeError where it cannot be recorded."""
        with self.lane():
            # A flow that keeps nothing computes ever longer stretches, of which none is usual.
            means = self.means if self._memory == "recompute" else self._recorded_means(replay, hops)
            renderer = self._recorded_renderer(replay, hops)
        self.means, self.renderer = means, renderer

    def lane(self) -> AbstractContextManager[object]:
        """On a GPU, a queue of its own, so that sound does not wait for tokens that are being decoded, nor they for it.

        Whoever calls the networks beside this object's own steps does so within it.
        """
        return nullcontext() if self._lane is None else torch.cuda.stream(self._lane)

    def _recorded_means(self, replay: Replay, hops: UsualHops) -> FlowMeans:
        block, most = self.flow.config.block, _BLOCKS_AT_ONCE[-1]
        sizes = [block * each for each in {*_BLOCKS_AT_ONCE, *(later // block for later in hops.later)} if each <= most]
        solver = FlowGraphs(self.flow, replay, [FRAMES_PER_TOKEN * each for each in sizes])
        solver.warm()
        # Only version 2 computes much before its flow is solved.
        if not isinstance(self.flow.front, ConformerFront):
            return FlowMeans(self.flow.encoded, solver)
        encoder = FrontGraphs(self.flow, replay, sizes, [extent // FRAMES_PER_TOKEN for extent in EXTENTS])
        encoder.warm()
        return FlowMeans(encoder, solver)

    def _recorded_renderer(self, replay: Replay, hops: UsualHops) -> HiftGraphs | CausalHiftGraphs:
        first, later = ([FRAMES_PER_TOKEN * each for each in lengths] for lengths in (hops.first, hops.later))
        # A stream ends with what was left for a chunk and with what that would have looked ahead to.
        ends = (each + self.flow.config.ahead for each in (self.flow.config.block, max(hops.first), *hops.later))
        last = {FRAMES_PER_TOKEN * each for each in ends}
        renderer: HiftGraphs | CausalHiftGraphs
        if isinstance(self.vocoder, CausalHift):
            renderer = CausalHiftGraphs(self.vocoder, replay, first, later, last)
        else:
            renderer = HiftGraphs(self.vocoder, replay, first, later, last)
        renderer.warm()
        return renderer

    def _made_source_noise(self) -> Tensor:
        flow, source = self.flow.config, self.vocoder.config.source
        samples = (MOST_TOKENS * FRAMES_PER_TOKEN + 16) * _SAMPLES_PER_FRAME
        noise = source_noise(samples, tokens=flow.tokens, speaker=flow.speaker, channels=source.channels)
        return noise.to(self._device)

    @torch.inference_mode()
    def start(self, voice: PreparedVoice) -> SoundState:
        """A voice before its first token, what the flow makes of its prompt done; it may be continued many times."""
        with self.lane():
            return self._started(voice)

    def _started(self, voice: PreparedVoice) -> SoundState:
        bins = self.flow.config.bins
        tokens = voice.arrays.get("tokens", np.zeros(0, np.int32))
        mel = voice.arrays.get("mel", np.zeros((bins, 0), np.float32))
        prompt = FlowPrompt(
            self._tensor(tokens, torch.long), self._tensor(mel), self._tensor(voice.arrays["embedding"])
        )
        flow = self.flow.start(prompt, self._flow_noise, window=self._window)
        state = SoundState(prompt, flow, None, 0, recomputes=self._memory == "recompute")
        if state.recomputes:
            return state
        _, flow = self.flow.step(prompt.tokens[:, :0], flow, means=self.means)
        return self._kept(replace(state, flow=flow))

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], state: SoundState, *, final: bool) -> Sounded:
        """More tokens; the samples that follow from them so far, all with the `final` call."""
        with self.lane():
            return self._stepped(tokens, state, final=final)

    def _stepped(self, tokens: Sequence[int], state: SoundState, *, final: bool) -> Sounded:
        known = (*state.known, *tokens)
        if state.recomputes:
            mel, flow = self._recomputed(known, state, final=final), state.flow
        else:
            new = self._tensor(np.array(tokens, np.int64), torch.long)
            mel, flow = self.flow.step(new, state.flow, final=final, means=self.means)
        samples, vocoder = self.rendered(mel.float(), state, final=final)
        frames = state.frames + mel.shape[2]
        after = replace(state, flow=flow, vocoder=vocoder, steps=state.steps + 1, frames=frames, known=known)
        # Where version 2 fades two pieces into each other, their weights add up to more than one.
        pcm = samples[0].float().clamp(-1.0, 1.0).cpu().numpy()
        return Sounded(pcm, mel.shape[2], after if final else self._kept(after))

    def _kept(self, state: SoundState) -> SoundState:
        """The state with what its flow keeps paid for; where the budget does not allow that, without it."""
        owed = state.nbytes - sum(lease.nbytes for lease in state.leases)
        if self._budget is None or owed <= 0:
            return state
        lease = self._budget.take(owed)
        if lease is not None:
            return replace(state, leases=(*state.leases, lease))
        log.warning(
            "What streams of speech keep has reached its limit, so this one computes all again with every chunk.",
            limit_bytes=self._budget.most,
            tokens=len(state.known),
        )
        return replace(state, flow=replace(state.flow, front=(), steps=None), leases=(), recomputes=True)

    def _recomputed(self, known: tuple[int, ...], state: SoundState, *, final: bool) -> Tensor:
        """The new frames of a pass over all tokens, cut where the blocks of a stream would be."""
        config, prompt = self.flow.config, state.prompt.tokens.shape[1]
        whole = (prompt + len(known) - config.ahead) // config.block * config.block + config.ahead - prompt
        count = len(known) if final else whole
        if count <= 0:
            return state.prompt.mel.new_zeros(1, config.bins, 0)
        tokens = self._tensor(np.array(known[:count], np.int64), torch.long)
        mel = self.flow.render(state.prompt, tokens, self._flow_noise, streaming=True, final=final)
        return mel[:, :, state.frames :]

    def rendered(
        self, mel: Tensor, state: SoundState, *, final: bool
    ) -> tuple[Tensor, HiftState | CausalHiftState | None]:
        """The samples of more mel frames, and where the vocoder stands after them."""
        if isinstance(self.renderer, CausalHift | CausalHiftGraphs):
            assert isinstance(self.vocoder, CausalHift)
            assert self._source_noise is not None
            before = state.vocoder or self.vocoder.start(self._source_noise)
            assert isinstance(before, CausalHiftState)
            return self.renderer.step(mel, before, final=final)
        kept = state.vocoder
        assert kept is None or isinstance(kept, HiftState)
        if mel.shape[2] <= KEPT_FRAMES and kept is None and not final:
            raise ValueError(f"A first chunk needs more than {KEPT_FRAMES} mel frames, not {mel.shape[2]}.")
        frames = mel.shape[2] + (0 if kept is None else kept.mel.shape[2])
        return self.renderer.step(mel, self._fresh_noise(state, frames), kept, final=final)

    def _fresh_noise(self, state: SoundState, frames: int) -> Tensor:
        """Version 2 draws new noise for every call; here it is a function of the seed and of how many came before."""
        key = np.array([state.seed % 2**64, _VOCODER_NOISE], np.uint64)
        draws = np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, state.steps]))
        shape = (1, frames * _SAMPLES_PER_FRAME, self.vocoder.config.source.harmonics)
        return torch.from_numpy(draws.standard_normal(shape, np.float32)).to(self._device)

    def _tensor(self, array: "np.ndarray[Any, Any]", dtype: torch.dtype = torch.float32) -> Tensor:
        """One row of a batch."""
        return torch.from_numpy(np.array(array)).to(self._device, dtype)[None]


def _own_lane() -> torch.cuda.Stream:
    """A queue of work on the GPU, begun when what was put into the common one is done."""
    torch.cuda.synchronize()
    return torch.cuda.Stream()  # type: ignore[no-untyped-call]
