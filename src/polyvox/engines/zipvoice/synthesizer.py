"""Chunks of many requests on one device: encoded, solved step by step and vocoded, independent of batch-mates."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from polyvox.audio.silence import with_pauses_cut
from polyvox.engines.zipvoice.batch_solver import FEATURE_SCALE
from polyvox.engines.zipvoice.chunk_row import ChunkRow
from polyvox.engines.zipvoice.mel import BINS, SAMPLE_RATE
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.parallel_calls import ParallelCalls
from polyvox.engines.zipvoice.tuning import ZipVoiceOptions
from polyvox.engines.zipvoice.voice import ZipVoicePrompt
from polyvox.models.zipvoice.batching import SEQUENTIAL, CallRunner, ItemT, run_batched
from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import Pcm, Seconds

_CPU_FRAMES_PER_CALL = 2_400
_GPU_FRAMES_PER_CALL = 60_000
_CPU_BATCH, _GPU_BATCH = 8, 64


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRequest:
    """One chunk to synthesize, the seed of its noise, and the gain that its prompt has been given."""

    tokens: tuple[int, ...]
    prompt: ZipVoicePrompt
    speed: float
    options: ZipVoiceOptions
    seed: int
    gain: float = 1.0

    @property
    def solver(self) -> SolverOptions:
        return SolverOptions(self.options.steps, self.options.guidance, self.options.shift)

    def finished(self, pcm: Pcm) -> Pcm:
        """Samples of the network as new ones without the prompt's gain and, if asked, without long pauses."""
        made: Pcm = pcm / np.float32(self.gain)
        np.clip(made, -1.0, 1.0, out=made)
        return with_pauses_cut(made, SAMPLE_RATE) if self.options.remove_long_silence else made


@dataclass(frozen=True, slots=True, eq=False)
class PreparedChunk:
    """A request, and its row of a batch where the synthesizer wants one."""

    request: ChunkRequest
    row: ChunkRow | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SynthesizedChunk:
    """Finished samples, [n] or [n, channels], the number of mel frames, and the time of both stages.

    Where both are one call, the flow's is that of both.
    """

    pcm: Pcm
    frames: int
    flow: Seconds
    vocoder: Seconds | None

    @property
    def device_seconds(self) -> float:
        """The share of the device's time that the chunk took."""
        return sum(each.device or 0.0 for each in (self.flow, self.vocoder) if each is not None)


class ChunkSynthesizer(Protocol):
    """Synthesizes chunks of many requests; none depends on the others."""

    chunks_ahead: int
    """Chunks of an utterance that are requested before the one in front of them is done: 1 keeps a GPU busy."""
    text_threads: int
    """Threads that read texts and prepare chunks for it."""

    def arriving(self) -> AbstractContextManager[None]:
        """Announce, for a block, that it leads to a chunk."""

    def prepare(self, request: ChunkRequest) -> PreparedChunk:
        """Do what needs no device; any thread may call it."""

    async def synthesize(self, chunk: PreparedChunk, due: float) -> SynthesizedChunk: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Timed:
    """A state or samples, and this request's share of the device's time for it."""

    value: SolverState | Pcm
    seconds: float

    @property
    def state(self) -> SolverState:
        assert isinstance(self.value, SolverState)
        return self.value

    @property
    def pcm(self) -> Pcm:
        assert not isinstance(self.value, SolverState)
        return self.value


