"""ZipVoice: voice cloning from a few seconds of speech, in English and Chinese, one speaker or a dialogue."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from polyvox.audio.pcm import silence
from polyvox.audio.silence import with_edges_cut
from polyvox.config import Settings
from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.kit.seeds import derive_seed, request_seed
from polyvox.engines.zipvoice import text_worker
from polyvox.engines.zipvoice.batch_synthesizer import BatchSynthesizer
from polyvox.engines.zipvoice.cross_fade import CrossFade
from polyvox.engines.zipvoice.frontend import TokenChunk, UnreadText, ZipVoiceFrontend, known_language
from polyvox.engines.zipvoice.loading import load
from polyvox.engines.zipvoice.mel import BINS, FRAMES_PER_SECOND, SAMPLE_RATE
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.settings import ZipVoiceSettings
from polyvox.engines.zipvoice.synthesizer import (
    ChunkRequest,
    ChunkSynthesizer,
    PreparedChunk,
    SynthesizedChunk,
    ZipVoiceSynthesizer,
)
from polyvox.engines.zipvoice.text_items import OwnItems, TextItem, TextItems, WorkerItems
from polyvox.engines.zipvoice.text_worker import ModelTokens
from polyvox.engines.zipvoice.tuning import ZipVoiceOptions, ZipVoiceTuning
from polyvox.engines.zipvoice.variants import LANGUAGES, Variant
from polyvox.engines.zipvoice.voice import ZipVoicePrompt, dialogue_prompt, trim_recording
from polyvox.errors import EngineError, PromptError, SilentTextError, UnavailableError, UnknownVoiceError
from polyvox.models.zipvoice.flow import target_frames
from polyvox.models.zipvoice.model import ZipVoice
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.stage import Observer
from polyvox.runtime.text_workers.workers import TextWorkers, started, worker_count
from polyvox.text.phonemes.espeak.program import found_program
from polyvox.text.spoken import Pause
from polyvox.text.tokenizers.emilia import chinese_tokens
from polyvox.types import (
    NO_STAGES,
    AudioChunk,
    Capabilities,
    ChunkPolicy,
    EngineLocation,
    NormalizationOptions,
    PreparedVoice,
    StageSeconds,
    Utterance,
    Voice,
    VoicePrompt,
)

FADE_SECONDS = 0.1
FIRST_CHUNK_SECONDS = 3.0
CHUNK_GROWTH = 2.0
LEAST_CHUNK_SECONDS = 4.0
_WARM_UP_TOKENS, _WARM_UP_FRAMES = (12, 15), 60
_WARM_UP_POLICY = ChunkPolicy(10, 1.0, 10)


@dataclass(frozen=True, slots=True)
class _Running:
    """The engine's parts between `start` and `close`."""

    frontend: ZipVoiceFrontend
    text_executor: DeviceExecutor
    synthesizer: ChunkSynthesizer
    speaker_tags: tuple[int, int] | None
    warning: str
    workers: TextWorkers[UnreadText, TokenChunk | Pause] | None = None
    capture: "asyncio.Task[None] | None" = None


