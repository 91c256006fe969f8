"""Version 1's speech tokens to samples: chunks that overlap, each with a flow of its own, faded into one another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.speech_decoder import (
    DecoderState,
    DeviceStream,
    Hop,
    Token2WavResult,
    step_noise,
    step_uniforms,
)
from polyvox.engines.cosyvoice.decoder.stage_clock import StageClock
from polyvox.models.cosyvoice.flow import FlowPrompt
from polyvox.models.cosyvoice.flow_v1 import OVERLAP_FRAMES, OVERLAP_TOKENS, Flow1, FlowOverlap, frames_of
from polyvox.models.hift.model import Hift, HiftState, crossfade
from polyvox.runtime.placement import Placement
from polyvox.types import PreparedVoice

_VOCODER_NOISE, _FLOW_NOISE, _PHASE = 1, 2, 3


@dataclass(frozen=True, slots=True)
class OverlapState(DecoderState):
    """State of one stream: the end of its last chunk."""

    prompt: FlowPrompt
    steps: int = 0
    tokens: tuple[int, ...] = ()
    """The last tokens, which the next chunk repeats."""
    flow: FlowOverlap | None = None
    mel: Tensor | None = None
    """The last frames, not vocoded yet."""
    vocoder: HiftState | None = None

    @property
    def nbytes(self) -> int:
        return 0 if self.flow is None else self.flow.nbytes


class StepDraws(Protocol):
    """The random numbers of one step of a stream."""

    def flow_noise(self, state: OverlapState, frames: int) -> Tensor:
        """Gaussian, [1, bins, frames]."""

    def vocoder_noise(self, state: OverlapState, frames: int) -> Tensor:
        """Gaussian, [1, samples of the frames, harmonics]."""

    def phase(self, state: OverlapState) -> Tensor:
        """Initial phase of each harmonic, in cycles [1, 1, harmonics]; the fundamental begins at zero."""


class Token2Wav1:
    """Flow and vocoder of version 1, the latter in single precision everywhere.

    The original's policy: a chunk is a hop and an overlap of 20 tokens, whose frames are faded with those that the next
    chunk makes of them. Nothing of the flow is kept but noise and mu of the overlap, so that its cost does not grow.
    """

    def __init__(
        self,
        flow: Flow1,
        vocoder: Hift,
        placement: Placement,
        draws: Callable[[Flow1, Hift], StepDraws] | None = None,
    ) -> None:
        """`draws` are a function of seed and step unless others are given."""
        self._device = torch.device(placement.device)
        self.flow: Flow1 = flow.to(self._device)
        self.vocoder: Hift = vocoder.to(self._device)
        self._draws = (draws or SeededDraws)(self.flow, self.vocoder)
        self._stream = DeviceStream(self._device)

    @torch.inference_mode()
    def start(self, voice: PreparedVoice) -> OverlapState:
        with self._stream():
            return self._start(voice)

    def _start(self, voice: PreparedVoice) -> OverlapState:
        tokens = voice.arrays.get("tokens", np.zeros(0, np.int32))
        mel = voice.arrays.get("mel", np.zeros((self.flow.config.bins, 0), np.float32))
        prompt = FlowPrompt(
            torch.from_numpy(np.array(tokens)).to(self._device, torch.long)[None],
            torch.from_numpy(np.array(mel)).to(self._device)[None],
            torch.from_numpy(np.array(voice.arrays["embedding"])).to(self._device)[None],
        )
        return OverlapState(0, prompt)

    def step_batch(self, hops: Sequence[Hop]) -> list[Token2WavResult]:
        """Steps one after the other."""
        return [self.step(hop.tokens, hop.state, final=hop.final) for hop in hops]

    @torch.inference_mode()
    def step(self, tokens: Sequence[int], state: DecoderState, *, final: bool) -> Token2WavResult:
        """Add a hop of tokens, the first time with an overlap behind it; the `final` call adds what is left."""
        assert isinstance(state, OverlapState)
        with self._stream():
            return self._step(tokens, state, final=final)

    def _step(self, tokens: Sequence[int], state: OverlapState, *, final: bool) -> Token2WavResult:
        chunk = (*state.tokens, *tokens)
        if not chunk:
            return Token2WavResult(np.zeros(0, np.float32), 0, state)
        if not final and len(chunk) <= 2 * OVERLAP_TOKENS:
            raise ValueError(f"A chunk needs more than {2 * OVERLAP_TOKENS} tokens, not {len(chunk)}.")
        clock = StageClock(self._device)
        mel, flow = self._flow(chunk, state)
        clock.mark()
        held = None
        if not final:
            mel, held = mel[:, :, :-OVERLAP_FRAMES], mel[:, :, -OVERLAP_FRAMES:]
        samples, vocoder = self._vocode(mel, state, final=final)
        clock.mark()
        after = replace(
            state, steps=state.steps + 1, tokens=chunk[-OVERLAP_TOKENS:], flow=flow, mel=held, vocoder=vocoder
        )
        # The weights of a crossfade add up to more than one.
        pcm = samples[0].float().clamp(-1.0, 1.0).cpu().numpy()
        return Token2WavResult(pcm, mel.shape[2], after, *clock.seconds())

    def _flow(self, chunk: tuple[int, ...], state: OverlapState) -> tuple[Tensor, FlowOverlap]:
        """The mel of a chunk, faded with the end of the one before it."""
        tokens = torch.tensor([chunk], dtype=torch.long, device=self._device)
        noise = self._draws.flow_noise(state, state.prompt.mel.shape[2] + frames_of(len(chunk)))
        mel, overlap = self.flow.step(tokens, state.prompt, noise.to(self._device), state.flow)
        return (mel if state.mel is None else crossfade(state.mel, mel)), overlap

    def _vocode(self, mel: Tensor, state: OverlapState, *, final: bool) -> tuple[Tensor, HiftState | None]:
        frames = mel.shape[2] + (0 if state.vocoder is None else state.vocoder.mel.shape[2])
        noise, start = self._draws.vocoder_noise(state, frames), self._draws.phase(state)
        return self.vocoder.step(mel, noise.to(self._device), state.vocoder, final=final, start=start.to(self._device))


class SeededDraws:
    """Draws that follow from a stream's seed and the number of the step."""

    def __init__(self, flow: Flow1, vocoder: Hift) -> None:
        self._bins = flow.config.bins
        self._source = vocoder.config.source

    def flow_noise(self, state: OverlapState, frames: int) -> Tensor:
        return step_noise(state.seed, _FLOW_NOISE, state.steps, (1, self._bins, frames))

    def vocoder_noise(self, state: OverlapState, frames: int) -> Tensor:
        shape = (1, frames * self._source.samples_per_frame, self._source.harmonics)
        return step_noise(state.seed, _VOCODER_NOISE, state.steps, shape)

    def phase(self, state: OverlapState) -> Tensor:
        overtones = step_uniforms(state.seed, _PHASE, state.steps, (1, 1, self._source.harmonics - 1))
        return torch.cat((torch.zeros(1, 1, 1), overtones), dim=-1)
