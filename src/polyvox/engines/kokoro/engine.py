"""Kokoro-82M: 54 voices, spoken chunk by chunk."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from polyvox.audio.pcm import silence
from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.engines.kokoro import voices as book
from polyvox.engines.kokoro.model import KokoroModel, ModelInput
from polyvox.engines.kokoro.plan import Break, Chunk, cut
from polyvox.engines.kokoro.render import SAMPLE_RATE, Rendered, render
from polyvox.engines.kokoro.timing import word_timings
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.errors import EngineError, InvalidRequestError, TextError, UnavailableError
from polyvox.runtime.chunking import ChunkPolicy
from polyvox.runtime.device import DeviceExecutor
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.stage import Observer, Stage
from polyvox.text.reading import Readers
from polyvox.text.spoken import SpokenWord
from polyvox.types import (
    AudioChunk,
    Capabilities,
    NormalizationOptions,
    PreparedVoice,
    Span,
    Utterance,
    Voice,
    VoicePrompt,
)

LANGUAGES = frozenset(book.LANGUAGES.values())


@dataclass(frozen=True, slots=True)
class Call:
    """One chunk on its way through the model."""

    chunk: Chunk
    input: ModelInput


@dataclass(frozen=True, slots=True)
class Spoken:
    """One chunk as it came out, and the seconds the device spent on it."""

    rendered: Rendered
    seconds: float


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What exists between `start` and `close`."""

    styles: book.VoiceBook
    text: DeviceExecutor
    device: DeviceExecutor
    stage: Stage[Call, Spoken]


class KokoroEngine:
    """Kokoro on ONNX Runtime. The graph takes one row, so calls run one by one, the most urgent first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._policy = ChunkPolicy(settings.first_chunk_phonemes, settings.chunk_growth, settings.max_chunk_phonemes)
        self._readers = Readers(espeak=settings.espeak)
        self._observer: Observer | None = None
        self._loaded: _Loaded | None = None

    name = "kokoro"
    voices: Sequence[Voice] = book.catalogue()
    capabilities = Capabilities(
        languages=LANGUAGES,
        sample_rate=SAMPLE_RATE,
        native_speed=True,
        word_timings=True,
        phonemes=True,
        voice_mixing=True,
    )

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        bundle = await asyncio.to_thread(open_bundle, "kokoro", self._settings.models_dir)
        workers = self._settings.kokoro_workers
        threads = self._settings.kokoro_threads or share_of_cores(workers)
        model = await asyncio.to_thread(KokoroModel, bundle.file("model.onnx"), threads)
        styles = await asyncio.to_thread(book.VoiceBook, bundle.folder / "voices", self.voices)
        device = DeviceExecutor("kokoro", workers)
        stage = Stage[Call, Spoken]("kokoro", partial(_synthesize_all, model), executor=device, observer=self._observer)
        self._loaded = _Loaded(styles, DeviceExecutor("kokoro-text", 1), device, stage)
        async for _ in self.speak(Utterance("Ready.", "af_heart")):
            continue

    async def close(self) -> None:
        if self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            await loaded.stage.close()
            await asyncio.to_thread(loaded.device.close)
            await asyncio.to_thread(loaded.text.close)

    def check(self, utterance: Utterance) -> None:
        self._language(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("Kokoro speaks with its built-in voices only; choose a model that clones voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        loaded = self._started()
        plan = self.plan(utterance)
        clock = asyncio.get_running_loop().time
        due = clock()
        place = _Place()
        while True:
            asked = time.perf_counter()
            step = await loaded.text.run(lambda: next(plan, None))
            if step is None:
                break
            spoken = await loaded.stage(step, due=due)
            chunk = place.next(step.chunk, spoken, utterance, time.perf_counter() - asked)
            # The player starts with the first chunk; from then on each next one is due when this one has been heard.
            due = (clock() if chunk.index == 0 else due) + chunk.duration
            yield chunk
        if place.index == 0:
            raise TextError("Nothing in the text can be spoken: it holds no word or number.", field="input")

    def plan(self, utterance: Utterance) -> Iterator[Call]:
        """The model calls an utterance takes, in order."""
        style = self._started().styles.style(utterance.voice)
        reader = self._readers.reader(self._language(utterance))
        for chunk in cut(reader.read(utterance.text, utterance.normalization), self._policy):
            ids = chunk.ids
            yield Call(chunk, ModelInput(tuple(ids), style[max(0, len(ids) - 1)], utterance.speed))

    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        """The phonemes of a text, uncut, as the model's alphabet writes them, and their ids."""
        sentences = self._readers.reader(_known(language)).read(text, NormalizationOptions())
        words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
        phonemes = Chunk(tuple(words), Break.SENTENCE).phonemes
        return phonemes, [IDS[symbol] for symbol in phonemes]

    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        return self._started().styles.style(expression)

    def _language(self, utterance: Utterance) -> str:
        spoken_by_voice = book.language_of(utterance.voice)
        return _known(utterance.language) if utterance.language else spoken_by_voice

    def _started(self) -> _Loaded:
        if self._loaded is None:
            raise EngineError("The Kokoro engine is not running.")
        return self._loaded


@dataclass(slots=True)
class _Place:
    """How far an utterance has come: chunks, samples and tokens."""

    index: int = 0
    samples: int = 0
    tokens: int = 0

    def next(self, chunk: Chunk, spoken: Spoken, utterance: Utterance, wall_seconds: float) -> AudioChunk:
        rendered = spoken.rendered
        tokens = Span(self.tokens, self.tokens + len(chunk.phonemes))
        result = AudioChunk(
            pcm=rendered.pcm,
            sample_rate=SAMPLE_RATE,
            index=self.index,
            start=self.samples,
            text=utterance.text[chunk.span.start : chunk.span.end] if chunk.span else "",
            span=chunk.span,
            words=word_timings(
                rendered.words, utterance.text, first_sample=self.samples - rendered.trimmed, sample_rate=SAMPLE_RATE
            ),
            tokens=tokens,
            wall_seconds=wall_seconds,
            device_seconds=spoken.seconds,
        )
        self.index, self.samples, self.tokens = self.index + 1, result.end, tokens.end
        return result


def _synthesize_all(model: KokoroModel, calls: list[Call]) -> list[Spoken]:
    return [_synthesize(model, call) for call in calls]


def _synthesize(model: KokoroModel, call: Call) -> Spoken:
    started = time.perf_counter()
    if not call.input.ids:
        rendered = Rendered(silence(call.chunk.pause(call.input.speed), SAMPLE_RATE), 0, ())
    else:
        rendered = render(call.chunk, model.run(call.input), call.input.speed)
    return Spoken(rendered, time.perf_counter() - started)


def _known(language: str) -> str:
    if language not in LANGUAGES:
        raise InvalidRequestError(
            f"Kokoro does not speak {language!r}; it speaks {', '.join(sorted(LANGUAGES))}.", field="language"
        )
    return language
