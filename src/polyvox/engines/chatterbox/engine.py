"""Engine of Chatterbox: T3 generates speech tokens from text, and S3Gen turns them into samples."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial

import torch

from polyvox.config import Settings
from polyvox.engines.chatterbox.bundle import (
    ChatterboxNetworks,
    ModelSizes,
    find_files,
    load_networks,
    released_sizes,
)
from polyvox.engines.chatterbox.passages import PassageReader, most_chars
from polyvox.engines.chatterbox.recordings import check_recording
from polyvox.engines.chatterbox.running_model import RunningModel, start_model
from polyvox.engines.chatterbox.settings import ChatterboxSettings
from polyvox.engines.chatterbox.speech_tokens import SILENT_TAIL
from polyvox.engines.chatterbox.synthesis import SAMPLE_RATE, Speaking, UtteranceSynthesis
from polyvox.engines.chatterbox.text import (
    ENGLISH_TAGS,
    MULTILINGUAL_TAGS,
    TURBO_TAGS,
    TextEncoder,
    load_text_encoder,
)
from polyvox.engines.chatterbox.tuning import NEUTRAL, ChatterboxTuning
from polyvox.engines.chatterbox.variants import DEFAULT_VOICE, Variant, built_in_voices
from polyvox.engines.chatterbox.voice import ChatterboxVoice
from polyvox.engines.kit.checks import check_engine, known_voice
from polyvox.engines.kit.lifecycle import Lifecycle
from polyvox.engines.kit.passages import speak_passages
from polyvox.engines.kit.seeds import request_seed
from polyvox.errors import InvalidRequestError
from polyvox.runtime.placement import DeviceRequest, Placement, place_models
from polyvox.text.detect import detect_language
from polyvox.text.grapheme_frontend import GraphemeFrontend
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

_ENGLISH = "en"
_WITHOUT = "this model has none built in: register a recording"
_WARM_UP, _WARM_UP_TOKENS = "Ready.", 5


class ChatterboxEngine(Lifecycle[RunningModel]):
    """Sequences of all sessions share T3, and their hops share S3Gen."""

    def __init__(self, variant: Variant, settings: Settings, sizes: ModelSizes | None = None) -> None:
        """`sizes` of the networks are those of the release unless others are given."""
        super().__init__(variant.name)
        self._variant = variant
        self._sizes = sizes or released_sizes(variant)
        self._settings = settings.section(ChatterboxSettings)
        self._folder = self._settings.folder(variant.name, settings.models_dir)
        self._frontend = GraphemeFrontend()
        self._tags = _tags(variant)
        self._encoder: TextEncoder | None = None
        self._default: PreparedVoice | None = None
        self.capabilities = Capabilities(
            languages=variant.languages,
            sample_rate=SAMPLE_RATE,
            streaming=Streaming.TOKEN,
            cloning=True,
            wordless=True,
            conversion=True,
            stochastic=True,
            reads_markup=True,
            tags=self._tags,
        )

    @property
    def voices(self) -> Sequence[Voice]:
        return built_in_voices(self._folder)

    async def start(self) -> None:
        networks, encoder, warning = await asyncio.to_thread(self._load)
        await self.start_with(networks, encoder, warning)

    def _load(self) -> tuple[ChatterboxNetworks, TextEncoder, str]:
        files = find_files(self._folder, self._variant, self._settings)

        def load(placement: Placement) -> ChatterboxNetworks:
            steps = self._settings.meanflow_steps
            device = torch.device(placement.device)
            return load_networks(files, self._sizes, device, placement.dtype, steps)

        request = DeviceRequest(self._settings.device, self._settings.precision)
        networks, _, warning = place_models(self.name, request, load)
        variant, ids = self._variant, networks.t3.config.text
        multilingual, turbo = variant.multilingual, variant.turbo
        encoder = load_text_encoder(self._folder, multilingual=multilingual, turbo=turbo, text_ids=ids)
        return networks, encoder, warning

    async def start_with(self, networks: ChatterboxNetworks, encoder: TextEncoder, warning: str = "") -> None:
        """As `start`, with networks that are loaded already."""
        self.location = EngineLocation(str(networks.device))
        self._encoder = encoder
        if networks.default_voice is not None:
            self._default = networks.default_voice.pack(self.name, DEFAULT_VOICE)
        running = await start_model(self._variant, networks, self._settings, self._observer, self._report)
        self._running = running
        self.warning = " ".join(filter(None, (warning, running.warning)))
        if running.decoder.capturing is not None:
            running.decoder.capturing.add_done_callback(self._note_captured)
        if self._default is not None:
            await self._warm_up(running)

    async def _warm_up(self, running: RunningModel) -> None:
        """Read a text, generate some of its tokens, and decode others, so that the first caller waits for nothing."""
        first = Utterance(_WARM_UP, DEFAULT_VOICE, seed=0, language=_ENGLISH)
        passages = await running.threads.text.run(self._reader(running, first).next)
        assert isinstance(passages, list)
        async with self._synthesis(running, first) as synthesis:
            async for _ in synthesis.convert(SILENT_TAIL):
                continue
        conditions = ChatterboxVoice.unpack(self._prepared(first), self.name).conditions(NEUTRAL)
        sampling = replace(running.sampling, max_tokens=_WARM_UP_TOKENS)
        async with running.tokens.speak_tokens(passages[0].ids, conditions, sampling, 0) as stream:
            while await stream.read():
                continue

    def _note_captured(self, capturing: "asyncio.Task[str]") -> None:
        if not capturing.cancelled():
            self.warning = " ".join(filter(None, (self.warning, capturing.result())))

    async def captured(self) -> None:
        """Wait until all shapes are captured."""
        if (capturing := self._started().decoder.capturing) is not None:
            await asyncio.wait([capturing])

    def check(self, utterance: Utterance) -> None:
        ChatterboxTuning.of(utterance.tuning)
        language = (utterance.language or _ENGLISH).lower().partition("-")[0]
        if language not in self._variant.languages:
            known = ", ".join(sorted(self._variant.languages))
            raise InvalidRequestError(
                f"The model {self.name!r} does not speak {utterance.language!r}; it speaks {known}.", field="language"
            )
        self._prepared(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        running = self._started()
        check_recording(prompt, "voice", turbo=self._variant.turbo)
        voice = await running.threads.voices.run(partial(running.features.voice, prompt))
        return voice.pack(self.name, prompt.digest)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        self.check(utterance)
        read = partial(running.threads.text.run, self._reader(running, utterance).next)
        async with (
            self._synthesis(running, utterance) as synthesis,
            aclosing(speak_passages(read, synthesis.speak, synthesis.pause)) as chunks,
        ):
            async for chunk in chunks:
                yield chunk

    async def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """Convert a recording to another voice: its speech tokens, decoded with that voice's prompt."""
        running = self._started()
        check_recording(source, "file")
        self.check(utterance)
        async with self._synthesis(running, utterance) as synthesis:
            tokens = await running.threads.voices.run(partial(running.features.speech_tokens, source))
            async with aclosing(synthesis.convert(tokens)) as chunks:
                async for chunk in chunks:
                    yield chunk

    def _reader(self, running: RunningModel, utterance: Utterance) -> PassageReader:
        assert self._encoder is not None
        language = utterance.language or detect_language(utterance.text, self._variant.languages)
        language = language.lower().partition("-")[0]
        segments = self._frontend.segments(
            utterance.text, utterance.normalization, language, most_chars=most_chars(language)
        )
        return PassageReader(segments, utterance.text, language, self._encoder, self._tags, running.most_ids)

    @asynccontextmanager
    async def _synthesis(self, running: RunningModel, utterance: Utterance) -> AsyncGenerator[UtteranceSynthesis]:
        """The synthesis of an utterance in its slot; the decoder's state of its voice is computed meanwhile."""
        prepared, tuning = self._prepared(utterance), ChatterboxTuning.of(utterance.tuning)
        voice = ChatterboxVoice.unpack(prepared, self.name)
        exaggeration = NEUTRAL if tuning.exaggeration is None else tuning.exaggeration
        async with running.streams:
            base = asyncio.create_task(running.decoder.voices.get(prepared))
            try:
                speaking = Speaking(
                    voice.conditions(exaggeration),
                    tuning.applied(running.sampling),
                    base,
                    len(voice.tokens),
                    request_seed(utterance.seed),
                )
                yield UtteranceSynthesis(running.parts, speaking, self._settings.policy)
            finally:
                base.cancel()

    def _prepared(self, utterance: Utterance) -> PreparedVoice:
        if utterance.prepared is not None:
            check_engine(utterance.prepared, self.name)
            return utterance.prepared
        known_voice(utterance.voice, self.voices if self._default else (), _WITHOUT)
        assert self._default is not None
        return self._default


def _tags(variant: Variant) -> frozenset[str]:
    if variant.turbo:
        return TURBO_TAGS
    return MULTILINGUAL_TAGS if variant.multilingual else ENGLISH_TAGS
