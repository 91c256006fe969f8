"""CosyVoice 1 to 3: zero-shot voices, with audio decoded while speech tokens are still generated."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

import structlog
import torch

from polyvox.config import Settings
from polyvox.engines.cosyvoice.batching import streams_for
from polyvox.engines.cosyvoice.bundle import installed_folder
from polyvox.engines.cosyvoice.execution import start_lm
from polyvox.engines.cosyvoice.executors import Token2WavExecutors, cache_bytes
from polyvox.engines.cosyvoice.hops import Hops, hop_lengths
from polyvox.engines.cosyvoice.lm_adapter import CosyVoice1LmAdapter, CosyVoiceLmAdapter, LmAdapter
from polyvox.engines.cosyvoice.lm_prompt import (
    LmPrompt,
    PromptMode,
    build_prompt,
    build_prompt_v1,
    choose_mode,
    language_array,
    strip_end_mark,
)
from polyvox.engines.cosyvoice.loading import LoadedModel, load_model
from polyvox.engines.cosyvoice.model_config import CAPACITY, SAMPLE_RATES
from polyvox.engines.cosyvoice.phrases import Passages, Phrase, StreamingFrontend
from polyvox.engines.cosyvoice.prompt_features import check_recording
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.cosyvoice.spec import LANGUAGES
from polyvox.engines.cosyvoice.speech_decoder import DecoderState, Hop, SpeechDecoder, Token2WavResult
from polyvox.engines.cosyvoice.synthesis import (
    NO_TEXT,
    ChunkText,
    SegmentChunk,
    SegmentContext,
    SegmentSynthesizer,
    default_sampling,
)
from polyvox.engines.cosyvoice.tags import LANGUAGE_TAGS, Tags
from polyvox.engines.cosyvoice.token2wav import Token2Wav
from polyvox.engines.cosyvoice.tuning import CosyVoiceTuning
from polyvox.engines.cosyvoice.voice_states import VoiceStates
from polyvox.engines.cosyvoice.whisper_tokenizer import WhisperTokenizer
from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.kit.recording import first_line
from polyvox.engines.kit.seeds import derive_seed, request_seed
from polyvox.errors import EngineError, InvalidRequestError, PromptError, TextError, UnknownVoiceError
from polyvox.models.cosyvoice.lm_v1 import CosyVoice1Lm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay, use_own_stream
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.stage import Observer, Stage
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

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

MAX_INSTRUCTIONS = 500
_CPU_STREAMS = 8
_BATCH_BLOCKS = 32
"""Blocks of the flow in one batch: larger ones are hardly faster, and a first chunk would wait for them."""
_CAPTURES_PER_LINE = 20
_CPU_PREFILL_ROWS, _GPU_PREFILL_ROWS = 256, 2048
"""Positions of prompts in one step of the language model: on a GPU, those of ten streams that start together."""


@dataclass(frozen=True, slots=True)
class _Running:
    """What exists between `start` and `close`."""

    model: LoadedModel
    scheduler: LmScheduler
    synthesizer: SegmentSynthesizer
    stage: Stage[Hop, Token2WavResult]
    device: DeviceExecutor
    lm_device: DeviceExecutor
    features: DeviceExecutor
    text: DeviceExecutor
    streams: asyncio.Semaphore
    voices: VoiceStates
    capturing: "asyncio.Task[None] | None"


class CosyVoiceEngine:
    """One version of CosyVoice. All requests share the language model's scheduler; audio is decoded hop by hop."""

    def __init__(self, settings: Settings, version: int) -> None:
        self.name = f"cosyvoice{version}"
        self.location = EngineLocation()
        self.warning = ""
        """What is not as the settings ask, such as a missing GPU."""
        self.capabilities = Capabilities(
            languages=LANGUAGES[version],
            sample_rate=SAMPLE_RATES[version],
            streaming=Streaming.TOKEN,
            cloning=True,
            wordless=True,
            instructions=True,
            conversion=True,
            stochastic=True,
            tags=Tags(version).allowed,
        )
        self._version = version
        self._settings = settings.section(CosyVoiceSettings)
        self._folder = self._settings.folder(version) or installed_folder(settings.models_dir, version)
        self._tags = Tags(version)
        self._policy = self._settings.policy(version)
        self._sample_rate = SAMPLE_RATES[version]
        self._observer: Observer | None = None
        self._running: _Running | None = None

    @property
    def voices(self) -> Sequence[Voice]:
        built_in = self._running.model.voices if self._running else {}
        return [Voice(id=name, name=name, language="mul") for name in built_in]

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        await self.start_with(await asyncio.to_thread(load_model, self._folder, self._version, self._settings))

    async def start_with(self, model: LoadedModel) -> None:
        """As `start`, with a model that is loaded already."""
        config, token2wav = model.bundle.config, model.networks.token2wav
        self.location = EngineLocation(model.placement.device)
        device, lm_device = DeviceExecutor(f"{self.name}-token2wav", 1), DeviceExecutor(f"{self.name}-lm", 1)
        adapter = _adapter(model, lm_device)
        recorder = CudaGraphs if model.placement.device == "cuda" else None
        streams = self._settings.streams or await device.run(partial(_streams, model, self._settings))
        prefill_rows = _CPU_PREFILL_ROWS if recorder is None else _GPU_PREFILL_ROWS
        sizes = LmSchedulerConfig(slots=streams, capacity=CAPACITY, prefill_rows=prefill_rows)
        await lm_device.run(partial(use_own_stream, torch.device(model.placement.device)))
        scheduler, lm_warning = await start_lm(adapter, sizes, default_sampling(config), lm_device, recorder)
        warnings = [model.warning, lm_warning]
        executors = None
        if isinstance(token2wav, Token2Wav):
            hops = hop_lengths(self._policy, config.flow.flow.block)
            executors = Token2WavExecutors(token2wav, model.bundle, self._settings)
            warnings.append(await device.run(partial(executors.prepare, hops, streams, gpu=recorder is not None)))
        self.warning = " ".join(filter(None, warnings))
        stage = Stage[Hop, Token2WavResult](
            self.name,
            token2wav.step_batch,
            executor=device,
            # Hops that run one after the other do not wait for each other's end.
            max_batch=streams if executors is not None and executors.batched else 1,
            cost=token2wav.blocks_of if isinstance(token2wav, Token2Wav) else None,
            max_cost=_BATCH_BLOCKS,
            observer=self._observer,
        )
        original = self._settings.original_least
        self._running = _Running(
            model=model,
            scheduler=scheduler,
            synthesizer=SegmentSynthesizer(config, adapter, scheduler, stage, original=original),
            stage=stage,
            device=device,
            lm_device=lm_device,
            features=DeviceExecutor(f"{self.name}-features", 1),
            text=DeviceExecutor(f"{self.name}-text", 1),
            streams=asyncio.Semaphore(streams if executors is None else executors.room_for(streams)),
            voices=VoiceStates(partial(_voice_state, token2wav, device, stage), self._settings.prompt_bytes),
            capturing=asyncio.create_task(self._capture(executors, device, recorder))
            if executors is not None and recorder is not None
            else None,
        )

    async def captured(self) -> None:
        """Wait until all shapes are captured."""
        if (capturing := self._started().capturing) is not None:
            await asyncio.wait([capturing])

    async def _capture(
        self, executors: Token2WavExecutors, device: DeviceExecutor, recorder: Callable[[], Replay]
    ) -> None:
        """Capture shape by shape between the hops of streams; what was not captured yet runs eagerly."""
        began, name = time.perf_counter(), "audio decoder"
        try:
            shapes = list(executors.captures(await device.run(recorder)))
            for index, capture in enumerate(shapes):
                name = capture.name
                await device.run(partial(executors.capture, capture))
                if (index + 1) % _CAPTURES_PER_LINE == 0 or index + 1 == len(shapes):
                    seconds = round(time.perf_counter() - began, 1)
                    log.info("cosyvoice shapes captured", engine=self.name, done=index + 1, of=len(shapes), s=seconds)
        except RuntimeError as error:
            warning = (
                f"CosyVoice's {name} could not be captured ({first_line(error)}), so it runs eagerly, more slowly."
            )
            self.warning = " ".join(filter(None, (self.warning, warning)))
            log.warning(warning)

    async def close(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            if running.capturing is not None:
                running.capturing.cancel()
                await asyncio.wait([running.capturing])
            running.voices.clear()
            await running.scheduler.close()
            await running.stage.close()
            for executor in (running.device, running.lm_device, running.features, running.text):
                await asyncio.to_thread(executor.close)

    def check(self, utterance: Utterance) -> None:
        instructions = self._instructions(utterance)
        if len(instructions) > MAX_INSTRUCTIONS:
            raise InvalidRequestError(
                f"The instructions are longer than {MAX_INSTRUCTIONS} characters; shorten them.", field="instructions"
            )
        if utterance.language and utterance.language.partition("-")[0] not in self.capabilities.languages:
            known = ", ".join(sorted(self.capabilities.languages))
            raise InvalidRequestError(
                f"CosyVoice {self._version} does not speak {utterance.language!r}; it speaks {known}.", field="language"
            )
        arrays = self._voice(utterance).arrays
        if instructions and self._version > 1 and "tokens" not in arrays:
            raise InvalidRequestError(
                "This voice cannot follow instructions; choose one that was cloned from a recording.",
                field="instructions",
            )
        if CosyVoiceTuning.of(utterance.tuning).zero_shot and not len(arrays.get("text", ())):
            raise PromptError(
                "The reference recording has no transcript; send the words that are spoken in it.", field="prompt_text"
            )

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        running = self._started()
        check_recording(prompt, "voice")
        return await running.features.run(partial(self._prepare, running.model, prompt))

    def _prepare(self, model: LoadedModel, prompt: VoicePrompt) -> PreparedVoice:
        transcript = model.frontend.normalized(prompt.transcript, NormalizationOptions()).text
        arrays = model.features.extract(prompt)
        text = model.tokenizer.encode_array(transcript)
        return PreparedVoice(
            self.name, prompt.digest, {**arrays, "text": text, "language": language_array(prompt.transcript)}
        )

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        self.check(utterance)
        prompt = self._prompt(running, utterance, utterance.text)
        speech = partial(self._speak_segments, running, utterance)
        async with aclosing(self._chunks(running, utterance, prompt, speech)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        """Speak a text while it arrives; a stream's slot is taken when its first phrase is there."""
        running = self._started()
        self.check(utterance)
        async with aclosing(self._phrases(running, utterance, pieces)) as phrases:
            passages = Passages(phrases)
            first = await passages.peek()
            if first is None:
                raise _nothing_to_say()
            prompt = self._prompt(running, utterance, first.text)
            speech = partial(self._speak_passages, running, passages)
            async with aclosing(self._chunks(running, utterance, prompt, speech)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """Convert a recording to another voice: its speech tokens, decoded with that voice's prompt."""
        running = self._started()
        check_recording(source, "file")
        self.check(utterance)
        prompt = LmPrompt(PromptMode.CONVERSION, (), (), self._voice(utterance))
        speech = partial(self._convert, running, source)
        async with aclosing(self._chunks(running, utterance, prompt, speech)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _prompt(self, running: _Running, utterance: Utterance, text: str) -> LmPrompt:
        voice, tuning = self._voice(utterance), CosyVoiceTuning.of(utterance.tuning)
        tokenizer, instructions = running.model.tokenizer, self._instructions(utterance)
        language = utterance.language or LANGUAGE_TAGS.get(self._tags.leading_language(text))
        mode = choose_mode(voice, text, instructions, language, zero_shot=tuning.zero_shot)
        if isinstance(tokenizer, WhisperTokenizer):
            spoken = running.model.frontend.normalized(instructions, NormalizationOptions()).text
            return build_prompt_v1(voice, mode, spoken, tokenizer, self._settings.version1_end_mark)
        return build_prompt(voice, mode, instructions, tokenizer, self._version)

    def _language_tag(self, utterance: Utterance, mode: PromptMode) -> tuple[str, str | None]:
        """Version 1's language tag of all segments, and their language.

        The tag is the one that the text begins with; across languages, where the model needs one, that of the language.
        """
        tag = self._tags.leading_language(utterance.text)
        language = utterance.language or LANGUAGE_TAGS.get(tag)
        if self._version == 1 and not tag and utterance.language and mode is PromptMode.CROSS_LINGUAL:
            tag = f"<|{utterance.language.partition('-')[0]}|>"
        return tag, language

    def _instructions(self, utterance: Utterance) -> str:
        instructions = utterance.instructions or ""
        return self._tags.clean(strip_end_mark(instructions) if self._version == 1 else instructions)

    async def _chunks(
        self, running: _Running, utterance: Utterance, prompt: LmPrompt, speech: "_Speech"
    ) -> AsyncGenerator[AudioChunk]:
        """Number the chunks of an utterance; a chunk without samples is left out."""
        seed = request_seed(utterance.seed)
        log.debug("cosyvoice request", engine=self.name, mode=str(prompt.mode), seed=seed, policy=self._policy)
        async with running.streams:
            ledger = ChunkLedger(self._sample_rate, self._policy)
            base = asyncio.create_task(running.voices.get(prompt.voice))
            hops = Hops(self._policy, len(prompt.flow_tokens), running.synthesizer.block, running.synthesizer.ahead)
            try:
                context = _UtteranceContext(prompt, base, seed, hops, Playhead(asyncio.get_running_loop().time))
                async with aclosing(speech(context)) as chunks:
                    async for text, chunk in chunks:
                        log.debug("cosyvoice chunk", tokens=chunk.tokens, cache_bytes=chunk.cache_bytes)
                        if len(chunk.pcm):
                            context.playhead.push(len(chunk.pcm) / self._sample_rate)
                            yield _audio_chunk(ledger, chunk, text)
            finally:
                base.cancel()
        if ledger.index == 0:
            raise _nothing_to_say()

    async def _speak_segments(
        self, running: _Running, utterance: Utterance, context: "_UtteranceContext"
    ) -> AsyncGenerator[tuple[ChunkText, SegmentChunk]]:
        """Speak a text segment by segment, each a sequence of its own; its first chunk carries its text."""
        model, synthesizer = running.model, running.synthesizer
        tag, language = self._language_tag(utterance, context.prompt.mode)
        segments = model.frontend.segments(utterance.text, utterance.normalization, language)
        index = 0
        while (segment := await running.text.run(lambda: next(segments, None))) is not None:
            span = segment.span(0, len(segment))
            text = ChunkText(utterance.text[span.start : span.end], span)
            ids = model.tokenizer.encode(tag + segment.text.removeprefix(tag))
            speech = synthesizer.speak(context.segment(index), ids, context.hops, context.playhead)
            async with aclosing(speech) as chunks:
                async for chunk in chunks:
                    yield text if chunk.first else NO_TEXT, chunk
            index += 1

    async def _speak_passages(
        self, running: _Running, passages: Passages, context: "_UtteranceContext"
    ) -> AsyncGenerator[tuple[ChunkText, SegmentChunk]]:
        """Speak an arriving text passage by passage; the last chunk of each carries its text, known by then."""
        synthesizer, index = running.synthesizer, 0
        while await passages.peek() is not None:
            segment = context.segment(index)
            async with (
                aclosing(passages.passage()) as phrases,
                aclosing(synthesizer.speak_stream(segment, phrases, context.hops, context.playhead)) as chunks,
            ):
                async for chunk in chunks:
                    yield passages.wording if chunk.last else NO_TEXT, chunk
            index += 1

    async def _convert(
        self, running: _Running, source: VoicePrompt, context: "_UtteranceContext"
    ) -> AsyncGenerator[tuple[ChunkText, SegmentChunk]]:
        tokens = await running.features.run(partial(running.model.features.speech_tokens, source))
        speech = running.synthesizer.speak_tokens(context.segment(0), tokens, context.hops, context.playhead)
        async with aclosing(speech) as chunks:
            async for chunk in chunks:
                yield NO_TEXT, chunk

    async def _phrases(
        self, running: _Running, utterance: Utterance, pieces: AsyncIterator[str]
    ) -> AsyncGenerator[Phrase]:
        model = running.model
        frontend = StreamingFrontend(model.frontend, model.tokenizer, utterance.normalization, utterance.language)
        async for text in pieces:
            for phrase in await running.text.run(partial(frontend.push, text)):
                yield phrase
        for phrase in await running.text.run(frontend.finish):
            yield phrase

    def _voice(self, utterance: Utterance) -> PreparedVoice:
        if utterance.prepared is not None:
            if utterance.prepared.engine != self.name:
                raise InvalidRequestError(
                    f"This voice was prepared for {utterance.prepared.engine!r}, not for {self.name!r}.", field="voice"
                )
            return utterance.prepared
        built_in = self._started().model.voices
        if utterance.voice not in built_in:
            remedy = f"use one of {', '.join(built_in)}, or" if built_in else "this model has none built in:"
            raise UnknownVoiceError(
                f"There is no voice {utterance.voice[:80]!r}; {remedy} register a recording as a voice.", field="voice"
            )
        return built_in[utterance.voice]

    def _started(self) -> _Running:
        if self._running is None:
            raise EngineError(f"The engine {self.name!r} is not running.")
        return self._running


@dataclass(frozen=True, slots=True)
class _UtteranceContext:
    """What all segments of one utterance share."""

    prompt: LmPrompt
    base: "asyncio.Task[DecoderState]"
    seed: int
    hops: Hops
    playhead: Playhead

    def segment(self, index: int) -> SegmentContext:
        return SegmentContext(self.prompt, self.base, derive_seed(self.seed, "segment", index))


def _adapter(model: LoadedModel, executor: DeviceExecutor) -> LmAdapter:
    lm = model.networks.lm
    return CosyVoice1LmAdapter(lm, executor) if isinstance(lm, CosyVoice1Lm) else CosyVoiceLmAdapter(lm)


def _streams(model: LoadedModel, settings: CosyVoiceSettings) -> int:
    """Utterances that are spoken at once where the settings leave it open."""
    token2wav = model.networks.token2wav
    if model.placement.device != "cuda" or not isinstance(token2wav, Token2Wav):
        return _CPU_STREAMS
    return streams_for(token2wav.flow, settings.flow_bytes or cache_bytes())


async def _voice_state(
    token2wav: SpeechDecoder, device: DeviceExecutor, stage: Stage[Hop, Token2WavResult], voice: PreparedVoice
) -> DecoderState:
    """The state of a stream before its first token, with the voice's prompt in the flow's caches."""
    state = await device.run(partial(token2wav.start, voice))
    return (await stage(Hop((), state, final=False))).state if isinstance(token2wav, Token2Wav) else state


_Speech = Callable[[_UtteranceContext], AsyncGenerator[tuple[ChunkText, SegmentChunk]]]


def _audio_chunk(ledger: ChunkLedger, chunk: SegmentChunk, text: ChunkText) -> AudioChunk:
    return ledger.chunk(
        chunk.pcm,
        text=text.text,
        span=text.span,
        tokens=chunk.tokens,
        frames=chunk.frames,
        device_seconds=chunk.device_seconds,
        stages=chunk.stages,
    )


def _nothing_to_say() -> TextError:
    return TextError("Nothing in the text can be spoken: it holds no word or number.", field="input")
