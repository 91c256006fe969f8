"""Kokoro-82M as an engine: 54 built-in voices, synthesised chunk by chunk."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
import numpy.typing as npt
import structlog

from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.kokoro import text_worker
from polyvox.engines.kokoro.chunking import Break, PausePolicy, PhonemeChunk
from polyvox.engines.kokoro.first_words import UNLISTED, WITHOUT_NETWORK
from polyvox.engines.kokoro.levels import gain_for, mix_level
from polyvox.engines.kokoro.loading import load_network
from polyvox.engines.kokoro.lookahead import ReadingPosition, SynthesizedPiece, synthesize_in_order
from polyvox.engines.kokoro.remote_chunk import ChunkOutline, RemoteChunk
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.request import ModelInput, SynthesisRequest
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.synthesis import KokoroSynthesis
from polyvox.engines.kokoro.text_reader import TextReader, UnreadText
from polyvox.engines.kokoro.timing import word_timings
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.voices import (
    LANGUAGE_TAGS,
    VOICES,
    available_voices,
    language_of,
    parse,
    resolved,
)
from polyvox.errors import EngineError, InvalidRequestError, NotServedError, SilentTextError, UnavailableError
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.stage import Observer
from polyvox.runtime.text_workers.shared_samples import SharedSamples
from polyvox.runtime.text_workers.workers import TextWorkers, started, worker_count
from polyvox.text.phonemes.availability import unspoken
from polyvox.text.phonemes.espeak.program import found_program
from polyvox.text.spoken import SpokenWord
from polyvox.types import (
    AudioChunk,
    Capabilities,
    ChunkPolicy,
    EngineLocation,
    NormalizationOptions,
    PreparedVoice,
    Span,
    Utterance,
    Voice,
    VoicePrompt,
)
from polyvox.voices.mixing import MixTerm

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_MODEL = "kokoro"
"""The bundle of files, and the model that voices are fitted for, with either decoder."""
_WARM_UP = Utterance("I am ready to speak.", "af_heart")
"""Long enough to tell the pace: of a single word much is silence that is cut off."""
_SHORTEST_SECONDS = 1e-3
_SHARED_SAMPLES = 1 << 25
"""Of chunks that text workers render at one time: 23 minutes of speech."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """State between `start` and `close`."""

    voices: VoiceTable
    synthesis: KokoroSynthesis
    workers: TextWorkers[UnreadText, PhonemeChunk | ChunkOutline] | None = None
    """Without them, the synthesis has a thread for texts."""
    shared: SharedSamples | None = None
    """In which they render."""


class KokoroEngine:
    """Kokoro on ONNX Runtime, or in PyTorch where a GPU or the settings call for it; `wren` has a small decoder."""

    def __init__(self, settings: Settings, name: str = _MODEL) -> None:
        self.name = name
        self._models_dir = settings.models_dir
        self._settings = own = settings.section(KokoroSettings)
        self._alone = settings.max_sessions == 1
        self._policy = own.chunk_policy(on_gpu=False, in_pieces=False)
        self._espeak = settings.espeak
        self._pauses = PausePolicy(own.sentence_pause, own.clause_pause)
        self._reader = TextReader(settings.espeak)
        self.voices = available_voices(settings.espeak)
        self.observer: Observer | None = None
        self._loaded: _Loaded | None = None
        self.location = EngineLocation()
        self.warning = ""
        """The part that does not run as the settings ask, such as a GPU that failed; languages that lack packages."""
        self.pace: float | None = None

    style_model = _MODEL
    voices: Sequence[Voice] = VOICES
    capabilities = Capabilities(
        languages=LANGUAGE_TAGS,
        sample_rate=SAMPLE_RATE,
        native_speed=True,
        word_timings=True,
        phoneme_timings=True,
        phonemes=True,
        voice_mixing=True,
        reads_markup=True,
    )

    def observe(self, observer: Observer) -> None:
        self.observer = observer

    async def start(self) -> None:
        bundle = await asyncio.to_thread(open_bundle, _MODEL, self._models_dir)
        voices = await asyncio.to_thread(VoiceTable, bundle.folder / "voices", self.voices)
        # ONNX Runtime and Python's own work on dictionaries run side by side.
        network, _ = await asyncio.gather(
            asyncio.to_thread(load_network, self._settings, bundle, alone=self._alone),
            asyncio.to_thread(self._reader.frontend, self._language(_WARM_UP)),
        )
        self.warning = " ".join(filter(None, (network.warning, unspoken(LANGUAGE_TAGS, self._espeak))))
        self.location = EngineLocation(network.device)
        log.info("kokoro loaded", model=self.name, runs_on=network.runs_on)
        await self.start_with(network.synthesis(self.observer), voices)

    async def start_with(self, synthesis: KokoroSynthesis, voices: VoiceTable) -> None:
        """Start with a network and voices that are loaded already."""
        self._loaded = _Loaded(voices, synthesis, *await self._text_workers(synthesis))
        self._policy = self._settings.chunk_policy(on_gpu=synthesis.on_gpu, in_pieces=synthesis.in_pieces)
        chunks = [chunk async for chunk in self.speak(_WARM_UP)]
        if synthesis.workers is not None:
            seconds = sum(chunk.device_seconds for chunk in chunks)
            self.pace = synthesis.workers * sum(chunk.duration for chunk in chunks) / max(seconds, _SHORTEST_SECONDS)

    def warm_up(self) -> None:
        for language, words in (UNLISTED | WITHOUT_NETWORK).items():
            try:
                self.phonemize(words, language)
            except NotServedError as error:
                log.debug("language not loaded", language=language, reason=error.message)

    async def close(self) -> None:
        if self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            await loaded.synthesis.close()
            if loaded.workers is not None:
                await loaded.workers.close()
            if loaded.shared is not None:
                loaded.shared.close()

    def check(self, utterance: Utterance) -> None:
        self._language(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("Kokoro speaks with its built-in voices only; choose a model that clones voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        loaded = self._started()
        ledger, position = ChunkLedger(SAMPLE_RATE, self._policy_of(utterance)), ReadingPosition()
        with self._reading(loaded, utterance) as next_request:
            async with aclosing(synthesize_in_order(next_request, loaded.synthesis)) as chunks:
                async for chunk in chunks:
                    yield _audio_chunk(ledger, chunk, position.said_by(chunk), utterance)
        if ledger.index == 0:
            raise SilentTextError("Nothing in the text can be spoken: it holds no word or number.", field="input")

    def requests(self, utterance: Utterance) -> Iterator[SynthesisRequest]:
        """The synthesis requests of an utterance, in order."""
        requested = self._requested(utterance)
        for chunk in self._reader.chunks(self._unread(utterance)):
            yield requested(chunk)

    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        """The phonemes of a whole text in the model's alphabet, and their ids."""
        sentences = self._reader.frontend(_known(language)).read(text, NormalizationOptions())
        words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
        phonemes = PhonemeChunk(tuple(words), Break.SENTENCE).phonemes
        return phonemes, [IDS[symbol] for symbol in phonemes]

    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        return self._started().voices.style(expression)

    def voice_from_style(self, mix: Sequence[MixTerm], offset: npt.NDArray[np.float32], language: str) -> PreparedVoice:
        style = self._started().voices.blend(mix) + offset
        arrays = {"style": style, "language": np.array(_nearest(language))}
        if mix:  # a pack of somebody else's has a level that nobody measured
            arrays["level"] = np.array(mix_level(resolved(mix)))
        return PreparedVoice(self.name, hashlib.sha256(style.tobytes()).hexdigest(), arrays)

    @contextmanager
    def _reading(
        self, loaded: _Loaded, utterance: Utterance
    ) -> Iterator[Callable[[], Awaitable[SynthesisRequest | None]]]:
        """The call that gives the next request of an utterance, and None behind the last one."""
        if loaded.workers is None:
            yield partial(loaded.synthesis.next_request, self.requests(utterance))
            return
        requested, numbers = self._requested(utterance), count()
        with closing(loaded.workers.begin(self._unread(utterance))) as text:

            async def next_request() -> SynthesisRequest | None:
                chunk = await text.next()
                if not isinstance(chunk, ChunkOutline):
                    return None if chunk is None else requested(chunk)
                assert loaded.shared is not None
                return requested(RemoteChunk(chunk, text, next(numbers), loaded.shared))

            yield next_request

    async def _text_workers(
        self, synthesis: KokoroSynthesis
    ) -> tuple[TextWorkers[UnreadText, PhonemeChunk | ChunkOutline] | None, SharedSamples | None]:
        """The processes that read texts, started, and the memory in which they render; None where there are none."""
        number = worker_count(self._settings.text_workers, share_of_cores(1), on_gpu=synthesis.on_gpu)
        shared = _shared_samples() if number and synthesis.renders_whole_chunks else None
        path = None if shared is None else shared.path
        workers = TextWorkers[UnreadText, PhonemeChunk | ChunkOutline](
            number, text_worker.__name__, found_program(self._espeak), given=path
        )
        running = await started(workers, [self._unread(Utterance(UNLISTED["en-us"], "af_heart"))])
        if running is None and shared is not None:
            shared.close()
            shared = None
        return running, shared

    def _requested(self, utterance: Utterance) -> Callable[[PhonemeChunk | RemoteChunk], SynthesisRequest]:
        """Makes the requests for an utterance's chunks."""
        own = utterance.prepared
        pack = self._started().voices.style(utterance.voice) if own is None else own.arrays["style"]
        gain = self._gain(utterance)

        def requested(chunk: PhonemeChunk | RemoteChunk) -> SynthesisRequest:
            ids = tuple(chunk.ids)
            return SynthesisRequest(chunk, ModelInput(ids, pack[max(0, len(ids) - 1)], utterance.speed), gain)

        return requested

    def _unread(self, utterance: Utterance) -> UnreadText:
        policy = self._policy_of(utterance)
        return UnreadText(utterance.text, self._language(utterance), utterance.normalization, policy, self._pauses)

    def _language(self, utterance: Utterance) -> str:
        own = utterance.prepared
        native = language_of(utterance.voice) if own is None else str(own.arrays["language"])
        return _known(utterance.language) if utterance.language else native

    def _policy_of(self, utterance: Utterance) -> ChunkPolicy:
        return self._policy.unhurried() if utterance.whole else self._policy

    def _gain(self, utterance: Utterance) -> float | None:
        """The voice's gain; that of a fitted voice is its mix's."""
        if self._settings.voice_levels == "raw":
            return None
        own = utterance.prepared
        if own is None:
            return gain_for(mix_level(parse(utterance.voice)))
        return gain_for(float(own.arrays["level"])) if "level" in own.arrays else 1.0

    def _started(self) -> _Loaded:
        if self._loaded is None:
            raise EngineError("The Kokoro engine is not running.")
        return self._loaded