class ZipVoiceSynthesizer:
    """The stages encode, step and vocode. A chunk joins the solver's batch at any step and leaves after its last."""

    chunks_ahead = 0
    text_threads = 1

    def __init__(self, networks: ZipVoiceNetworks, device: torch.device, observer: Observer | None) -> None:
        self._networks = networks
        self._device = device
        cpu = device.type == "cpu"
        self._frames_per_call = _CPU_FRAMES_PER_CALL if cpu else _GPU_FRAMES_PER_CALL
        self._executor = DeviceExecutor("zipvoice", 1)
        self._parallel = ParallelCalls(min(torch.get_num_threads(), _CPU_BATCH)) if cpu else None
        self._runner: CallRunner = SEQUENTIAL if self._parallel is None else self._parallel

        def stage(name: str, work: Callable[[list[ItemT]], Sequence[SolverState | Pcm]]) -> Stage[ItemT, _Timed]:
            return Stage(
                f"zipvoice-{name}",
                lambda items: _run_timed(work, items),
                executor=self._executor,
                max_batch=_CPU_BATCH if cpu else _GPU_BATCH,
                observer=observer,
            )

        self._encode: Stage[ChunkRequest, _Timed] = stage("encode", self._encode_batch)
        self._step: Stage[SolverState, _Timed] = stage("step", self._step_batch)
        self._vocode: Stage[SolverState, _Timed] = stage("vocode", self._vocode_batch)

    def arriving(self) -> AbstractContextManager[None]:
        """Nobody waits: a chunk joins the batch at any step."""
        return nullcontext()

    def prepare(self, request: ChunkRequest) -> PreparedChunk:
        """The stages take a request as it is."""
        return PreparedChunk(request)

    async def synthesize(self, chunk: PreparedChunk, due: float) -> SynthesizedChunk:
        """Synthesize a chunk; `due` is its deadline, by which the stages order their work."""
        asked = time.perf_counter()
        made = await self._encode(chunk.request, due)
        state, device = made.state, made.seconds
        while not state.done:
            made = await self._step(state, due)
            state, device = made.state, device + made.seconds
        solved = time.perf_counter()
        vocoded = await self._vocode(state, due)
        flow, vocoder = Seconds(solved - asked, device), Seconds(time.perf_counter() - solved, vocoded.seconds)
        return SynthesizedChunk(chunk.request.finished(vocoded.pcm), len(state.generated), flow, vocoder)

    async def close(self) -> None:
        for stage in (self._encode, self._step, self._vocode):
            await stage.close()
        await asyncio.to_thread(self._executor.close)
        if self._parallel is not None:
            await asyncio.to_thread(self._parallel.close)

    def _encode_batch(self, requests: list[ChunkRequest]) -> list[SolverState]:
        inputs = [
            ZipVoiceInput(
                request.tokens, request.prompt.tokens, self._tensor(request.prompt.mel) * FEATURE_SCALE, request.speed
            )
            for request in requests
        ]
        noise = [self._noise(request.seed, row) for request, row in zip(requests, inputs, strict=True)]
        return self._networks.acoustic_model.start(inputs, noise, [request.solver for request in requests])

    def _step_batch(self, states: list[SolverState]) -> list[SolverState]:
        return self._networks.acoustic_model.step(states, self._frames_per_call, self._runner)

    def _vocode_batch(self, states: list[SolverState]) -> list[Pcm]:
        channels = states[0].mel.shape[1] // BINS
        mels = [mel for state in states for mel in torch.split(state.generated / FEATURE_SCALE, BINS, dim=1)]
        lengths = [len(mel) for mel in mels]
        rows = run_batched(self._networks.vocos, mels, lengths, self._frames_per_call, self._runner)
        samples = [row.cpu().numpy() for row in rows]
        if channels == 1:
            return samples
        return [np.stack(samples[index : index + channels], axis=1) for index in range(0, len(samples), channels)]

    def _tensor(self, array: Pcm) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    def _noise(self, seed: int, row: ZipVoiceInput) -> Tensor:
        """Drawn on the CPU, so that a seed gives the same noise on every device."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(row.frames, row.prompt.shape[1], generator=generator).to(self._device)


def _run_timed(work: Callable[[list[ItemT]], Sequence[SolverState | Pcm]], items: list[ItemT]) -> list[_Timed]:
    started = time.perf_counter()
    with torch.inference_mode():
        made = work(items)
    share = (time.perf_counter() - started) / len(items)
    return [_Timed(value, share) for value in made]
