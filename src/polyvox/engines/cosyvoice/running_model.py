"""A model between start and close: its language model's scheduler, its audio decoder's stage, and their threads."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog
import torch

from polyvox.engines.cosyvoice.decoder.batching import streams_for
from polyvox.engines.cosyvoice.decoder.executors import Token2WavExecutors, cache_bytes
from polyvox.engines.cosyvoice.decoder.hops import hop_lengths
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState, Hop, SpeechDecoder, Token2WavResult
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.decoder.voice_states import VoiceStates
from polyvox.engines.cosyvoice.execution import start_lm
from polyvox.engines.cosyvoice.lm_adapter import CosyVoice1LmAdapter, CosyVoiceLmAdapter, LmAdapter
from polyvox.engines.cosyvoice.loading import LoadedModel
from polyvox.engines.cosyvoice.model_config import CAPACITY
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.cosyvoice.synthesis import SegmentSynthesizer, default_sampling
from polyvox.engines.kit.recording import first_line
from polyvox.models.cosyvoice.lm_v1 import CosyVoice1Lm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay, use_own_stream
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import PreparedVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_CPU_STREAMS = 8
_BATCH_BLOCKS = 32
"""Blocks of the flow in one batch: larger ones are hardly faster, and a first chunk would wait for them."""
_CAPTURES_PER_LINE = 20
_CPU_PREFILL_ROWS, _GPU_PREFILL_ROWS = 256, 2048
"""Positions of prompts in one step of the language model: on a GPU, those of ten streams that start together."""


@dataclass(frozen=True, slots=True)
class RunningModel:
    """The parts that exist between `start` and `close`; `warning` says what does not run as the settings ask."""

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
    warning: str
    capturing: "asyncio.Task[str] | None"
    """Captures shapes while the model already speaks; it ends with a warning or with nothing."""

    async def close(self) -> None:
        """End all work."""
        if self.capturing is not None:
            self.capturing.cancel()
            await asyncio.wait([self.capturing])
        self.voices.clear()
        await self.scheduler.close()
        await self.stage.close()
        for executor in (self.device, self.lm_device, self.features, self.text):
            await asyncio.to_thread(executor.close)


async def start_model(
    name: str, model: LoadedModel, settings: CosyVoiceSettings, observer: Observer | None
) -> RunningModel:
    """Start a loaded model under the engine's name."""
    config, token2wav = model.bundle.config, model.networks.token2wav
    device, lm_device = DeviceExecutor(f"{name}-token2wav", 1), DeviceExecutor(f"{name}-lm", 1)
    recorder = CudaGraphs if model.placement.device == "cuda" else None
    streams = settings.streams or await device.run(partial(_streams, model, settings))
    adapter = _adapter(model, lm_device)
    scheduler, lm_warning = await _start_lm(model, adapter, streams, lm_device, recorder)
    executors, warning = None, ""
    if isinstance(token2wav, Token2Wav):
        hops = hop_lengths(settings.policy(model.bundle.version), config.flow.flow.block)
        executors = Token2WavExecutors(token2wav, model.bundle, settings)
        warning = await device.run(partial(executors.prepare, hops, streams, gpu=recorder is not None))
    stage = _stage(name, token2wav, device, observer, streams if executors and executors.batched else 1)
    capturing = None
    if executors is not None and recorder is not None:
        capturing = asyncio.create_task(_capture(name, executors, device, recorder))
    return RunningModel(
        model=model,
        scheduler=scheduler,
        synthesizer=SegmentSynthesizer(config, adapter, scheduler, stage, original=settings.original_least),
        stage=stage,
        device=device,
        lm_device=lm_device,
        features=DeviceExecutor(f"{name}-features", 1),
        text=DeviceExecutor(f"{name}-text", 1),
        streams=asyncio.Semaphore(streams if executors is None else executors.room_for(streams)),
        voices=VoiceStates(partial(_voice_state, token2wav, device, stage), executors.prompt_bytes if executors else 0),
        warning=" ".join(filter(None, (lm_warning, warning))),
        capturing=capturing,
    )


async def _start_lm(
    model: LoadedModel,
    adapter: LmAdapter,
    streams: int,
    device: DeviceExecutor,
    recorder: Callable[[], Replay] | None,
) -> tuple[LmScheduler, str]:
    """The language model on a stream of its own, and a warning or nothing."""
    rows = _CPU_PREFILL_ROWS if recorder is None else _GPU_PREFILL_ROWS
    sizes = LmSchedulerConfig(slots=streams, capacity=CAPACITY, prefill_rows=rows)
    await device.run(partial(use_own_stream, torch.device(model.placement.device)))
    return await start_lm(adapter, sizes, default_sampling(model.bundle.config), device, recorder)


def _stage(
    name: str, token2wav: SpeechDecoder, device: DeviceExecutor, observer: Observer | None, max_batch: int
) -> Stage[Hop, Token2WavResult]:
    """The stage of flow and vocoder; hops that run one after the other do not wait for each other's end."""
    return Stage[Hop, Token2WavResult](
        name,
        token2wav.step_batch,
        executor=device,
        max_batch=max_batch,
        cost=token2wav.blocks_of if isinstance(token2wav, Token2Wav) else None,
        max_cost=_BATCH_BLOCKS,
        observer=observer,
        isolates=True,
    )


async def _capture(
    name: str, executors: Token2WavExecutors, device: DeviceExecutor, recorder: Callable[[], Replay]
) -> str:
    """Capture shape by shape between the hops of streams; a warning where one stays eager, as all behind it do."""
    began, shape = time.perf_counter(), "audio decoder"
    try:
        captures = list(executors.captures(await device.run(recorder)))
        for index, capture in enumerate(captures):
            shape = capture.name
            await device.run(partial(executors.capture, capture))
            if (index + 1) % _CAPTURES_PER_LINE == 0 or index + 1 == len(captures):
                seconds = round(time.perf_counter() - began, 1)
                log.info("shapes captured", engine=name, done=index + 1, of=len(captures), seconds=seconds)
    except RuntimeError as error:
        warning = f"CosyVoice's {shape} could not be captured ({first_line(error)}), so it runs eagerly, more slowly."
        log.warning(warning)
        return warning
    return ""


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
