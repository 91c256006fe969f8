"""Speech tokens to samples: the flow and the vocoder of one model on one device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import structlog
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.budget import ByteBudget
from polyvox.engines.cosyvoice.decoder.decoder_stages import (
    FlowHop,
    FlowResult,
    FlowStage,
    FlowStageState,
    VocoderHop,
    VocoderResult,
    VocoderStage,
)
from polyvox.engines.cosyvoice.decoder.launched_hops import LaunchedHop, LaunchedHops
from polyvox.engines.cosyvoice.decoder.sequential_stages import SequentialFlow, SequentialVocoder
from polyvox.engines.cosyvoice.decoder.speech_decoder import (
    DecoderState,
    DeviceStream,
    Hop,
    Token2WavResult,
    step_integer,
)
from polyvox.engines.cosyvoice.decoder.stage_clock import StageClock
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowPrompt, FlowRunner
from polyvox.models.cosyvoice.noise import flow_noise, source_noise
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.model import OVERLAP_FRAMES, Hift
from polyvox.runtime.pinned_output import PinnedOutput
from polyvox.runtime.placement import Placement
from polyvox.types import PreparedVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

MAX_TOKENS = 1500
"""Speech tokens of the longest segment, a minute; version 3's vocoder noise covers it."""

FlowCache = Literal["full", "window", "recompute"]
_VOCODER_NOISE = 1
_NOISE_SECONDS = 20
"""Of version 2's vocoder; a step takes a part of it that follows from its seed."""


@dataclass(frozen=True, slots=True)
class Token2WavState(DecoderState):
    """State of one stream. It is never written to."""

    prompt: FlowPrompt
    flow: FlowStageState | None
    """None where the flow has no cache and computes the whole stream again in each step."""
    vocoder: object | None = None
    steps: int = 0
    frames: int = 0
    known: tuple[int, ...] = ()
    """All tokens so far."""

    @property
    def nbytes(self) -> int:
        """Memory of the flow's caches for this stream."""
        return 0 if self.flow is None else self.flow.nbytes


