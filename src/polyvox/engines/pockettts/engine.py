"""Engine of Pocket TTS: a language model over latents, and the codec that turns them into samples."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from polyvox.audio.resample import resampled
from polyvox.config import Settings
from polyvox.engines.kit.checks import check_recording, known_voice
from polyvox.engines.kit.engine_threads import EngineThreads
from polyvox.engines.kit.lifecycle import Lifecycle
from polyvox.engines.kit.passages import speak_passages
from polyvox.engines.kit.recording import captured_with
from polyvox.engines.kit.seeds import request_seed
from polyvox.engines.pockettts.bundle import (
    ModelRules,
    PocketNetworks,
    check_folder,
    load_divider,
    load_networks,
    read_config,
)
from polyvox.engines.pockettts.codec_streams import CodecStreams, Decoder, OrtDecoder
from polyvox.engines.pockettts.flow_steps import Floats, FlowSteps, OrtSteps, TorchSteps
from polyvox.engines.pockettts.frame_scheduler import FrameScheduler
from polyvox.engines.pockettts.recordings import ending_on_pause
from polyvox.engines.pockettts.settings import PocketTtsSettings
from polyvox.engines.pockettts.synthesis import Passage, Sampling, SynthesisParts, UtteranceSynthesis
from polyvox.engines.pockettts.text import MOST_TOKENS, TextChunk, TextDivider
from polyvox.engines.pockettts.tuning import PocketTtsTuning
from polyvox.engines.pockettts.variants import Variant
from polyvox.engines.pockettts.voice_state import MAX_POSITIONS, VoiceState, read_voice
from polyvox.engines.pockettts.voices import FOLDER, listed_voices
from polyvox.errors import InvalidRequestError, NotServedError
from polyvox.models.pockettts.codec_encoder import CodecEncoder
from polyvox.models.pockettts.config import PocketConfig
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.placement import DeviceRequest, Placement, place_models
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import (
    AudioChunk,
    Capabilities,
    EngineLocation,
    NormalizationOptions,
    PreparedVoice,
    Streaming,
    Utterance,
    Voice,
    VoicePrompt,
)

_MAX_FRAMES = TextChunk("", (0,) * (MOST_TOKENS + 32), 0).max_frames
"""Frames of the longest text, with some room for the marks that preparation adds."""
CAPACITY = MAX_POSITIONS + MOST_TOKENS + 32 + _MAX_FRAMES
"""Positions of a stream: a voice, a text, and its speech."""
_WARM_UP = "Ready."
_SHORTEST = {"eos_threshold": -20.0, "frames_after_eos": 0}


@dataclass(frozen=True, slots=True)
class _Running:
    """The parts that exist between `start` and `close`."""

    config: PocketConfig
    encoder: CodecEncoder
    fingerprint: str
    divider: TextDivider
    rules: ModelRules
    parts: SynthesisParts
    threads: EngineThreads

    async def close(self) -> None:
        await self.parts.scheduler.close()
        await self.parts.codec.close()
        await self.threads.close()


class PocketTtsEngine(Lifecycle[_Running]):
    """Streams of all sessions share the language model, and their hops share the codec."""

    def __init__(self, variant: Variant, settings: Settings) -> None:
        super().__init__(variant.name)
        self._variant = variant
        self._settings = settings.section(PocketTtsSettings)
        self._folder = self._settings.folder(variant.name, settings.models_dir)
        self._frontend = GraphemeFrontend()
        self._ready: OrderedDict[str, VoiceState] = OrderedDict()
        self.capabilities = Capabilities(
            languages=frozenset({variant.language}),
            sample_rate=24_000,
            streaming=Streaming.TOKEN,
            cloning=variant.cloning,
            wordless=variant.cloning,
            stochastic=True,
            reads_markup=True,
        )

    @property
    def voices(self) -> Sequence[Voice]:
        """The published voices in the model's folder."""
        return listed_voices(self._folder, self._variant)

    async def start(self) -> None:
        networks, divider, rules, warning = await asyncio.to_thread(self._load)
        await self.start_with(networks, divider, rules, warning)

    def _load(self) -> tuple[PocketNetworks, TextDivider, ModelRules, str]:
        tokenizer = check_folder(self._folder)
        config, rules = read_config(self._folder, self._variant)
        if config.codec.sample_rate != self.capabilities.sample_rate:
            raise NotServedError(f"{self._folder} holds a model of {config.codec.sample_rate} Hz; 24000 are served.")

        def load(placement: Placement) -> PocketNetworks:
            return load_networks(self._folder, config, torch.device(placement.device), placement.dtype)

        request = DeviceRequest(self._settings.device, self._settings.precision)
        networks, _, warning = place_models(self.name, request, load)
        return networks, load_divider(tokenizer, config, rules), rules, warning

    async def start_with(
        self, networks: PocketNetworks, divider: TextDivider, rules: ModelRules, warning: str = ""
    ) -> None:
        """As `start`, with networks that are loaded already."""
        on_gpu = networks.device.type == "cuda"
        threads = await EngineThreads.start(self.name, networks.device, 0 if on_gpu else DeviceExecutor.LOW)
        self.location = EngineLocation(str(networks.device))
        recorder = CudaGraphs if on_gpu and self._settings.graphs else None
        streams, codec_warning = await threads.codec.run(partial(self._streams, networks, recorder))
        steps, lm_warning = await threads.lm.run(partial(self._steps, networks, recorder))
        codec = streams.stage(f"{self.name} codec", threads.codec, self._observer)
        scheduler = FrameScheduler(self.name, steps, threads.lm, self._observer)
        parts = SynthesisParts(scheduler, codec, streams, networks.config.codec.sample_rate)
        self.warning = " ".join(filter(None, (warning, lm_warning, codec_warning)))
        self._running = _Running(
            networks.config, networks.encoder, networks.fingerprint, divider, rules, parts, threads
        )
        # The rules of the language are read when they are first needed.
        segments = self._frontend.segments(_WARM_UP, NormalizationOptions(), self._variant.language)
        await threads.text.run(partial(list, segments))
        if self.voices:
            async for _ in self.speak(Utterance(_WARM_UP, self.voices[0].id, seed=0, tuning=_SHORTEST)):
                continue

    @property
    def _eight_bits(self) -> bool:
        return self._settings.weights != "float32"

    def _streams(self, networks: PocketNetworks, recorder: Callable[[], Replay] | None) -> tuple[CodecStreams, str]:
        lm, count = networks.lm, self._settings.streams
        mean, deviation = (_array(lm.get_buffer(name)) for name in ("emb_mean", "emb_std"))

        def make(decoder: Decoder, replay: Replay | None = None) -> CodecStreams:
            return CodecStreams(decoder, mean, deviation, 2 * count, count, replay)

        if networks.device.type == "cpu" and self._settings.executor != "torch":
            threads = self._settings.threads
            return make(OrtDecoder(networks.decoder, _MAX_FRAMES + 1, threads, eight_bits=self._eight_bits)), ""
        return captured_with(recorder, "The codec's decoder", partial(make, networks.decoder), CodecStreams.warm)

    def _steps(self, networks: PocketNetworks, recorder: Callable[[], Replay] | None) -> tuple[FlowSteps, str]:
        settings, rows = self._settings, self._settings.streams + 1
        given = (networks.lm, networks.head, rows, CAPACITY)
        if networks.device.type == "cpu" and settings.executor != "torch":
            steps = OrtSteps(*given, steps=settings.steps, threads=settings.threads, eight_bits=self._eight_bits)
            return steps, ""

        def make(replay: Replay | None) -> TorchSteps:
            return TorchSteps(*given, steps=settings.steps, replay=replay)

        return captured_with(recorder, "The language model", make, TorchSteps.warm)

    def check(self, utterance: Utterance) -> None:
        PocketTtsTuning.of(utterance.tuning)
        language = (utterance.language or self._variant.language).lower().partition("-")[0]
        if language != self._variant.language:
            raise InvalidRequestError(
                f"The model {self.name!r} speaks {self._variant.language!r} alone, not {utterance.language!r}.",
                field="language",
            )
        if utterance.prepared is None:
            self._ready_voice(utterance.voice)
        elif self._running is not None:
            VoiceState.unpack(utterance.prepared, self.name, self._running.fingerprint)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        running = self._started()
        if not self._variant.cloning:
            raise NotServedError(
                "The weights of pockettts-open cannot clone voices; those of the model pockettts can. Their makers ask "
                "you to accept their terms first."
            )
        check_recording(prompt)
        latents = await running.threads.voices.run(partial(_heard, running.encoder, prompt))
        voice = await running.parts.scheduler.prepare(latents)
        return voice.pack(self.name, prompt.digest, running.fingerprint)

    def fits(self, voice: PreparedVoice) -> bool:
        """True if a voice was prepared for these weights."""
        return VoiceState.made_for(voice) == self._started().fingerprint

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        self.check(utterance)
        voice = await running.threads.text.run(partial(self._voice, running, utterance))
        synthesis = UtteranceSynthesis(running.parts, voice, self._sampling(running, utterance), self._settings.policy)
        segments = self._frontend.segments(utterance.text, utterance.normalization, self._variant.language)
        next_passages = partial(_next_passages, segments, utterance.text, running.divider)
        read = partial(running.threads.text.run, next_passages)
        async with aclosing(speak_passages(read, synthesis.speak, synthesis.pause)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _sampling(self, running: _Running, utterance: Utterance) -> Sampling:
        tuning, rules = PocketTtsTuning.of(utterance.tuning), running.rules
        temperature = rules.temperature if tuning.temperature is None else tuning.temperature
        threshold = rules.threshold if tuning.eos_threshold is None else tuning.eos_threshold
        return Sampling(math.sqrt(temperature), threshold, tuning.frames_after_eos, request_seed(utterance.seed))

    def _voice(self, running: _Running, utterance: Utterance) -> VoiceState:
        """The voice of an utterance; a ready one is read from its file where it is not in memory."""
        if utterance.prepared is not None:
            return VoiceState.unpack(utterance.prepared, self.name, running.fingerprint)
        path = self._ready_voice(utterance.voice)
        if path.stem not in self._ready:
            self._ready[path.stem] = read_voice(path, running.config)
            while len(self._ready) > self._settings.voice_states:
                self._ready.popitem(last=False)
        self._ready.move_to_end(path.stem)
        return self._ready[path.stem]

    def _ready_voice(self, name: str) -> Path:
        known = known_voice(name, self.voices, "none is installed: register a recording")
        return self._folder / FOLDER / f"{known}.safetensors"


@torch.inference_mode()
def _heard(encoder: CodecEncoder, prompt: VoicePrompt) -> Floats:
    """The latents of a recording."""
    rate = encoder.config.sample_rate
    samples = ending_on_pause(resampled(prompt.pcm, prompt.sample_rate, rate), rate)
    return _array(encoder(torch.from_numpy(samples).to(encoder.downsample.device)))


def _next_passages(
    segments: Iterator[TrackedText | Pause], raw: str, divider: TextDivider
) -> list[Passage] | Pause | None:
    """The chunks of the next segment, in one turn: a prompt must not wait until all others have their segments."""
    segment = next(segments, None)
    if segment is None or isinstance(segment, Pause):
        return segment
    span = segment.span(0, len(segment))
    chunks = divider.chunks(segment.text)
    return [
        Passage(chunk, raw[span.start : span.end] if first else "", span if first else None)
        for chunk, first in zip(chunks, (True, *(False for _ in chunks)), strict=False)
    ]


def _array(tensor: torch.Tensor) -> Floats:
    array: Floats = tensor.float().cpu().numpy().astype(np.float32)
    return array
