"""CosyVoice 1 to 3: zero-shot voices, with audio decoded while speech tokens are still generated."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

import structlog

from polyvox.config import Settings
from polyvox.engines.cosyvoice.decoder.hop_decoding import SegmentChunk
from polyvox.engines.cosyvoice.decoder.hops import Hops
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState
from polyvox.engines.cosyvoice.frontend.tags import LANGUAGE_TAGS, Tags
from polyvox.engines.cosyvoice.frontend.whisper_tokenizer import WhisperTokenizer
from polyvox.engines.cosyvoice.languages import LANGUAGES
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
from polyvox.engines.cosyvoice.model_config import SAMPLE_RATES
from polyvox.engines.cosyvoice.phrases import Passages, Phrase, StreamingFrontend
from polyvox.engines.cosyvoice.prompt_features import check_recording
from polyvox.engines.cosyvoice.running_model import RunningModel, start_model
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings, installed_folder
from polyvox.engines.cosyvoice.synthesis import (
    NO_TEXT,
    ChunkText,
    SegmentContext,
)
from polyvox.engines.cosyvoice.tuning import CosyVoiceTuning
from polyvox.engines.cosyvoice.voice_file import voices_named
from polyvox.engines.kit.checks import check_engine, nothing_to_say
from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.kit.seeds import derive_seed, request_seed
from polyvox.errors import EngineError, InvalidRequestError, PromptError, UnknownVoiceError
from polyvox.runtime.stage import Observer
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


class CosyVoiceEngine:
    """One version of CosyVoice. All requests share the language model's scheduler; audio is decoded hop by hop."""

    def __init__(self, settings: Settings, version: int) -> None:
        self.name = f"cosyvoice{version}"
        self.location = EngineLocation()
        self._warnings: list[str] = []
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
        self._running: RunningModel | None = None

    @property
    def voices(self) -> Sequence[Voice]:
        built_in = self._running.model.voices if self._running else {}
        unmoved = {name for name, voice in built_in.items() if not self._follows_instructions(voice)}
        return [replace(voice, instructions=voice.id not in unmoved) for voice in voices_named(built_in)]

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        await self.start_with(await asyncio.to_thread(load_model, self._folder, self._version, self._settings))

    async def start_with(self, model: LoadedModel) -> None:
        """As `start`, with a model that is loaded already."""
        self.location = EngineLocation(model.placement.device)
        self._running = await start_model(self.name, model, self._settings, self._observer)
        self._warnings = [model.warning, self._running.warning]
        capturing = self._running.capturing
        if capturing is not None:
            capturing.add_done_callback(self._note_captured)

    def _note_captured(self, capturing: "asyncio.Task[str]") -> None:
        if not capturing.cancelled():
            self._warnings.append(capturing.result())

    @property
    def warning(self) -> str:
        """The part that is not as the settings ask, such as a missing GPU."""
        return " ".join(filter(None, self._warnings))

    async def captured(self) -> None:
        """Wait until all shapes are captured."""
        if (capturing := self._started().capturing) is not None:
            await asyncio.wait([capturing])

    async def close(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            await running.close()

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
        voice = self._voice(utterance)
        if instructions and not self._follows_instructions(voice):
            raise InvalidRequestError(
                "This voice cannot follow instructions; choose one that was cloned from a recording.",
                field="instructions",
            )
        if CosyVoiceTuning.of(utterance.tuning).zero_shot and not len(voice.arrays.get("text", ())):
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
            self.name,
            prompt.digest,
            {**arrays, "text": text, "language": language_array(model.frontend.language(prompt.transcript))},
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
                raise nothing_to_say()
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

    def _prompt(self, running: RunningModel, utterance: Utterance, text: str) -> LmPrompt:
        voice, tuning = self._voice(utterance), CosyVoiceTuning.of(utterance.tuning)
        tokenizer, instructions = running.model.tokenizer, self._instructions(utterance)
        language = utterance.language or LANGUAGE_TAGS.get(self._tags.leading_language(text))
        language = language or running.model.frontend.language(text)
        mode = choose_mode(voice, instructions, language, zero_shot=tuning.zero_shot)
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
        self, running: RunningModel, utterance: Utterance, prompt: LmPrompt, speech: "_Speech"
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
            raise nothing_to_say()

    async def _speak_segments(
        self, running: RunningModel, utterance: Utterance, context: "_UtteranceContext"
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
        self, running: RunningModel, passages: Passages, context: "_UtteranceContext"
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
        self, running: RunningModel, source: VoicePrompt, context: "_UtteranceContext"
    ) -> AsyncGenerator[tuple[ChunkText, SegmentChunk]]:
        tokens = await running.features.run(partial(running.model.features.speech_tokens, source))
        speech = running.synthesizer.speak_tokens(context.segment(0), tokens, context.hops, context.playhead)
        async with aclosing(speech) as chunks:
            async for chunk in chunks:
                yield NO_TEXT, chunk

    async def _phrases(
        self, running: RunningModel, utterance: Utterance, pieces: AsyncIterator[str]
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
            check_engine(utterance.prepared, self.name)
            return utterance.prepared
        built_in = self._started().model.voices
        if utterance.voice not in built_in:
            remedy = f"use one of {', '.join(built_in)}, or" if built_in else "this model has none built in:"
            raise UnknownVoiceError(
                f"There is no voice {utterance.voice[:80]!r}; {remedy} register a recording as a voice.", field="voice"
            )
        return built_in[utterance.voice]

    def _follows_instructions(self, voice: PreparedVoice) -> bool:
        """Return whether a voice is led by instructions: in later versions, only one with a recording's tokens."""
        return self._version == 1 or "tokens" in voice.arrays

    def _started(self) -> RunningModel:
        if self._running is None:
            raise EngineError(f"The engine {self.name!r} is not running.")
        return self._running


@dataclass(frozen=True, slots=True)
class _UtteranceContext:
    """Values that all segments of one utterance share."""

    prompt: LmPrompt
    base: "asyncio.Task[DecoderState]"
    seed: int
    hops: Hops
    playhead: Playhead

    def segment(self, index: int) -> SegmentContext:
        return SegmentContext(self.prompt, self.base, derive_seed(self.seed, "segment", index))


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
