"""Engine of Qwen3-TTS: a language model that generates frames of codes, and the codec that turns them into samples."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from polyvox.config import Settings
from polyvox.engines.kit.recording import captured_or_eager
from polyvox.engines.kit.seeds import request_seed
from polyvox.engines.qwen3tts.arriving_text import ArrivingText
from polyvox.engines.qwen3tts.bundle import (
    Qwen3TtsNetworks,
    SamplingDefaults,
    TextEncoder,
    check_folder,
    load_networks,
    read_config,
    read_sampling,
)
from polyvox.engines.qwen3tts.codec_streams import CodecHop, CodecStreams, DecodedHop
from polyvox.engines.qwen3tts.conditioning import Condition, Conditioner, model_language
from polyvox.engines.qwen3tts.frame_steps import PredictorSteps
from polyvox.engines.qwen3tts.room import fitting_streams, stream_bytes
from polyvox.engines.qwen3tts.settings import Qwen3TtsSettings
from polyvox.engines.qwen3tts.synthesis import SAMPLE_RATE, Passage, SynthesisParts, UtteranceSynthesis
from polyvox.engines.qwen3tts.tuning import Qwen3TtsTuning
from polyvox.engines.qwen3tts.variants import CUSTOM_VOICE, LANGUAGES, VOICE_DESIGN, Variant, built_in_voices
from polyvox.engines.qwen3tts.voice import ClonedVoice, check_recording, clone
from polyvox.errors import EngineError, InvalidRequestError, SilentTextError, UnknownVoiceError
from polyvox.models.qwen3tts.talker_lm import TalkerLm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay, use_own_stream
from polyvox.runtime.lm_scheduler import LmReport, LmScheduler, LmSchedulerConfig
from polyvox.runtime.placement import DeviceRequest, Placement, place_models
from polyvox.runtime.stage import BatchReport, Observer, Stage
from polyvox.text.detect import detect_language
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import (
    AudioChunk,
    Capabilities,
    ChunkPolicy,
    EngineLocation,
    PreparedVoice,
    Streaming,
    Utterance,
    Voice,
    VoicePrompt,
)
from polyvox.voices.designs import description_of

MAX_TEXT = 4096
"""Ids of text of one stretch of speech: more than any segment has, whatever its characters."""
_PROMPT_POSITIONS = 1024
"""Positions of a slot for the prompt, besides the speech: half a minute of a voice, its transcript and the text."""
_MAX_INSTRUCTIONS = 2000
_WARM_UP = "Ready."
_WARM_UP_FRAMES = 4.0


@dataclass(frozen=True, slots=True)
class _Running:
    """The parts that exist between `start` and `close`."""

    networks: Qwen3TtsNetworks
    encoder: TextEncoder
    sampling: SamplingDefaults
    parts: SynthesisParts
    text: DeviceExecutor
    hearing: DeviceExecutor
    executors: tuple[DeviceExecutor, ...]


class Qwen3TtsEngine:
    """Sequences of all sessions share the language model, and their hops share the codec."""

    def __init__(self, variant: Variant, settings: Settings) -> None:
        self._variant = variant
        self.name = variant.name
        self._settings = settings.section(Qwen3TtsSettings)
        self._folder = self._settings.dirs.get(variant.name) or settings.models_dir / variant.name
        self._frontend = GraphemeFrontend()
        self._observer: Observer | None = None
        self._running: _Running | None = None
        self.location = EngineLocation()
        self.warning = ""
        """The part that does not run as the settings ask: no GPU, or no captured CUDA graphs."""
        self.capabilities = Capabilities(
            languages=LANGUAGES,
            sample_rate=SAMPLE_RATE,
            streaming=Streaming.TOKEN,
            cloning=variant.cloning,
            wordless=variant.cloning,
            instructions=variant.instructions,
            voice_design=variant.kind == VOICE_DESIGN,
            stochastic=True,
            reads_markup=True,
        )
        self._policy = ChunkPolicy(
            self._settings.first_frames,
            self._settings.chunk_growth,
            max(self._settings.first_frames, self._settings.most_frames),
        )

    @property
    def voices(self) -> Sequence[Voice]:
        """Those that the loaded model names, where it is loaded."""
        known = {voice.id: voice for voice in built_in_voices(self.name)}
        if self._running is None or self._variant.kind != CUSTOM_VOICE:
            return list(known.values())
        speakers = self._running.networks.config.codec_ids.speakers
        return [known.get(name) or Voice(name, name.replace("_", " ").title(), "en") for name in speakers]

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        networks, warning = await asyncio.to_thread(self._load)
        await self.start_with(networks, self._folder, warning)

    def _load(self) -> tuple[Qwen3TtsNetworks, str]:
        check_folder(self._folder)
        config = read_config(self._folder, self._variant)

        def load(placement: Placement) -> Qwen3TtsNetworks:
            import torch

            return load_networks(self._folder, config, torch.device(placement.device), placement.dtype)

        request = DeviceRequest(self._settings.device, self._settings.precision)
        networks, _, warning = place_models(self.name, request, load, request.cpu)
        return networks, warning

    async def start_with(self, networks: Qwen3TtsNetworks, folder: Path, warning: str = "") -> None:
        """As `start`, with networks that are loaded already; `folder` has the tokenizer."""
        encoder, sampling = TextEncoder(folder), read_sampling(folder)
        codec_thread, lm_thread = DeviceExecutor(f"{self.name}-codec", 1), DeviceExecutor(f"{self.name}-lm", 1)
        text, hearing = DeviceExecutor(f"{self.name}-text", 1), DeviceExecutor(f"{self.name}-voices", 1)
        for thread, urgent in ((codec_thread, False), (lm_thread, True), (hearing, False)):
            await thread.run(partial(use_own_stream, networks.device, urgent=urgent))
        self.location = EngineLocation(str(networks.device))
        recorder = CudaGraphs if networks.device.type == "cuda" and self._settings.graphs else None
        count, room_warning = self._fitting_streams(networks)
        streams, codec_warning = await codec_thread.run(partial(self._streams, networks, count, recorder))
        scheduler, lm_warning = await lm_thread.run(
            partial(self._scheduler, networks, count, lm_thread, recorder, sampling)
        )
        parts = SynthesisParts(
            scheduler=scheduler,
            lm_thread=lm_thread,
            conditioner=await lm_thread.run(partial(Conditioner, networks.talker, encoder)),
            codec=Stage[CodecHop, DecodedHop](
                f"{self.name} codec",
                streams.decode,
                executor=codec_thread,
                max_batch=count,
                key=streams.key,
                observer=self._observer,
            ),
            streams=streams,
            groups=networks.config.groups,
            stop=frozenset({networks.config.codes}),
            max_frames=self._settings.max_frames,
            max_text=MAX_TEXT,
        )
        self.warning = " ".join(filter(None, (warning, room_warning, lm_warning, codec_warning)))
        executors = (codec_thread, lm_thread, text, hearing)
        self._running = _Running(networks, encoder, sampling, parts, text, hearing, executors)
        if self.voices:
            utterance = Utterance(_WARM_UP, self.voices[0].id, seed=0, tuning={"max_new_tokens": _WARM_UP_FRAMES})
            async for _ in self.speak(utterance):
                continue

    def _fitting_streams(self, networks: Qwen3TtsNetworks) -> tuple[int, str]:
        if networks.device.type != "cuda":
            return self._settings.streams, ""
        import torch

        free, _ = torch.cuda.mem_get_info(networks.device)
        each = stream_bytes(networks, _PROMPT_POSITIONS + self._settings.max_frames)
        return fitting_streams(self._settings.streams, each, free)

    def _streams(
        self, networks: Qwen3TtsNetworks, count: int, recorder: Callable[[], Replay] | None
    ) -> tuple[CodecStreams, str]:
        make = partial(CodecStreams, networks.decoder, 2 * count, count, kept_voices=self._settings.voice_states)
        if recorder is None:
            return make(), ""

        def captured() -> CodecStreams:
            streams = make(recorder())
            streams.warm()
            return streams

        return captured_or_eager("The tokenizer's decoder", captured, make)

    def _scheduler(
        self,
        networks: Qwen3TtsNetworks,
        count: int,
        thread: DeviceExecutor,
        recorder: Callable[[], Replay] | None,
        sampling: SamplingDefaults,
    ) -> tuple[LmScheduler, str]:
        settings, float8 = self._settings, self._settings.weights == "float8"
        config = LmSchedulerConfig(
            slots=count,
            capacity=_PROMPT_POSITIONS + settings.max_frames,
            prefill_rows=settings.prefill_rows,
            prefix_bytes=settings.prefix_bytes,
            float8=float8,
            nested_top_p=True,
        )

        def make(replay: Replay | None) -> LmScheduler:
            fused = replay is not None
            frames = PredictorSteps(networks.talker, count, MAX_TEXT, fused=fused, float8=float8)
            lm = TalkerLm(networks.talker)
            return LmScheduler(lm, config, executor=thread, observer=self._report, replay=replay, frames=frames)

        if recorder is None:
            return make(None), ""

        def captured() -> LmScheduler:
            scheduler = make(recorder())
            scheduler.capture(sampling.first)
            return scheduler

        return captured_or_eager("The talker", captured, lambda: make(None))

    async def close(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            await running.parts.scheduler.close()
            await running.parts.codec.close()
            for executor in running.executors:
                await asyncio.to_thread(executor.close)

    def check(self, utterance: Utterance) -> None:
        Qwen3TtsTuning.of(utterance.tuning)
        if len(utterance.instructions or "") > _MAX_INSTRUCTIONS:
            raise InvalidRequestError(
                f"The instructions are longer than {_MAX_INSTRUCTIONS} characters; shorten them.", field="instructions"
            )
        if utterance.language and utterance.language.lower().partition("-")[0] not in LANGUAGES:
            known = ", ".join(sorted(LANGUAGES))
            raise InvalidRequestError(
                f"Qwen3-TTS does not speak {utterance.language!r}; it speaks {known}.", field="language"
            )
        self._condition(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        running = self._started()
        check_recording(prompt)
        voice = await running.hearing.run(partial(clone, running.networks, prompt))
        return voice.pack(self.name)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        self.check(utterance)
        language = utterance.language or detect_language(utterance.text, LANGUAGES)
        synthesis = self._synthesis(running, utterance)
        streaming = self._settings.layout == "streaming" or (self._settings.layout == "auto" and self._variant.cloning)
        segments = self._frontend.segments(utterance.text, utterance.normalization, language)
        read = partial(_next_passage, segments, utterance.text, running.encoder)
        while (given := await running.text.run(read)) is not None:
            if isinstance(given, Pause):
                yield synthesis.pause(given)
                continue
            async with aclosing(synthesis.speak(given, streaming=streaming)) as chunks:
                async for chunk in chunks:
                    yield chunk
        if not synthesis.passages:
            raise _nothing_to_say()

    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        """Speak a text while it arrives: text and frames advance together, as the model was trained."""
        running = self._started()
        self.check(utterance)
        arriving = ArrivingText(self._frontend, running.encoder, running.text, utterance)
        async with aclosing(arriving.passages(pieces)) as passages:
            synthesis: UtteranceSynthesis | None = None
            async for phrases in passages:
                if synthesis is None:
                    synthesis = self._synthesis(running, utterance)
                async with aclosing(synthesis.speak_arriving(phrases, lambda: arriving.wording)) as chunks:
                    async for chunk in chunks:
                        yield chunk
        if synthesis is None or not synthesis.passages:
            raise _nothing_to_say()

    def _synthesis(self, running: _Running, utterance: Utterance) -> UtteranceSynthesis:
        tuning = Qwen3TtsTuning.of(utterance.tuning)
        return UtteranceSynthesis(
            running.parts,
            self._condition(utterance),
            tuning.applied(running.sampling),
            self._policy,
            request_seed(utterance.seed),
            tuning.max_new_tokens,
        )

    def _condition(self, utterance: Utterance) -> Condition:
        """The voice, the language and the instruction; errors name what is not there.

        Where the caller names no language, the model hears it from the text.
        """
        language = utterance.language
        instruction = (utterance.instructions or "").strip() if self._variant.instructions else ""
        if utterance.prepared is not None and self._variant.kind == VOICE_DESIGN:
            described = " ".join(filter(None, (description_of(utterance.prepared), instruction)))
            return Condition("", None, model_language(language, None), described)
        if utterance.prepared is not None:
            cloned = ClonedVoice.unpack(utterance.prepared, self.name)
            return Condition("", cloned, model_language(language, None), instruction)
        known = [voice.id for voice in self.voices]
        if utterance.voice.lower() not in known:
            remedy = f"use one of {', '.join(known)}" if known else "this model has none built in: register a recording"
            raise UnknownVoiceError(f"There is no voice {utterance.voice[:80]!r}; {remedy}.", field="voice")
        if self._variant.kind == VOICE_DESIGN:
            return Condition("", None, model_language(language, None), instruction)
        speaker = utterance.voice.lower()
        dialect = None if self._running is None else self._running.networks.config.codec_ids.dialects.get(speaker)
        return Condition(speaker, None, model_language(language, dialect), instruction)

    def _report(self, report: LmReport) -> None:
        """Report a step as two batches: prefilled positions, and generated frames."""
        if self._observer is None:
            return
        if report.prompt_tokens:
            self._observer(BatchReport(f"{self.name} prefill", report.prompt_tokens, 0.0, report.prefill_seconds))
        frames, seconds = report.generated_tokens, report.decode_seconds
        self._observer(BatchReport(f"{self.name} decode", frames, 0.0, seconds, report.running, report.slots))

    def _started(self) -> _Running:
        if self._running is None:
            raise EngineError(f"The engine {self.name!r} is not running.")
        return self._running


def _nothing_to_say() -> SilentTextError:
    return SilentTextError("Nothing in the text can be spoken: it holds no word or number.", field="input")


def _next_passage(segments: Iterator[TrackedText | Pause], raw: str, encoder: TextEncoder) -> Passage | Pause | None:
    """The next segment with its ids, in one turn: a prompt must not wait until all others have their segments."""
    segment = next(segments, None)
    if segment is None or isinstance(segment, Pause):
        return segment
    span = segment.span(0, len(segment))
    return Passage(encoder.encode(segment.text), raw[span.start : span.end], span)
