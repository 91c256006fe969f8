"""A model between start and close: its language model's scheduler, its audio decoder's stage, and their threads."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from polyvox.engines.cosyvoice.decoder.batching import streams_for
from polyvox.engines.cosyvoice.decoder.executors import Token2WavExecutors, cache_bytes
from polyvox.engines.cosyvoice.decoder.hops import hop_lengths
from polyvox.engines.cosyvoice.decoder.running_decoder import DecoderOptions, RunningDecoder, start_decoder
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.decoder.voice_states import VoiceStates
from polyvox.engines.cosyvoice.execution import start_lm
from polyvox.engines.cosyvoice.lm_adapter import CosyVoice1LmAdapter, CosyVoiceLmAdapter, LmAdapter
from polyvox.engines.cosyvoice.loading import LoadedModel
from polyvox.engines.cosyvoice.model_config import CAPACITY
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.cosyvoice.synthesis import SegmentSynthesizer, default_sampling
from polyvox.models.cosyvoice.lm_v1 import CosyVoice1Lm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay, use_own_stream
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.stage import Observer

_CPU_STREAMS = 8
_CPU_PREFILL_ROWS, _GPU_PREFILL_ROWS = 256, 2048
"""Positions of prompts in one step of the language model: on a GPU, those of ten streams that start together."""


@dataclass(frozen=True, slots=True)
class RunningModel:
    """The parts that exist between `start` and `close`; `warning` says what does not run as the settings ask."""

    model: LoadedModel
    scheduler: LmScheduler
    synthesizer: SegmentSynthesizer
    decoder: RunningDecoder
    lm_device: DeviceExecutor
    features: DeviceExecutor
    text: DeviceExecutor
    streams: asyncio.Semaphore
    warning: str

    @property
    def voices(self) -> VoiceStates:
        return self.decoder.voices

    @property
    def capturing(self) -> "asyncio.Task[str] | None":
        """Captures shapes while the model already speaks."""
        return self.decoder.capturing

    async def close(self) -> None:
        """End all work."""
        await self.decoder.stop_background()
        await self.scheduler.close()
        await self.decoder.close()
        for executor in (self.lm_device, self.features, self.text):
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
    executors, hops = None, None
    if isinstance(token2wav, Token2Wav):
        hops = hop_lengths(settings.policy(model.bundle.version), config.flow.flow.block)
        executors = Token2WavExecutors(token2wav, model.bundle, settings)
    options = DecoderOptions(streams, executors, hops, recorder, observer)
    decoder = await start_decoder(name, token2wav, device, options)
    return RunningModel(
        model=model,
        scheduler=scheduler,
        synthesizer=SegmentSynthesizer(config, adapter, scheduler, decoder.stage, original=settings.original_least),
        decoder=decoder,
        lm_device=lm_device,
        features=DeviceExecutor(f"{name}-features", 1),
        text=DeviceExecutor(f"{name}-text", 1),
        streams=asyncio.Semaphore(decoder.streams),
        warning=" ".join(filter(None, (lm_warning, decoder.warning))),
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


def _adapter(model: LoadedModel, executor: DeviceExecutor) -> LmAdapter:
    lm = model.networks.lm
    return CosyVoice1LmAdapter(lm, executor) if isinstance(lm, CosyVoice1Lm) else CosyVoiceLmAdapter(lm)


def _streams(model: LoadedModel, settings: CosyVoiceSettings) -> int:
    """Utterances that are spoken at once where the settings leave it open."""
    token2wav = model.networks.token2wav
    if model.placement.device != "cuda" or not isinstance(token2wav, Token2Wav):
        return _CPU_STREAMS
    return streams_for(token2wav.flow, settings.flow_bytes or cache_bytes())
