"""Kokoro-82M: 54 voices, spoken chunk by chunk."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import structlog

from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.engines.kokoro import voices as book
from polyvox.engines.kokoro.ahead import Told, told_in_order
from polyvox.engines.kokoro.call import Call, ModelInput
from polyvox.engines.kokoro.loading import load_network
from polyvox.engines.kokoro.plan import Break, Chunk, cut
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.synthesis import Synthesis
from polyvox.engines.kokoro.timing import word_timings
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.errors import EngineError, InvalidRequestError, TextError, UnavailableError
from polyvox.runtime.stage import Observer
from polyvox.text.phoneme_frontend import PhonemeFrontends
from polyvox.text.spoken import SpokenWord
from polyvox.types import (
    AudioChunk,
    Capabilities,
    ChunkPolicy,
    NormalizationOptions,
    PreparedVoice,
    Span,
    Utterance,
    Voice,
    VoicePrompt,
)
from polyvox.voices.mixing import MixTerm

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

LANGUAGES = frozenset(book.LANGUAGES.values())


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What exists between `start` and `close`."""

    styles: book.VoiceBook
    synthesis: Synthesis


class KokoroEngine:
    """Kokoro on ONNX Runtime, or in PyTorch where a GPU or the settings call for it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        own = settings.section(KokoroSettings)
        self._policy = ChunkPolicy(own.first_chunk_phonemes, own.chunk_growth, own.max_chunk_phonemes)
        self._readers = PhonemeFrontends(espeak=settings.espeak)
        self._observer: Observer | None = None
        self._loaded: _Loaded | None = None
        self.warning = ""
        """What is not as the settings wish: say, that the GPU failed."""

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
        styles = await asyncio.to_thread(book.VoiceBook, bundle.folder / "voices", self.voices)
        network = await asyncio.to_thread(load_network, self._settings, bundle)
        self.warning = network.warning
        log.info("kokoro loaded", runs_on=network.runs_on)
        await self.start_with(network.synthesis(self._observer), styles)

    async def start_with(self, synthesis: Synthesis, styles: book.VoiceBook) -> None:
        """As `start`, with a network and voices that are loaded already."""
        self._loaded = _Loaded(styles, synthesis)
        async for _ in self.speak(Utterance("Ready.", "af_heart")):
            continue

    async def close(self) -> None:
        if self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            await loaded.synthesis.close()

    def check(self, utterance: Utterance) -> None:
        self._language(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("Kokoro speaks with its built-in voices only; choose a model that clones voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        loaded = self._started()
        plan = self.plan(utterance)
        place = _Place(self._policy)
        chunks = told_in_order(lambda: loaded.synthesis.read(plan), loaded.synthesis)
        async with aclosing(chunks):
            async for told in chunks:
                yield place.next(told, utterance)
        if place.index == 0:
            raise TextError("Nothing in the text can be spoken: it holds no word or number.", field="input")

    def plan(self, utterance: Utterance) -> Iterator[Call]:
        """The model calls an utterance takes, in order."""
        own = utterance.prepared
        style = self._started().styles.style(utterance.voice) if own is None else own.arrays["style"]
        reader = self._readers.frontend(self._language(utterance))
        for chunk in cut(reader.read(utterance.text, utterance.normalization), self._policy):
            ids = chunk.ids
            yield Call(chunk, ModelInput(tuple(ids), style[max(0, len(ids) - 1)], utterance.speed))

    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        """The phonemes of a text, uncut, as the model's alphabet writes them, and their ids."""
        sentences = self._readers.frontend(_known(language)).read(text, NormalizationOptions())
        words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
        phonemes = Chunk(tuple(words), Break.SENTENCE).phonemes
        return phonemes, [IDS[symbol] for symbol in phonemes]

    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        return self._started().styles.style(expression)

    def voice_from_style(self, mix: Sequence[MixTerm], offset: npt.NDArray[np.float32], language: str) -> PreparedVoice:
        style = self._started().styles.blend(mix) + offset
        arrays = {"style": style, "language": np.array(_nearest(language))}
        return PreparedVoice(self.name, hashlib.sha256(style.tobytes()).hexdigest(), arrays)

    def _language(self, utterance: Utterance) -> str:
        own = utterance.prepared
        spoken_by_voice = book.language_of(utterance.voice) if own is None else str(own.arrays["language"])
        return _known(utterance.language) if utterance.language else spoken_by_voice

    def _started(self) -> _Loaded:
        if self._loaded is None:
            raise EngineError("The Kokoro engine is not running.")
        return self._loaded


@dataclass(slots=True)
class _Place:
    """How far an utterance has come: chunks, samples and tokens, cut by one policy."""

    policy: ChunkPolicy
    index: int = 0
    samples: int = 0
    tokens: int = 0

    def next(self, told: Told, utterance: Utterance) -> AudioChunk:
        chunk, rendered = told.call.chunk, told.spoken.rendered
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
            wall_seconds=told.wall_seconds,
            device_seconds=told.spoken.seconds,
            policy=self.policy,
        )
        self.index, self.samples, self.tokens = self.index + 1, result.end, tokens.end
        return result


def _nearest(language: str) -> str:
    """The language itself, one of its regions, or American English."""
    same = (known for known in sorted(LANGUAGES, reverse=True) if known.partition("-")[0] == language.partition("-")[0])
    return language if language in LANGUAGES else next(same, "en-us")


def _known(language: str) -> str:
    if language not in LANGUAGES:
        raise InvalidRequestError(
            f"Kokoro does not speak {language!r}; it speaks {', '.join(sorted(LANGUAGES))}.", field="language"
        )
    return language
