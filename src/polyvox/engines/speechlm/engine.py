"""Engine of a codec language model: a language model that generates NeuCodec's tokens, and the codec's decoder."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from polyvox.config import Settings
from polyvox.engines.kit.checks import nothing_to_say
from polyvox.engines.kit.lifecycle import Lifecycle
from polyvox.engines.speechlm.codec_decoder import DecodedWindow, lanes
from polyvox.engines.speechlm.encoder import check_prompt, encode_prompts
from polyvox.engines.speechlm.execution import capture_decoder, capture_scheduler
from polyvox.engines.speechlm.loading import SpeechLmNetworks, load_networks
from polyvox.engines.speechlm.options import SynthesisOptions
from polyvox.engines.speechlm.prompt_builder import CodeVoice, PromptBuilder
from polyvox.engines.speechlm.settings import LANGUAGES, NAME, SpeechLmSettings, built_in_voices
from polyvox.engines.speechlm.synthesis import SAMPLE_RATE, SynthesisStages, UtteranceSynthesis
from polyvox.engines.speechlm.windows import WindowCodes
from polyvox.errors import EngineError, NotServedError, UnknownVoiceError
from polyvox.models.speechlm.codec_lm import CodecLm
from polyvox.models.speechlm.neucodec import TOKENS
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay, use_own_stream
from polyvox.runtime.kv_cache import slots_within
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.remote_lm import RemoteLm, RemoteLmConfig
from polyvox.runtime.stage import Stage
from polyvox.runtime.tokens import Prompt, TokenSource
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import (
    AudioChunk,
    Capabilities,
    EngineLocation,
    PreparedVoice,
    Streaming,
    Utterance,
    Voice,
    VoicePrompt,
)

PROMPT_POSITIONS = 2048
"""Positions of a slot for the prompt, besides the speech: half a minute of a voice, its transcript and the text."""

_COMPLETIONS = "/v1/completions"
_READ_BATCH = 8
"""Texts that are read by one call: their prompts then share a step, and the event loop hands them over together."""
_WARM_UP = Utterance("Sedia.", "", seed=0, tuning={"max_tokens": 30.0})


Given = tuple[TrackedText, Prompt] | Pause | None
"""The next piece of an utterance: a segment with its prompt, or a pause; None behind the last."""


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """An utterance's segments that were not read yet, and what makes a prompt of one."""

    segments: Iterator[TrackedText | Pause]
    prompt: Callable[[str], Prompt]


@dataclass(frozen=True, slots=True)
class _Running:
    """The parts that exist between `start` and `close`."""

    networks: SpeechLmNetworks
    prompts: PromptBuilder
    stages: SynthesisStages
    encoder: Stage[VoicePrompt, CodeVoice] | None
    text: Stage[Read, Given]
    executors: tuple[DeviceExecutor, ...]

    @property
    def source(self) -> TokenSource:
        return self.stages.source

    async def close(self) -> None:
        await self.source.close()
        await self.stages.codec.close()
        await self.text.close()
        if self.encoder is not None:
            await self.encoder.close()
        for executor in self.executors:
            await asyncio.to_thread(executor.close)