def _shared_samples() -> SharedSamples | None:
    """Memory in which text workers render; None, and a warning, where the system has none to share."""
    try:
        return SharedSamples(_SHARED_SAMPLES)
    except OSError as error:
        log.warning("chunks are rendered by the server's own process", reason=str(error))
        return None


def _audio_chunk(ledger: ChunkLedger, done: SynthesizedPiece, span: Span | None, utterance: Utterance) -> AudioChunk:
    rendered = done.result.rendered
    return ledger.chunk(
        rendered.pcm,
        text=utterance.text[span.start : span.end] if span else "",
        span=span,
        words=word_timings(
            rendered.words, utterance.text, first_sample=ledger.samples - rendered.trimmed, sample_rate=SAMPLE_RATE
        ),
        tokens=len(done.request.input.ids) if done.first else 0,
        wall_seconds=done.wall_seconds,
        device_seconds=done.result.device_seconds,
    )


def _nearest(language: str) -> str:
    """The language itself, one of its regions, or American English."""
    same = (
        known for known in sorted(LANGUAGE_TAGS, reverse=True) if known.partition("-")[0] == language.partition("-")[0]
    )
    return language if language in LANGUAGE_TAGS else next(same, "en-us")


def _known(language: str) -> str:
    if language not in LANGUAGE_TAGS:
        raise InvalidRequestError(
            f"Kokoro does not speak {language!r}; it speaks {', '.join(sorted(LANGUAGE_TAGS))}.", field="language"
        )
    return language
