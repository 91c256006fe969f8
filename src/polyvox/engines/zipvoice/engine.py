"""ZipVoice: any voice from a few seconds of it, in English and Chinese, alone or in dialogue."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from polyvox.audio.pcm import silence
from polyvox.audio.silence import with_edges_cut, with_pauses_cut
from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.engines.zipvoice.bundle import load_graphs, load_networks
from polyvox.engines.zipvoice.frontend import TokenChunk, ZipVoiceFrontend, known_language
from polyvox.engines.zipvoice.joining import Joiner
from polyvox.engines.zipvoice.manner import Manner, manner_of
from polyvox.engines.zipvoice.mel import BINS, SAMPLE_RATE
from polyvox.engines.zipvoice.networks import Networks
from polyvox.engines.zipvoice.prompt import trimmed
from polyvox.engines.zipvoice.settings import ZipVoiceSettings
from polyvox.engines.zipvoice.synthesis import Order, Spoken, Synthesis
from polyvox.engines.zipvoice.variants import LANGUAGES, Variant
from polyvox.engines.zipvoice.voice import ClonedVoice, duet, tagged
from polyvox.errors import EngineError, PromptError, TextError, UnavailableError, UnknownVoiceError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.stage import Observer
from polyvox.text.spoken import Pause
from polyvox.types import AudioChunk, Capabilities, ChunkPolicy, Pcm, PreparedVoice, Span, Utterance, Voice, VoicePrompt

VOCODER = "vocos"
FADE_SECONDS = 0.1
FIRST_CHUNK_SECONDS = 3.0
CHUNK_GROWTH = 2.0
LEAST_CHUNK_SECONDS = 4.0
_WARM_UP_TOKENS, _WARM_UP_FRAMES = (12, 15), 60


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What exists between `start` and `close`."""

    reader: ZipVoiceFrontend
    text: DeviceExecutor
    synthesis: Synthesis
    speaker_tags: tuple[int, int] | None


