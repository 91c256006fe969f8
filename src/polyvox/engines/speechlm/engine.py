"""A language model that speaks in NeuCodec's tokens, and the codec that makes them sound."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from polyvox.config import Settings
from polyvox.engines.speechlm.decoding import Codes, Decoded, Shapes, WindowDecoder
from polyvox.engines.speechlm.loading import Networks, load_networks
from polyvox.engines.speechlm.manner import Manner
from polyvox.engines.speechlm.prompts import TOKENS_PER_SECOND, CodeVoice, Prompts
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.speechlm.spec import LANGUAGES, NAME
from polyvox.engines.speechlm.speech import SAMPLE_RATE, Speech
from polyvox.errors import EngineError, TextError, UnavailableError, UnknownVoiceError
from polyvox.models.speechlm.neucodec import TOKENS
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.graphs import CudaGraphs
from polyvox.runtime.executors.streams import use_own_stream
from polyvox.runtime.kv_cache import slots_within
from polyvox.runtime.lm_scheduler import LmReport, LmScheduler, LmSizes
from polyvox.runtime.remote_lm import RemoteLm, RemoteLmConfig
from polyvox.runtime.stage import BatchReport, Observer, Stage
from polyvox.runtime.tokens import Prompt, Sampling, TokenSource
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.spoken import Pause
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Streaming, Utterance, Voice, VoicePrompt

PROMPT_POSITIONS = 2048
"""Room for a prompt beside the speech: half a minute of somebody's voice, its words and the text."""

_COMPLETIONS = "/v1/completions"
_WARM_UP = Utterance("Sedia.", "", seed=0, tuning={"max_tokens": 30.0})


@dataclass(frozen=True, slots=True)
class _Running:
    """What exists between `start` and `close`."""

    networks: Networks
    prompts: Prompts
    source: TokenSource
    ends: frozenset[int]
    stage: Stage[Codes, Decoded]
    executors: tuple[DeviceExecutor, ...]
    text: DeviceExecutor