class SpeechLmEngine(Lifecycle[_Running]):
    """Sequences of all sessions share the language model, here or on a server; their windows share the codec."""

    capabilities = Capabilities(
        languages=LANGUAGES,
        sample_rate=SAMPLE_RATE,
        streaming=Streaming.TOKEN,
        cloning=True,
        stochastic=True,
        reads_markup=True,
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(NAME)
        self._server_settings = settings
        self._settings = settings.section(SpeechLmSettings)
        self._frontend = GraphemeFrontend()

    @property
    def voices(self) -> Sequence[Voice]:
        return built_in_voices(NAME, self._server_settings)

    @property
    def obstacle(self) -> str:
        """The reason why the language model's server gives no tokens now."""
        source = None if self._running is None else self._running.source
        return source.obstacle if isinstance(source, RemoteLm) else ""

    async def start(self) -> None:
        await self.start_with(await asyncio.to_thread(load_networks, self._server_settings))

    async def start_with(self, networks: SpeechLmNetworks) -> None:
        """As `start`, with networks that are loaded already."""
        codec_device = DeviceExecutor(f"{NAME}-codec", lanes(networks.device))
        lm_device = DeviceExecutor(f"{NAME}-lm", 1)
        text = DeviceExecutor(f"{NAME}-text", 1)
        await lm_device.run(partial(use_own_stream, networks.device, urgent=True))
        self.location = EngineLocation(str(networks.device))
        recorder = self._recorder(networks)
        decoder, codec_warning = await codec_device.run(partial(capture_decoder, networks, self._settings, recorder))
        codec = Stage[WindowCodes, DecodedWindow](
            f"{NAME} codec",
            decoder.decode,
            executor=codec_device,
            max_batch=self._settings.codec_batch,
            max_wait=self._settings.codec_wait,
            key=decoder.bucket,
            observer=self._observer,
        )
        source, lm_warning = await self._source(networks.lm, lm_device, recorder)
        stages = SynthesisStages(
            source=source,
            stop_tokens=frozenset() if networks.lm is None else frozenset({networks.lm.end}),
            codec=codec,
            hop=networks.codec.config.hop,
            max_segment_tokens=self._settings.max_tokens,
        )
        self.warning = " ".join(filter(None, (networks.warning, lm_warning, codec_warning)))
        encoder_device, encoder = await self._encoder(networks)
        executors = (codec_device, lm_device, encoder_device, text)
        prompts = PromptBuilder(networks.vocabulary, self._normalized)
        read = Stage[Read, Given](f"{NAME} text", _next_prompts, executor=text, max_batch=_READ_BATCH)
        self._running = _Running(networks, prompts, stages, encoder, read, executors)
        if networks.lm is not None and self.voices:
            async for _ in self.speak(replace(_WARM_UP, voice=self.voices[0].id)):
                continue

    def check(self, utterance: Utterance) -> None:
        SynthesisOptions.of(utterance.tuning, utterance.seed, self._settings)
        self._voice(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        running = self._started()
        if running.encoder is None:
            raise NotServedError(
                f"Cloning from a recording needs NeuCodec's encoder: {running.networks.encoder_fault}. Until then, "
                "send the recording's tokens as reference_codes."
            )
        check_prompt(prompt)
        voice = await running.encoder(prompt)
        return voice.pack(NAME, prompt.digest)

    def voice_from_codes(self, codes: Sequence[int], transcript: str) -> PreparedVoice:
        """A voice whose tokens the caller has already."""
        voice = CodeVoice.of(codes, transcript)
        digest = hashlib.sha256(voice.codes.tobytes() + transcript.encode()).hexdigest()
        return voice.pack(NAME, digest)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        options = SynthesisOptions.of(utterance.tuning, utterance.seed, self._settings)
        synthesis = UtteranceSynthesis(utterance.text, options, running.stages)
        voice = self._voice(utterance)
        segments = self._frontend.segments(utterance.text, utterance.normalization, utterance.language)
        found = 0
        read = Read(segments, partial(self._prompt, running.prompts, voice))
        while (given := await running.text(read)) is not None:
            if synthesis.exhausted:
                break
            if isinstance(given, Pause):
                yield synthesis.pause(given)
                continue
            found += 1
            segment, prompt = given
            async with aclosing(synthesis.speak(segment, prompt)) as chunks:
                async for chunk in chunks:
                    yield chunk
        if not found:
            raise nothing_to_say()
        if not synthesis.tokens:
            raise EngineError("The language model ended before it spoke; ask again, or with another seed.")

    def _normalized(self, transcript: str) -> str:
        return self._frontend.normalized(transcript, Utterance("", "").normalization)

    @staticmethod
    def _prompt(prompts: PromptBuilder, voice: str | CodeVoice, text: str) -> Prompt:
        if isinstance(voice, str):
            return prompts.named(voice, text)
        return prompts.cloned(voice, text)

    def _voice(self, utterance: Utterance) -> str | CodeVoice:
        if utterance.prepared is not None:
            return CodeVoice.unpack(utterance.prepared, NAME)
        if utterance.voice not in self._settings.speakers:
            known = ", ".join(self._settings.speakers)
            raise UnknownVoiceError(
                f"There is no voice {utterance.voice[:80]!r}; use one of {known}, or register one.", field="voice"
            )
        return utterance.voice

    async def _source(
        self, lm: CodecLm | None, executor: DeviceExecutor, recorder: Callable[[], Replay] | None
    ) -> tuple[TokenSource, str]:
        """The language model, here or on a server, and a warning or ""."""
        max_sessions = self._server_settings.max_sessions
        if lm is None:
            remote = RemoteLm(_remote_config(self._settings, max_sessions))
            await remote.watch()
            return remote, ""
        capacity = PROMPT_POSITIONS + self._settings.max_tokens
        slots = slots_within(self._settings.cache_bytes, lm.config.backbone, capacity, lm.head.dtype)
        config = LmSchedulerConfig(
            slots=min(slots, max_sessions),
            capacity=capacity,
            prefill_rows=self._settings.prefill_rows,
            prefix_bytes=self._settings.prefix_bytes,
            float8=self._settings.weights == "float8",
        )

        def make(replay: Replay | None) -> LmScheduler:
            return LmScheduler(lm, config, executor=executor, observer=self._report, replay=replay)

        return await executor.run(partial(capture_scheduler, make, recorder))

    async def _encoder(self, networks: SpeechLmNetworks) -> tuple[DeviceExecutor, Stage[VoicePrompt, CodeVoice] | None]:
        """The encoder as a stage on a thread of its own: a recording takes seconds, and speech must not wait for it."""
        device = DeviceExecutor(f"{NAME}-encoder", 1)
        if networks.encoder is None:
            return device, None
        await device.run(partial(use_own_stream, networks.device))
        encode = partial(encode_prompts, networks.encoder)
        return device, Stage(f"{NAME} encoder", encode, executor=device, observer=self._observer)

    def _recorder(self, networks: SpeechLmNetworks) -> Callable[[], Replay] | None:
        """The recorder of CUDA graphs, where the device and the settings allow it."""
        return CudaGraphs if networks.device.type == "cuda" and self._settings.graph_seconds else None


def _next_prompts(reads: Sequence[Read]) -> list[Given | Exception]:
    return [_next_prompt(read) for read in reads]


def _next_prompt(read: Read) -> Given | Exception:
    """The next segment with its prompt, in one turn: a prompt must not wait until all others have their segments."""
    try:
        segment = next(read.segments, None)
        return segment if segment is None or isinstance(segment, Pause) else (segment, read.prompt(segment.text))
    except Exception as error:  # noqa: BLE001 - a text that cannot be read fails alone
        return error


def _remote_config(settings: SpeechLmSettings, connections: int) -> RemoteLmConfig:
    return RemoteLmConfig(
        url=settings.url.rstrip("/").removesuffix(_COMPLETIONS),
        model=settings.remote_model,
        api_key=settings.api_key.get_secret_value(),
        codes=TOKENS,
        first_token_seconds=settings.first_token_seconds,
        stall_seconds=settings.stall_seconds,
        connections=connections,
    )