class ZipVoiceEngine:
    """One variant of the family. It has no built-in voices."""

    voices: Sequence[Voice] = ()

    def __init__(self, variant: Variant, settings: Settings) -> None:
        self._variant = variant
        self._models_dir = settings.models_dir
        self._espeak = settings.espeak
        self._settings = settings.section(ZipVoiceSettings)
        self._observer: Observer | None = None
        self._running: _Running | None = None
        self.location = EngineLocation()
        self.name = variant.name
        self.capabilities = Capabilities(
            languages=LANGUAGES,
            sample_rate=SAMPLE_RATE,
            channels=variant.channels,
            native_speed=True,
            cloning=True,
            dialogue=variant.dialogue,
            stochastic=True,
            reads_markup=True,
        )

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    @property
    def warning(self) -> str:
        if self._running is None:
            return ""
        warnings = [self._running.warning]
        if isinstance(self._running.synthesizer, BatchSynthesizer):
            warnings.append(self._running.synthesizer.warning)
        if not self._running.frontend.uses_espeak:
            warnings.append(
                "espeak-ng is not installed: English is read by rules that differ from it in some 3 tokens of 100."
            )
        return " ".join(filter(None, warnings))

    async def start(self) -> None:
        loaded = await asyncio.to_thread(load, self._variant, self._models_dir, self._settings)
        await self.start_with(loaded.networks, loaded.device, loaded.warning)

    async def start_with(
        self,
        networks: ZipVoiceNetworks,
        device: torch.device,
        warning: str = "",
        recorder: Callable[[], Replay] | None = None,
    ) -> None:
        """Start with networks that are loaded already; `recorder` captures shapes in place of CUDA graphs."""
        frontend = ZipVoiceFrontend(networks.vocabulary, self._espeak, dialogue=self._variant.dialogue)
        if recorder is None and device.type == "cuda" and self._settings.graph_seconds:
            recorder = CudaGraphs
        synthesizer: ChunkSynthesizer
        if isinstance(networks.acoustic_model, ZipVoice) and (device.type == "cuda" or recorder is not None):
            synthesizer = BatchSynthesizer(networks, device, self._observer, recorder)
            await synthesizer.fuse()
        else:
            synthesizer = ZipVoiceSynthesizer(networks, device, self._observer)
        self.location = EngineLocation(str(device))
        text_executor = DeviceExecutor(f"{self.name}-text", synthesizer.text_threads)
        workers = await self._text_workers(networks, on_gpu=device.type == "cuda")
        running = _Running(frontend, text_executor, synthesizer, networks.speaker_tags, warning, workers)
        self._running = running
        await text_executor.run(lambda: frontend.transcript_ids("好 yes"))  # the dictionaries take a second to load
        # Two at once, of different lengths: batches with padding take a code path of their own.
        chunks = [synthesizer.prepare(self._warm_up_request(networks, tokens)) for tokens in _WARM_UP_TOKENS]
        await asyncio.gather(*(synthesizer.synthesize(chunk, due=0.0) for chunk in chunks))
        if isinstance(synthesizer, BatchSynthesizer) and recorder is not None:
            frames = int(self._settings.graph_seconds * FRAMES_PER_SECOND)
            self._running = replace(running, capture=asyncio.create_task(synthesizer.capture(frames)))

    async def _text_workers(
        self, networks: ZipVoiceNetworks, *, on_gpu: bool
    ) -> TextWorkers[UnreadText, TokenChunk | Pause] | None:
        count = worker_count(self._settings.text_workers, share_of_cores(1), on_gpu=on_gpu)
        model = ModelTokens(networks.vocabulary, self._variant.dialogue)
        workers = TextWorkers[UnreadText, TokenChunk | Pause](
            count, text_worker.__name__, found_program(self._espeak), given=model
        )
        return await started(workers, [UnreadText("Hello.", NormalizationOptions(), "en", _WARM_UP_POLICY)])

    async def captured(self) -> None:
        """Wait until all shapes are captured that will be; until then, the engine speaks a little more slowly."""
        capture = self._started().capture
        if capture is not None:
            await asyncio.wait([capture])

    def warm_up(self) -> None:
        chinese_tokens("你好")

    async def close(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            if running.capture is not None:
                running.capture.cancel()
                await asyncio.wait([running.capture])
            await running.synthesizer.close()
            await asyncio.to_thread(running.text_executor.close)
            if running.workers is not None:
                await running.workers.close()

    def check(self, utterance: Utterance) -> None:
        known_language(utterance.language)
        self._options(utterance)
        self._prompt(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        return await self._started().text_executor.run(partial(self._prepare, prompt))

    def dialogue_voice(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        """Two prepared voices as the one of a dialogue: the first speaks behind `[S1]`, the second behind `[S2]`."""
        tags = self._started().speaker_tags
        if tags is None:
            raise UnavailableError(f"The model {self.name!r} speaks with one voice; choose one for dialogues.")
        one, other = (ZipVoicePrompt.from_prepared(each, self.name, self._bins) for each in (first, second))
        both = dialogue_prompt(one, other, tags, self._variant.channels)
        return both.to_prepared(self.name, f"{first.digest}+{second.digest}")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running, asked = self._started(), time.perf_counter()
        with running.synthesizer.arriving(), ExitStack() as ending:
            state = await running.text_executor.run(partial(self._state, utterance))
            items = ending.enter_context(closing(self._items(running, state)))
            first = await items.next()
            ending.pop_all()
        playhead = Playhead(asyncio.get_running_loop().time)
        ahead = running.synthesizer.chunks_ahead
        with closing(items), closing(_ChunkRequests(running.synthesizer, state, playhead)) as requests:
            requested = requests.add(first)
            while requested is not None:
                # The next chunk's text is processed while the device works on this one.
                following = asyncio.ensure_future(items.next())
                try:
                    after = requests.add(await following) if ahead else None
                    made = None if requested.made is None else await requested.made
                    upcoming = await following
                finally:
                    following.cancel()
                next_item = None if upcoming is None else upcoming.item
                chunk = state.chunk(requested.item, made, next_item, time.perf_counter() - asked)
                playhead.push(chunk.duration)
                yield chunk
                requested, asked = after if ahead else requests.add(upcoming), time.perf_counter()
        if not state.spoke:
            raise SilentTextError(
                "Nothing in the text can be spoken: it holds no word that the model knows.", field="input"
            )

    def _state(self, utterance: Utterance) -> "_UtteranceState":
        return _UtteranceState(utterance, self._options(utterance), self._prompt(utterance))

    def _items(self, running: _Running, state: "_UtteranceState") -> TextItems:
        utterance = state.utterance
        language = known_language(utterance.language)
        given = UnreadText(utterance.text, utterance.normalization, language, state.policy)

        def prepare(tokens: TokenChunk) -> PreparedChunk:
            return running.synthesizer.prepare(state.request(tokens))

        if running.workers is None:
            return OwnItems(running.frontend.read(given), prepare, running.text_executor)
        return WorkerItems(running.workers.begin(given), prepare, running.text_executor)

    def _prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        ids = self._started().frontend.transcript_ids(prompt.transcript)
        if not ids:
            raise PromptError(
                "The transcript of the recording holds no word that the model knows; correct it.", field="prompt_text"
            )
        pcm = trim_recording(prompt.pcm, prompt.sample_rate)
        return ZipVoicePrompt.of(ids, pcm).to_prepared(self.name, prompt.digest)

    def _options(self, utterance: Utterance) -> ZipVoiceOptions:
        return ZipVoiceTuning.of(utterance.tuning).resolve(self._variant)

    def _prompt(self, utterance: Utterance) -> ZipVoicePrompt:
        if utterance.prepared is None:
            raise UnknownVoiceError(
                f"There is no voice {utterance.voice[:80]!r}: {self.name} has none of its own; register a recording of "
                "one, or send it along.",
                field="voice",
            )
        prompt = ZipVoicePrompt.from_prepared(utterance.prepared, self.name, self._bins)
        prompt = prompt.on_channel(0, self._variant.channels)
        tags = self._started().speaker_tags
        return prompt if tags is None else prompt.with_tag(tags[0], tags)

    @property
    def _bins(self) -> int:
        return self._variant.channels * BINS

    def _warm_up_request(self, networks: ZipVoiceNetworks, count: int) -> ChunkRequest:
        mel = np.zeros((_WARM_UP_FRAMES, self._bins), np.float32)
        tokens = tuple(range(1, 1 + min(count, len(networks.vocabulary) - 1)))
        options = ZipVoiceTuning.of({"num_steps": 1}).resolve(self._variant)
        return ChunkRequest(tokens, ZipVoicePrompt(tokens, mel, 1.0), 1.0, options, 0)

    def _started(self) -> _Running:
        if self._running is None:
            raise EngineError(f"The engine {self.name!r} is not running.")
        return self._running


def chunk_policy(prompt: ZipVoicePrompt, options: ZipVoiceOptions, speed: float) -> ChunkPolicy:
    """Chunk sizes in tokens, by the speaker's pace: short at first, then as long as the model allows."""
    per_second = speed / prompt.token_seconds
    most = max(LEAST_CHUNK_SECONDS, options.chunk_seconds - prompt.seconds)
    first = min(FIRST_CHUNK_SECONDS, most)
    return ChunkPolicy(max(1, round(first * per_second)), CHUNK_GROWTH, max(1, round(most * per_second)))


@dataclass(frozen=True, slots=True)
class _Requested:
    """A chunk under way; of a pause, nothing is made."""

    item: TokenChunk | Pause
    made: "asyncio.Task[SynthesizedChunk] | None"


class _ChunkRequests:
    """The chunks of an utterance that are under way; closing ends them."""

    def __init__(self, synthesizer: ChunkSynthesizer, state: "_UtteranceState", playhead: Playhead) -> None:
        self._synthesizer, self._state, self._playhead = synthesizer, state, playhead
        self._tasks: set[asyncio.Task[SynthesizedChunk]] = set()

    def add(self, read: TextItem | None) -> _Requested | None:
        """Request the next chunk; None behind the last."""
        if read is None:
            return None
        due = self._playhead.expect(self._state.expected_seconds(read.item))
        if read.chunk is None:
            return _Requested(read.item, None)
        task = asyncio.create_task(self._synthesizer.synthesize(read.chunk, due))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return _Requested(read.item, task)

    def _ended(self, task: "asyncio.Task[SynthesizedChunk]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # of a chunk that nobody waits for any more, asyncio would report it as never retrieved

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()


class _UtteranceState:
    """One utterance under way: its options and prompt, the counts of its chunks, and the pending cross-fade."""

    def __init__(self, utterance: Utterance, options: ZipVoiceOptions, prompt: ZipVoicePrompt) -> None:
        self.utterance = utterance
        self.spoke = False
        self._options = options
        self._prompt, self._gain = prompt.amplify_to(options.target_rms)
        self.policy = chunk_policy(self._prompt, options, utterance.speed)
        self._ledger = ChunkLedger(SAMPLE_RATE, self.policy)
        self._cross_fade = CrossFade(round(FADE_SECONDS * SAMPLE_RATE))
        self._channels = prompt.mel.shape[1] // BINS
        self._seed = request_seed(utterance.seed)
        self._requests = 0

    def request(self, tokens: TokenChunk) -> ChunkRequest:
        """The request for the next chunk; its noise depends only on the utterance's seed and the chunk's index."""
        seed = derive_seed(self._seed, "segment", self._requests)
        self._requests += 1
        return ChunkRequest(tokens.ids, self._prompt, self.utterance.speed, self._options, seed, self._gain)

    def expected_seconds(self, item: TokenChunk | Pause) -> float:
        """Seconds that an item will play, before anything is cut from it."""
        if isinstance(item, Pause):
            return item.seconds
        prompt = self._prompt
        frames = target_frames(len(prompt.mel), len(prompt.tokens), len(item.ids), self.utterance.speed)
        return frames / FRAMES_PER_SECOND

    def chunk(
        self,
        item: TokenChunk | Pause,
        made: SynthesizedChunk | None,
        upcoming: TokenChunk | Pause | None,
        wall_seconds: float,
    ) -> AudioChunk:
        """The audio of an item, cross-faded with the chunk before it."""
        ids: tuple[int, ...] = ()
        if isinstance(item, Pause):
            pcm = silence(item.seconds, SAMPLE_RATE, self._channels)
        else:
            assert made is not None
            pcm = with_edges_cut(made.pcm, SAMPLE_RATE, start=not self.spoke, end=upcoming is None)
            pcm = self._cross_fade.push(pcm, last=not isinstance(upcoming, TokenChunk))
            ids, self.spoke = item.ids, True
        span = item.span
        return self._ledger.chunk(
            pcm,
            text=self.utterance.text[span.start : span.end],
            span=span,
            tokens=len(ids),
            wall_seconds=wall_seconds,
            frames=made.frames if made else None,
            device_seconds=made.device_seconds if made else 0.0,
            stages=StageSeconds(flow=made.flow, vocoder=made.vocoder) if made else NO_STAGES,
        )