class SpeechLmEngine:
    """Sequences share the language model, here or on a server; windows of their tokens share the codec."""

    name = NAME
    capabilities = Capabilities(
        languages=LANGUAGES,
        sample_rate=SAMPLE_RATE,
        streaming=Streaming.TOKEN,
        cloning=True,
        stochastic=True,
    )

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._own = settings.section(SpeechLmSettings)
        self._frontend = GraphemeFrontend()
        self._observer: Observer | None = None
        self._running: _Running | None = None
        self.warning = ""
        """What is not as the settings wish: say, that there is no GPU."""

    @property
    def voices(self) -> Sequence[Voice]:
        return [Voice(id=name, name=name.capitalize(), language="ms") for name in self._own.speakers]

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        await self.start_with(await asyncio.to_thread(load_networks, self._settings))

    async def start_with(self, networks: Networks) -> None:
        """As `start`, with networks that are loaded already."""
        self.warning = networks.warning
        codec_device, lm_device = DeviceExecutor(f"{NAME}-codec", 1), DeviceExecutor(f"{NAME}-lm", 1)
        text = DeviceExecutor(f"{NAME}-text", 1)
        await codec_device.run(partial(use_own_stream, networks.device))
        await lm_device.run(partial(use_own_stream, networks.device, urgent=True))
        decoder = self._decoder(networks)
        await codec_device.run(decoder.warm)
        stage = Stage[Codes, Decoded](
            f"{NAME} codec",
            decoder.decode,
            executor=codec_device,
            max_batch=self._own.codec_batch,
            max_wait=self._own.codec_wait,
            key=decoder.bucket,
            observer=self._observer,
        )
        source, ends = await self._source(networks, lm_device)
        prompts = Prompts(networks.vocabulary)
        executors = (codec_device, lm_device, text)
        self._running = _Running(networks, prompts, source, ends, stage, executors, text)
        if networks.lm is not None and self.voices:
            async for _ in self.speak(replace(_WARM_UP, voice=self.voices[0].id)):
                continue

    async def close(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            await running.source.close()
            await running.stage.close()
            for executor in running.executors:
                await asyncio.to_thread(executor.close)

    def check(self, utterance: Utterance) -> None:
        Manner.of(utterance.tuning, utterance.seed, self._own)
        self._voice(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        running = self._started()
        encoder = running.networks.encoder
        if encoder is None:
            raise UnavailableError(
                "Hearing a recording needs NeuCodec's encoder: put encoder.onnx beside the codec's weights, or send "
                "the recording's tokens as reference_codes."
            )
        voice = await running.text.run(partial(encoder.voice, prompt))
        return voice.packed(NAME, prompt.digest)

    def voice_of_codes(self, codes: Sequence[int], transcript: str) -> PreparedVoice:
        """A voice of tokens that its owner has already."""
        voice = CodeVoice.checked(codes, transcript)
        digest = hashlib.sha256(voice.codes.tobytes() + transcript.encode()).hexdigest()
        return voice.packed(NAME, digest)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        speech = Speech(
            text=utterance.text,
            manner=Manner.of(utterance.tuning, utterance.seed, self._own),
            source=running.source,
            codec=running.stage,
            hop=running.networks.codec.config.hop,
            longest=self._own.max_tokens,
            ends=running.ends,
        )
        voice = self._voice(utterance)
        pieces = self._frontend.segments(utterance.text, utterance.normalization, utterance.language)
        found = 0
        while (piece := await running.text.run(lambda: next(pieces, None))) is not None and not speech.exhausted:
            if isinstance(piece, Pause):
                yield speech.pause(piece)
                continue
            found += 1
            prompt = await running.text.run(partial(self._prompt, running.prompts, voice, piece.text))
            async with aclosing(speech.say(piece, prompt)) as chunks:
                async for chunk in chunks:
                    yield chunk
        if not found:
            raise TextError("Nothing in the text can be spoken: it holds no word or number.", field="input")
        if not speech.tokens:
            raise EngineError("The language model ended before it spoke; ask again, or with another seed.")

    def _prompt(self, prompts: Prompts, voice: str | CodeVoice, text: str) -> Prompt:
        if isinstance(voice, str):
            return prompts.named(voice, text)
        words = self._frontend.normalized(voice.transcript, Utterance("", "").normalization)
        return prompts.cloned(replace(voice, transcript=words), text)

    def _voice(self, utterance: Utterance) -> str | CodeVoice:
        if utterance.prepared is not None:
            return CodeVoice.unpacked(utterance.prepared, NAME)
        if utterance.voice not in self._own.speakers:
            known = ", ".join(self._own.speakers)
            raise UnknownVoiceError(
                f"There is no voice {utterance.voice[:80]!r}; use one of {known}, or register one.", field="voice"
            )
        return utterance.voice

    async def _source(self, networks: Networks, device: DeviceExecutor) -> tuple[TokenSource, frozenset[int]]:
        """Whoever makes tokens, and those that end speech."""
        settings, own, lm = self._settings, self._own, networks.lm
        if lm is None:
            return RemoteLm(_remote_config(settings)), frozenset()
        capacity = PROMPT_POSITIONS + own.max_tokens
        slots = slots_within(own.cache_bytes, lm.config.backbone, capacity, lm.head.dtype)
        sizes = LmSizes(
            slots=min(slots, settings.max_sessions),
            capacity=capacity,
            prefill_rows=own.prefill_rows,
            prefix_bytes=own.prefix_bytes,
        )
        replay = CudaGraphs() if self._records(networks) else None
        source = await device.run(lambda: LmScheduler(lm, sizes, executor=device, observer=self._report, replay=replay))
        await source.warm(Sampling())
        return source, frozenset({lm.end})

    def _records(self, networks: Networks) -> bool:
        """Whether work is recorded as CUDA graphs."""
        return networks.device.type == "cuda" and bool(self._own.graph_seconds)

    def _decoder(self, networks: Networks) -> WindowDecoder:
        own = self._own
        if own.compile:
            return WindowDecoder(networks.codec, networks.device, compiled=True)
        if not self._records(networks):
            return WindowDecoder(networks.codec, networks.device)
        lengths = sorted({max(1, int(seconds * TOKENS_PER_SECOND)) for seconds in own.graph_seconds})
        shapes = Shapes(CudaGraphs(), tuple(lengths), own.codec_batch)
        return WindowDecoder(networks.codec, networks.device, shapes)

    def _report(self, report: LmReport) -> None:
        """A step as two batches: of prompts that were read, and of tokens that were drawn."""
        if self._observer is None:
            return
        if report.read:
            self._observer(BatchReport(f"{NAME} prefill", report.read, 0.0, report.prefill_seconds))
        drawn, seconds = report.drawn, report.decode_seconds
        self._observer(BatchReport(f"{NAME} decode", drawn, 0.0, seconds, report.busy, report.slots))

    def _started(self) -> _Running:
        if self._running is None:
            raise EngineError("The engine 'speechlm' is not running.")
        return self._running


def _remote_config(settings: Settings) -> RemoteLmConfig:
    own = settings.section(SpeechLmSettings)
    return RemoteLmConfig(
        url=own.url.rstrip("/").removesuffix(_COMPLETIONS),
        model=own.remote_model,
        api_key=own.api_key.get_secret_value(),
        codes=TOKENS,
        first_token_seconds=own.first_token_seconds,
        stall_seconds=own.stall_seconds,
        connections=settings.max_sessions,
    )