class Token2Wav:
    """Flow and vocoder, the latter in single precision everywhere.

    It holds no state of a stream; one thread may call it. Streams are decoded one after the other until `use` gives
    their stages other executors.
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
        self.flow_cache = flow_cache
        self._window = window if flow_cache == "window" else None
        self._budget = budget
        self.flow_noise = flow_noise().to(self._device)
        self.vocoder_noise = self._make_vocoder_noise().to(self._device)
        self.flow_stage: FlowStage = self._sequential_flow(self.flow.eager_runner)
        self.vocoder_stage: VocoderStage = SequentialVocoder(self.vocoder, self.vocoder_noise)
        self.stream = DeviceStream(self._device)
        """Callers that run the networks directly do so within it."""
        self._output = PinnedOutput(self._device)

    def use(
        self,
        *,
        flow_runner: FlowRunner | None = None,
        vocoder_runner: Hift | CausalHift | None = None,
        flow_stage: FlowStage | None = None,
        vocoder_stage: VocoderStage | None = None,
    ) -> None:
        """Run a stage by another executor for all streams that start from now on; None leaves it as it is.

        A runner takes one stream at a time.
        """
        if flow_runner is not None:
            flow_stage = self._sequential_flow(flow_runner)
        if vocoder_runner is not None:
            vocoder_stage = SequentialVocoder(vocoder_runner, self.vocoder_noise)
        self.flow_stage = flow_stage or self.flow_stage
        self.vocoder_stage = vocoder_stage or self.vocoder_stage

    @property
    def cache_bytes(self) -> int:
        """Memory that the flow's caches of all streams may take where they are decoded one after the other."""
        return 0 if self._budget is None else self._budget.most

    def _sequential_flow(self, runner: FlowRunner) -> SequentialFlow:
        return SequentialFlow(self.flow, self.flow_noise, runner, self._window, self._budget)

    def _make_vocoder_noise(self) -> Tensor:
        flow, source = self.flow.config, self.vocoder.config.source
        if isinstance(self.vocoder, CausalHift):
            samples = (MAX_TOKENS * FRAMES_PER_TOKEN + 16) * source.samples_per_frame
            return source_noise(samples, tokens=flow.tokens, speaker=flow.speaker, channels=source.channels)
        shape = (1, _NOISE_SECONDS * source.sample_rate, source.harmonics)
        return torch.randn(shape, generator=torch.Generator().manual_seed(0))

    @torch.inference_mode()
    def start(self, voice: PreparedVoice) -> Token2WavState:
        """The state before the first token; a step without tokens computes the voice's prompt into the flow's caches.

        A state may be continued more than once.
        """
        with self.stream():
            bins = self.flow.config.bins
            tokens = voice.arrays.get("tokens", np.zeros(0, np.int32))
            mel = voice.arrays.get("mel", np.zeros((bins, 0), np.float32))
            prompt = FlowPrompt(
                self._tensor(tokens, torch.long), self._tensor(mel), self._tensor(voice.arrays["embedding"])
            )
            return Token2WavState(0, prompt, None if self.flow_cache == "recompute" else self.flow_stage.start(prompt))

    def step(self, tokens: Sequence[int], state: DecoderState, *, final: bool) -> Token2WavResult:
        """Add tokens; returns the samples that are complete, with the `final` call all of them."""
        return self.step_batch([Hop(tuple(tokens), state, final)])[0]

    def step_batch(self, hops: Sequence[Hop]) -> list[Token2WavResult]:
        """Steps of any streams together; none of them notices the others."""
        return self.launch(hops).results()

    @torch.inference_mode()
    def launch(self, hops: Sequence[Hop]) -> LaunchedHops:
        """Likewise, without waiting for the samples: the next steps, of these streams too, may be launched before."""
        states = []
        for hop in hops:
            assert isinstance(hop.state, Token2WavState)
            states.append(replace(hop.state, known=(*hop.state.known, *hop.tokens)))
        with self.stream():
            clock = StageClock(self._device)
            results = self._mels(hops, states)
            clock.mark()
            mels = [result.mel for result in results]
            vocoded = self._vocoded(hops, states, mels)
            clock.mark()
            # The weights of version 2's crossfade add up to more than one.
            pcm = self._output.start(torch.cat([each.samples for each in vocoded]).clamp(-1.0, 1.0))
        launched = []
        for state, result, sound in zip(states, results, vocoded, strict=True):
            assert result.mel is not None
            frames = result.mel.shape[1]
            after = replace(
                state, flow=result.state, vocoder=sound.state, steps=state.steps + 1, frames=state.frames + frames
            )
            launched.append(LaunchedHop(len(sound.samples), frames, after))
        return LaunchedHops(launched, pcm, clock)

    def cost(self, hop: Hop) -> int:
        """Blocks of the flow that a hop takes, its prompt's included where they are not computed yet.

        Those of a stream that is not heard yet count twice, so that first hops are decoded in shorter batches.
        """
        assert isinstance(hop.state, Token2WavState)
        prompt = 0 if hop.state.steps else hop.state.prompt.tokens.shape[1]
        blocks = max(1, -(-(prompt + len(hop.tokens)) // self.flow.config.block))
        return blocks if hop.state.frames else 2 * blocks

    def _mels(self, hops: Sequence[Hop], states: Sequence[Token2WavState]) -> list[FlowResult]:
        """The mel of each step; one whose caches found no room is computed anew."""
        cached = [
            (index, FlowHop(hop.tokens, state.flow, hop.final))
            for index, (hop, state) in enumerate(zip(hops, states, strict=True))
            if state.flow is not None
        ]
        found = dict(
            zip((index for index, _ in cached), self.flow_stage.step([each for _, each in cached]), strict=True)
        )
        results = []
        for index, (hop, state) in enumerate(zip(hops, states, strict=True)):
            result = found.get(index, FlowResult(None, None))
            if index in found and result.state is None and not hop.final:
                self._warn_of_exhaustion(state)
            if result.mel is None:
                result = FlowResult(self._recomputed(state, final=hop.final), None)
            results.append(result)
        return results

    def _warn_of_exhaustion(self, state: Token2WavState) -> None:
        log.warning(
            "The memory for the streams' flow caches is exhausted, so this stream is computed anew with every chunk.",
            tokens=len(state.known),
        )

    def _recomputed(self, state: Token2WavState, *, final: bool) -> Tensor:
        """The new frames of a pass over all tokens, cut at the block boundaries of a stream."""
        config, prompt = self.flow.config, state.prompt.tokens.shape[1]
        whole = (prompt + len(state.known) - config.ahead) // config.block * config.block + config.ahead - prompt
        count = len(state.known) if final else whole
        if count <= 0:
            return state.prompt.mel.new_zeros(config.bins, 0)
        tokens = self._tensor(np.array(state.known[:count], np.int64), torch.long)
        mel = self.flow.render(state.prompt, tokens, self.flow_noise, streaming=True, final=final)
        return mel[0, :, state.frames :]

    def _vocoded(
        self, hops: Sequence[Hop], states: Sequence[Token2WavState], mels: Sequence[Tensor | None]
    ) -> list[VocoderResult]:
        """The samples of each step; one without mel frames that goes on has none, and its vocoder stays as it is."""
        given = {}
        for index, (hop, state, mel) in enumerate(zip(hops, states, mels, strict=True)):
            assert mel is not None
            if mel.shape[1] or hop.final:
                self._check_length(mel, state, final=hop.final)
                given[index] = VocoderHop(mel, state.vocoder, hop.final, self._noise_start(state))
        found = dict(zip(given, self.vocoder_stage.step(list(given.values())), strict=True))
        silent = self.vocoder_noise.new_zeros(0)
        return [found.get(index, VocoderResult(silent, state.vocoder)) for index, state in enumerate(states)]

    def _check_length(self, mel: Tensor, state: Token2WavState, *, final: bool) -> None:
        causal = isinstance(self.vocoder, CausalHift)
        if not causal and mel.shape[1] <= OVERLAP_FRAMES and state.vocoder is None and not final:
            raise ValueError(f"A first chunk needs more than {OVERLAP_FRAMES} mel frames, not {mel.shape[1]}.")

    def _noise_start(self, state: Token2WavState) -> int:
        if isinstance(self.vocoder, CausalHift):
            return 0
        return step_integer(state.seed, _VOCODER_NOISE, state.steps, self.vocoder_noise.shape[1])

    def _tensor(self, array: "np.ndarray[Any, Any]", dtype: torch.dtype = torch.float32) -> Tensor:
        """A tensor on the device, as a batch of one."""
        return torch.from_numpy(np.array(array)).to(self._device, dtype)[None]