class ZipVoiceEngine:
    """One variant of the family. It has no voices of its own."""

    voices: Sequence[Voice] = ()

    def __init__(self, variant: Variant, settings: Settings) -> None:
        self._variant = variant
        self._settings = settings
        self._observer: Observer | None = None
        self._loaded: _Loaded | None = None
        self.name = variant.name
        self.capabilities = Capabilities(
            languages=LANGUAGES,
            sample_rate=SAMPLE_RATE,
            channels=variant.channels,
            native_speed=True,
            cloning=True,
            dialogue=variant.dialogue,
            stochastic=True,
        )

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    @property
    def warning(self) -> str:
        if self._loaded is None or self._loaded.reader.uses_espeak:
            return ""
        return "espeak-ng is not installed: English is read by rules that differ from it in some 3 tokens of 100."

    async def start(self) -> None:
        device = _device(self._settings.section(ZipVoiceSettings).device)
        if self._settings.section(ZipVoiceSettings).executor == "torch":
            await self.start_with(await asyncio.to_thread(self._load, device), device)
        else:
            await self.start_with(await asyncio.to_thread(self._load_graphs), torch.device("cpu"))

    def _load(self, device: torch.device) -> Networks:
        bundle, vocoder = (open_bundle(name, self._settings.models_dir) for name in (self.name, VOCODER))
        return load_networks(self._variant, bundle.folder, vocoder.folder, device)

    def _load_graphs(self) -> Networks:
        if self._variant.dialogue:
            raise UnavailableError(f"There are no graphs of {self.name!r}; set zipvoice_executor to 'torch'.")
        bundle, vocoder = (open_bundle(name, self._settings.models_dir) for name in (f"{self.name}-onnx", VOCODER))
        int8 = self._settings.section(ZipVoiceSettings).executor == "onnx-int8"
        return load_graphs(self._variant, bundle.folder, vocoder.folder, int8=int8, threads=share_of_cores(1))

    async def start_with(self, networks: Networks, device: torch.device) -> None:
        """As `start`, with networks that are loaded already."""
        reader = ZipVoiceFrontend(networks.vocabulary, self._settings.espeak, dialogue=self._variant.dialogue)
        synthesis = Synthesis(networks, device, self._observer)
        text = DeviceExecutor(f"{self.name}-text", 1)
        self._loaded = _Loaded(reader, text, synthesis, networks.speaker_tags)
        await text.run(lambda: reader.transcript_ids("好 yes"))  # the dictionaries take a second to load
        # Two at once, of different lengths: rows in company take a way of their own through the networks.
        orders = [self._warm_up(networks, tokens) for tokens in _WARM_UP_TOKENS]
        await asyncio.gather(*(synthesis.speak(order, due=0.0) for order in orders))

    async def close(self) -> None:
        if self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            await loaded.synthesis.close()
            await asyncio.to_thread(loaded.text.close)

    def check(self, utterance: Utterance) -> None:
        known_language(utterance.language)
        manner_of(utterance.tuning, self._variant)
        self._voice(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        return await self._started().text.run(partial(self._prepared, prompt))

    def dialogue_voice(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        """Two prepared voices as the one of a dialogue: the first says `[S1]`, the second `[S2]`."""
        tags = self._started().speaker_tags
        if tags is None:
            raise UnavailableError(f"The model {self.name!r} speaks with one voice; choose one for dialogues.")
        one, other = (ClonedVoice.unpacked(each, self.name, self._bins) for each in (first, second))
        both = duet(one, other, tags, self._variant.channels)
        return both.packed(self.name, f"{first.digest}+{second.digest}")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        loaded = self._started()
        speech = _Speech(utterance, manner_of(utterance.tuning, self._variant), self._voice(utterance))
        plan = self._plan(speech)
        clock = asyncio.get_running_loop().time
        due, asked = clock(), time.perf_counter()
        item = await loaded.text.run(lambda: next(plan, None))
        while item is not None:
            # The next chunk's text is read while the device works on this one.
            following = asyncio.ensure_future(loaded.text.run(lambda: next(plan, None)))
            try:
                spoken = await loaded.synthesis.speak(speech.order(item), due) if isinstance(item, TokenChunk) else None
                upcoming = await following
            finally:
                following.cancel()
            chunk = speech.chunk(item, spoken, upcoming, time.perf_counter() - asked)
            # The player starts with the first chunk; from then on each next one is due when this one has been heard.
            due = (clock() if chunk.index == 0 else due) + chunk.duration
            yield chunk
            item, asked = upcoming, time.perf_counter()
        if not speech.spoke:
            raise TextError("Nothing in the text can be spoken: it holds no word that the model knows.", field="input")

    def _plan(self, speech: "_Speech") -> Iterator[TokenChunk | Pause]:
        utterance = speech.utterance
        language = known_language(utterance.language)
        return self._started().reader.read(utterance.text, utterance.normalization, language, speech.policy)

    def _prepared(self, prompt: VoicePrompt) -> PreparedVoice:
        ids = self._started().reader.transcript_ids(prompt.transcript)
        if not ids:
            raise PromptError(
                "The transcript of the recording holds no word that the model knows; correct it.", field="prompt_text"
            )
        return ClonedVoice.of(ids, trimmed(prompt.pcm, prompt.sample_rate)).packed(self.name, prompt.digest)

    def _voice(self, utterance: Utterance) -> ClonedVoice:
        if utterance.prepared is None:
            raise UnknownVoiceError(
                f"There is no voice {utterance.voice[:80]!r}: {self.name} has none of its own; register a recording of "
                "one, or send it along.",
                field="voice",
            )
        voice = ClonedVoice.unpacked(utterance.prepared, self.name, self._bins).on_channels(self._variant.channels, 0)
        tags = self._started().speaker_tags
        if tags is None:
            return voice
        return ClonedVoice(tagged(voice.tokens, tags[0], tags), voice.mel, voice.rms)

    @property
    def _bins(self) -> int:
        return self._variant.channels * BINS

    def _warm_up(self, networks: Networks, count: int) -> Order:
        mel = np.zeros((_WARM_UP_FRAMES, self._bins), np.float32)
        tokens = tuple(range(1, 1 + min(count, len(networks.vocabulary) - 1)))
        manner = manner_of({"num_steps": 1}, self._variant)
        return Order(tokens, ClonedVoice(tokens, mel, 1.0), 1.0, manner, 0)

    def _started(self) -> _Loaded:
        if self._loaded is None:
            raise EngineError(f"The engine {self.name!r} is not running.")
        return self._loaded


def chunk_policy(voice: ClonedVoice, manner: Manner, speed: float) -> ChunkPolicy:
    """Chunk sizes in tokens, from how long the voice takes for one: short at first, then as much as fits."""
    per_second = speed / voice.token_seconds
    most = max(LEAST_CHUNK_SECONDS, manner.chunk_seconds - voice.seconds)
    first = min(FIRST_CHUNK_SECONDS, most)
    return ChunkPolicy(max(1, round(first * per_second)), CHUNK_GROWTH, max(1, round(most * per_second)))


class _Speech:
    """How far an utterance has come: its chunks, samples and tokens, and the seam that is still open."""

    def __init__(self, utterance: Utterance, manner: Manner, voice: ClonedVoice) -> None:
        self.utterance = utterance
        self.manner = manner
        self.voice, self._gain = voice.at(manner.target_rms)
        self.policy = chunk_policy(self.voice, manner, utterance.speed)
        self.spoke = False
        self._seed = secrets.randbits(63) if utterance.seed is None else utterance.seed % (1 << 63)
        self._joiner = Joiner(round(FADE_SECONDS * SAMPLE_RATE))
        self._channels = voice.mel.shape[1] // BINS
        self._index = self._samples = self._tokens = self._orders = 0

    def order(self, reading: TokenChunk) -> Order:
        """The next chunk's order; its noise depends on the request's seed and its place alone."""
        noise = np.random.SeedSequence((self._seed, self._orders)).generate_state(1, np.uint64)
        self._orders += 1
        return Order(reading.ids, self.voice, self.utterance.speed, self.manner, int(noise[0]) >> 1)

    def chunk(
        self, item: TokenChunk | Pause, spoken: Spoken | None, upcoming: TokenChunk | Pause | None, wall_seconds: float
    ) -> AudioChunk:
        """The item as the caller gets it, joined to what came before it."""
        if isinstance(item, Pause):
            pcm = silence(item.seconds, SAMPLE_RATE, self._channels)
            ids: tuple[int, ...] = ()
        else:
            assert spoken is not None
            pcm = self._finished(spoken.pcm, last=upcoming is None)
            pcm = self._joiner.push(pcm, last=not isinstance(upcoming, TokenChunk))
            ids, self.spoke = item.ids, True
        span = item.span
        chunk = AudioChunk(
            pcm=pcm,
            sample_rate=SAMPLE_RATE,
            index=self._index,
            start=self._samples,
            text=self.utterance.text[span.start : span.end],
            span=span,
            tokens=Span(self._tokens, self._tokens + len(ids)),
            wall_seconds=wall_seconds,
            device_seconds=spoken.seconds if spoken else 0.0,
            policy=self.policy,
        )
        self._index, self._samples, self._tokens = self._index + 1, chunk.end, self._tokens + len(ids)
        return chunk

    def _finished(self, pcm: Pcm, *, last: bool) -> Pcm:
        """As soft as the recording was, without silence at the utterance's edges and, if asked, long pauses."""
        pcm = np.clip(pcm / np.float32(self._gain), -1.0, 1.0)
        if self.manner.remove_long_silence:
            pcm = with_pauses_cut(pcm, SAMPLE_RATE)
        return with_edges_cut(pcm, SAMPLE_RATE, start=not self.spoke, end=last)


def _device(name: str) -> torch.device:
    """The device that a setting means."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise UnavailableError("No GPU was found; set zipvoice_device to 'cpu', or install PyTorch's build for GPUs.")
    return torch.device(name)
