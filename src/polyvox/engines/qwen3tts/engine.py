"""Engine of Qwen3-TTS: a language model that generates frames of codes, and the codec that turns them into samples."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from polyvox.config import Settings
from polyvox.engines.kit.checks import check_recording, known_voice, nothing_to_say
from polyvox.engines.kit.engine_threads import EngineThreads
from polyvox.engines.kit.lifecycle import Lifecycle
from polyvox.engines.kit.passages import speak_passages
from polyvox.engines.kit.recording import captured_with
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
from polyvox.engines.qwen3tts.codec_streams import CodecStreams
from polyvox.engines.qwen3tts.conditioning import Condition, Conditioner, model_language
from polyvox.engines.qwen3tts.frame_steps import PredictorSteps
from polyvox.engines.qwen3tts.room import fitting_streams, stream_bytes
from polyvox.engines.qwen3tts.settings import Qwen3TtsSettings
from polyvox.engines.qwen3tts.synthesis import SAMPLE_RATE, Passage, SynthesisParts, UtteranceSynthesis
from polyvox.engines.qwen3tts.tuning import Qwen3TtsTuning
from polyvox.engines.qwen3tts.variants import CUSTOM_VOICE, LANGUAGES, VOICE_DESIGN, Variant, built_in_voices
from polyvox.engines.qwen3tts.voice import ClonedVoice, clone
from polyvox.errors import InvalidRequestError
from polyvox.models.qwen3tts.talker_lm import TalkerLm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.placement import DeviceRequest, Placement, place_models
from polyvox.text.detect import detect_language
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
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
    threads: EngineThreads

    async def close(self) -> None:
        await self.parts.scheduler.close()
        await self.parts.codec.close()
        await self.threads.close()


class Qwen3TtsEngine(Lifecycle[_Running]):
    """Sequences of all sessions share the language model, and their hops share the codec."""

    def __init__(self, variant: Variant, settings: Settings) -> None:
        super().__init__(variant.name)
        self._variant = variant
        self._settings = settings.section(Qwen3TtsSettings)
        self._folder = self._settings.folder(variant.name, settings.models_dir)
        self._frontend = GraphemeFrontend()
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

    @property
    def voices(self) -> Sequence[Voice]:
        """Those that the loaded model names, where it is loaded."""
        known = {voice.id: voice for voice in built_in_voices(self.name)}
        if self._running is None or self._variant.kind != CUSTOM_VOICE:
            return list(known.values())
        speakers = self._running.networks.config.codec_ids.speakers
        return [known.get(name) or Voice(name, name.replace("_", " ").title(), "en") for name in speakers]

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
        threads = await EngineThreads.start(self.name, networks.device)
        self.location = EngineLocation(str(networks.device))
        recorder = CudaGraphs if networks.device.type == "cuda" and self._settings.graphs else None
        count, room_warning = self._fitting_streams(networks)
        streams, codec_warning = await threads.codec.run(partial(self._streams, networks, count, recorder))
        scheduler, lm_warning = await threads.lm.run(
            partial(self._scheduler, networks, count, threads.lm, recorder, sampling)
        )
        parts = SynthesisParts(
            scheduler=scheduler,
            lm_thread=threads.lm,
            conditioner=await threads.lm.run(partial(Conditioner, networks.talker, encoder)),
            codec=streams.stage(f"{self.name} codec", threads.codec, self._observer),
            streams=streams,
            groups=networks.config.groups,
            stop=frozenset({networks.config.codes}),
            max_frames=self._settings.max_frames,
            max_text=MAX_TEXT,
        )
        self.warning = " ".join(filter(None, (warning, room_warning, lm_warning, codec_warning)))
        self._running = _Running(networks, encoder, sampling, parts, threads)
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
        return captured_with(recorder, "The tokenizer's decoder", make, CodecStreams.warm)

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

        return captured_with(recorder, "The talker", make, lambda scheduler: scheduler.capture(sampling.first))

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
        voice = await running.threads.voices.run(partial(clone, running.networks, prompt))
        return voice.pack(self.name)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        running = self._started()
        self.check(utterance)
        language = utterance.language or detect_language(utterance.text, LANGUAGES)
        synthesis = self._synthesis(running, utterance)
        streaming = self._settings.layout == "streaming" or (self._settings.layout == "auto" and self._variant.cloning)
        segments = self._frontend.segments(utterance.text, utterance.normalization, language)
        read = partial(running.threads.text.run, partial(_next_passages, segments, utterance.text, running.encoder))
        speak = partial(synthesis.speak, streaming=streaming)
        async with aclosing(speak_passages(read, speak, synthesis.pause)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        """Speak a text while it arrives: text and frames advance together, as the model was trained."""
        running = self._started()
        self.check(utterance)
        arriving = ArrivingText(self._frontend, running.encoder, running.threads.text, utterance)
        async with aclosing(arriving.passages(pieces)) as passages:
            synthesis: UtteranceSynthesis | None = None
            async for phrases in passages:
                if synthesis is None:
                    synthesis = self._synthesis(running, utterance)
                async with aclosing(synthesis.speak_arriving(phrases, lambda: arriving.wording)) as chunks:
                    async for chunk in chunks:
                        yield chunk
        if synthesis is None or not synthesis.passages:
            raise nothing_to_say()

    def _synthesis(self, running: _Running, utterance: Utterance) -> UtteranceSynthesis:
        tuning = Qwen3TtsTuning.of(utterance.tuning)
        return UtteranceSynthesis(
            running.parts,
            self._condition(utterance),
            tuning.applied(running.sampling),
            self._settings.policy,
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
        speaker = known_voice(utterance.voice, self.voices, "this model has none built in: register a recording")
        if self._variant.kind == VOICE_DESIGN:
            return Condition("", None, model_language(language, None), instruction)
        dialect = None if self._running is None else self._running.networks.config.codec_ids.dialects.get(speaker)
        return Condition(speaker, None, model_language(language, dialect), instruction)


def _next_passages(
    segments: Iterator[TrackedText | Pause], raw: str, encoder: TextEncoder
) -> list[Passage] | Pause | None:
    """The next segment with its ids, in one turn: a prompt must not wait until all others have their segments."""
    segment = next(segments, None)
    if segment is None or isinstance(segment, Pause):
        return segment
    span = segment.span(0, len(segment))
    return [Passage(encoder.encode(segment.text), raw[span.start : span.end], span)]
