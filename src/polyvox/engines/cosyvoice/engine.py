"""CosyVoice 2 and 3: voices cloned from a recording, spoken while their tokens are still being decoded."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

import structlog

from polyvox.config import Settings
from polyvox.engines.cosyvoice.casting import Cast, Mode, cast, language_array, mode_of
from polyvox.engines.cosyvoice.decoder import CosyVoiceDecoder
from polyvox.engines.cosyvoice.executing import recorded_sound, shared_lm
from polyvox.engines.cosyvoice.hops import Hops, usual_hops
from polyvox.engines.cosyvoice.listening import check_recording
from polyvox.engines.cosyvoice.loading import Model, load_model
from polyvox.engines.cosyvoice.phrases import Passages, Phrase, StreamingFrontend
from polyvox.engines.cosyvoice.piece import Chunk, Hop, Piece, PieceMaker, Player, Timed, sampling_of, sounded
from polyvox.engines.cosyvoice.place import SILENT, Place, Wording
from polyvox.engines.cosyvoice.recipe import SAMPLE_RATE
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.cosyvoice.sound import SoundState
from polyvox.engines.cosyvoice.spec import LANGUAGES
from polyvox.engines.cosyvoice.tags import Tags
from polyvox.errors import EngineError, InvalidRequestError, PromptError, TextError, UnknownVoiceError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import (
    AudioChunk,
    Capabilities,
    ChunkPolicy,
    NormalizationOptions,
    PreparedVoice,
    Streaming,
    Utterance,
    Voice,
    VoicePrompt,
)

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

MOST_INSTRUCTIONS = 500
CAPACITY = 4096
"""Positions of one sequence: prompt, text and speech."""


@dataclass(frozen=True, slots=True)
class _Running:
    """What exists between `start` and `close`."""

    model: Model
    source: LmScheduler
    pieces: PieceMaker
    stage: Stage[Hop, Timed]
    device: DeviceExecutor
    lm_device: DeviceExecutor
    ears: DeviceExecutor
    text: DeviceExecutor
    streams: asyncio.Semaphore


class CosyVoiceEngine:
    """One version of CosyVoice in PyTorch. Sequences share the language model; sound is made chunk by chunk."""

    def __init__(self, settings: Settings, version: int) -> None:
        self.name = f"cosyvoice{version}"
        self.warning = ""
        """What is not as the settings wish: say, that there is no GPU."""
        self.capabilities = Capabilities(
            languages=LANGUAGES[version],
            sample_rate=SAMPLE_RATE,
            streaming=Streaming.TOKEN,
            cloning=True,
            wordless=True,
            instructions=True,
            conversion=True,
            stochastic=True,
        )
        self._version = version
        self._settings = settings
        self._tags = Tags(version)
        self._own = own = settings.section(CosyVoiceSettings)
        self._policy = ChunkPolicy(own.first_hop, own.hop_growth, own.max_hop)
        self._observer: Observer | None = None
        self._running: _Running | None = None

    @property
    def voices(self) -> Sequence[Voice]:
        own = self._running.model.voices if self._running else {}
        return [Voice(id=name, name=name, language="mul") for name in own]

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        model = await asyncio.to_thread(load_model, self._settings, self._version)
        device, lm_device = DeviceExecutor(f"{self.name}-sound", 1), DeviceExecutor(f"{self.name}-lm", 1)
        decoder = CosyVoiceDecoder(model.networks.lm)
        streams = self._own.streams
        recorder = CudaGraphs if model.placement.device == "cuda" else None
        sizes, sampling = LmSchedulerConfig(slots=streams, capacity=CAPACITY), sampling_of(model.bundle.recipe)
        source, lm_warning = await shared_lm(decoder, sizes, sampling, lm_device, recorder)
        sound_warning = "" if recorder is None else await device.run(partial(self._recorded, model, recorder))
        self.warning = " ".join(filter(None, (model.warning, lm_warning, sound_warning)))
        stage = Stage[Hop, Timed](
            self.name, partial(sounded, model.networks.sound), executor=device, observer=self._observer
        )
        self._running = _Running(
            model=model,
            source=source,
            pieces=PieceMaker(
                model.bundle.recipe,
                decoder,
                source,
                stage,
                original=self._own.original_least,
            ),
            stage=stage,
            device=device,
            lm_device=lm_device,
            ears=DeviceExecutor(f"{self.name}-ears", 1),
            text=DeviceExecutor(f"{self.name}-text", 1),
            streams=asyncio.Semaphore(streams),
        )

    def _recorded(self, model: Model, recorder: Callable[[], Replay]) -> str:
        hops = usual_hops(self._policy, model.bundle.recipe.flow.flow.block)
        return recorded_sound(model.networks.sound, hops, recorder)

    async def close(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            await running.source.close()
            await running.stage.close()
            for executor in (running.device, running.lm_device, running.ears, running.text):
                await asyncio.to_thread(executor.close)

    def check(self, utterance: Utterance) -> None:
        self._tags.check(utterance.text, "input")
        instructions = utterance.instructions or ""
        self._tags.check(instructions, "instructions")
        if len(instructions) > MOST_INSTRUCTIONS:
            raise InvalidRequestError(
                f"The instructions are longer than {MOST_INSTRUCTIONS} characters; shorten them.", field="instructions"
            )
        if utterance.language and utterance.language.partition("-")[0] not in self.capabilities.languages:
            known = ", ".join(sorted(self.capabilities.languages))
            raise InvalidRequestError(
                f"CosyVoice {self._version} does not speak {utterance.language!r}; it speaks {known}.", field="language"
            )
        arrays = self._voice(utterance).arrays
        if instructions and "tokens" not in arrays:
            raise InvalidRequestError(
                "This voice cannot follow instructions; choose one that was made of a recording.", field="instructions"
            )
        if utterance.tuning.get("zero_shot") and not len(arrays.get("text", ())):
            raise PromptError(
                "The reference recording has no transcript; say what is spoken in it.", field="prompt_text"
            )

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        running = self._started()
        check_recording(prompt, "voice")
        self._tags.check(prompt.transcript, "prompt_text")
        return await running.ears.run(partial(self._prepared, running.model, prompt))

    def _prepared(self, model: Model, prompt: VoicePrompt) -> PreparedVoice:
        transcript = model.frontend.normalized(prompt.transcript, NormalizationOptions()).text
        arrays = model.listener.hear(prompt)
        text = model.tokenizer.encode_array(transcript)
        return PreparedVoice(
            self.name, prompt.digest, {**arrays, "text": text, "language": language_array(prompt.transcript)}
        )

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        self.check(utterance)
        role = self._role(running, utterance, utterance.text)
        async with aclosing(
            self._sounded(running, utterance, role, partial(self._spoken, running, utterance))
        ) as chunks:
            async for chunk in chunks:
                yield chunk

    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        """Speak along with a text that is still arriving; a stream of sound is taken when the first of it is there."""
        running = self._started()
        self.check(utterance)
        async with aclosing(self._phrases(running, utterance, pieces)) as phrases:
            passages = Passages(phrases)
            first = await passages.peek()
            if first is None:
                raise _nothing_to_say()
            role = self._role(running, utterance, first.text)
            read_along = partial(self._read_along, running, utterance, passages)
            async with aclosing(self._sounded(running, utterance, role, read_along)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """Say what a recording says in another voice: its speech tokens, sounded with that voice's prompt."""
        running = self._started()
        check_recording(source, "file")
        self.check(utterance)
        role = Cast(Mode.CONVERSION, (), (), self._voice(utterance))
        converted = partial(self._converted, running, source)
        async with aclosing(self._sounded(running, utterance, role, converted)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _role(self, running: _Running, utterance: Utterance, text: str) -> Cast:
        voice = self._voice(utterance)
        zero_shot = bool(utterance.tuning.get("zero_shot"))
        mode = mode_of(voice, text, utterance.instructions, utterance.language, zero_shot=zero_shot)
        return cast(voice, mode, utterance.instructions, running.model.tokenizer, self._version)

    async def _sounded(
        self, running: _Running, utterance: Utterance, role: Cast, speech: "_Speech"
    ) -> AsyncGenerator[AudioChunk]:
        """The chunks of an utterance, one behind the other."""
        seed = secrets.randbits(63) if utterance.seed is None else utterance.seed
        log.debug("cosyvoice speaks", engine=self.name, mode=str(role.mode), seed=seed, policy=self._policy)
        async with running.streams:
            place = Place(self._policy)
            base = asyncio.create_task(running.device.run(partial(running.model.networks.sound.start, role.voice)))
            hops = Hops(self._policy, len(role.flow_tokens), running.pieces.block, running.pieces.ahead)
            try:
                shared = _Shared(role, base, seed, hops, Player(asyncio.get_running_loop().time))
                async with aclosing(speech(shared)) as chunks:
                    async for wording, chunk in chunks:
                        log.debug("cosyvoice chunk", tokens=chunk.tokens, kept_bytes=chunk.kept)
                        shared.player.given(len(chunk.pcm) / SAMPLE_RATE)
                        if len(chunk.pcm):
                            yield place.next(chunk, wording)
            finally:
                base.cancel()
        if place.index == 0:
            raise _nothing_to_say()

    async def _spoken(
        self, running: _Running, utterance: Utterance, shared: "_Shared"
    ) -> AsyncGenerator[tuple[Wording, Chunk]]:
        """The chunks of all pieces of a text; each piece is a sequence of its own."""
        model = running.model
        cuts = model.frontend.segments(utterance.text, utterance.normalization, utterance.language)
        index = 0
        while (text := await running.text.run(lambda: next(cuts, None))) is not None:
            piece = shared.piece(index)
            span = text.span(0, len(text))
            wording = Wording(utterance.text[span.start : span.end], span)
            ids = model.tokenizer.encode(text.text)
            async with aclosing(running.pieces.speak(piece, ids, shared.hops, shared.player)) as chunks:
                async for chunk in chunks:
                    yield wording if chunk.first else SILENT, chunk
            index += 1

    async def _read_along(
        self, running: _Running, utterance: Utterance, passages: Passages, shared: "_Shared"
    ) -> AsyncGenerator[tuple[Wording, Chunk]]:
        """The chunks of all passages of an arriving text; the last of each tells its words, which are known by then."""
        index = 0
        while await passages.peek() is not None:
            piece = shared.piece(index)
            async with (
                aclosing(passages.passage()) as phrases,
                aclosing(running.pieces.read(piece, phrases, shared.hops, shared.player)) as chunks,
            ):
                async for chunk in chunks:
                    yield passages.wording if chunk.last else SILENT, chunk
            index += 1

    async def _converted(
        self, running: _Running, source: VoicePrompt, shared: "_Shared"
    ) -> AsyncGenerator[tuple[Wording, Chunk]]:
        tokens = await running.ears.run(partial(running.model.listener.speech, source))
        async with aclosing(running.pieces.say(shared.piece(0), tokens, shared.hops, shared.player)) as chunks:
            async for chunk in chunks:
                yield SILENT, chunk

    async def _phrases(
        self, running: _Running, utterance: Utterance, pieces: AsyncIterator[str]
    ) -> AsyncGenerator[Phrase]:
        model = running.model
        frontend = StreamingFrontend(
            model.frontend, model.tokenizer, model.tags, utterance.normalization, utterance.language
        )
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
        own = self._started().model.voices
        if utterance.voice not in own:
            remedy = f"use one of {', '.join(own)}, or" if own else "this model has none of its own:"
            raise UnknownVoiceError(
                f"There is no voice {utterance.voice[:80]!r}; {remedy} register a recording as a voice.", field="voice"
            )
        return own[utterance.voice]

    def _started(self) -> _Running:
        if self._running is None:
            raise EngineError(f"The engine {self.name!r} is not running.")
        return self._running


@dataclass(frozen=True, slots=True)
class _Shared:
    """What all pieces of one utterance share."""

    role: Cast
    base: "asyncio.Task[SoundState]"
    seed: int
    hops: Hops
    player: Player

    def piece(self, index: int) -> Piece:
        return Piece(self.role, self.base, self.seed, index)


_Speech = Callable[[_Shared], AsyncGenerator[tuple[Wording, Chunk]]]


def _nothing_to_say() -> TextError:
    return TextError("Nothing in the text can be spoken: it holds no word or number.", field="input")
