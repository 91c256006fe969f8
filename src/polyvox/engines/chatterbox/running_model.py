"""A model between start and close: T3's scheduler, S3Gen's stage, and their threads."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch

from polyvox.engines.chatterbox.bundle import ChatterboxNetworks
from polyvox.engines.chatterbox.lm_adapter import T3Tokens
from polyvox.engines.chatterbox.passages import MOST_IDS
from polyvox.engines.chatterbox.recordings import RecordingFeatures
from polyvox.engines.chatterbox.sampling import TURBO_SAMPLING, T3Sampling
from polyvox.engines.chatterbox.settings import ChatterboxSettings
from polyvox.engines.chatterbox.speech_tokens import SILENT_TAIL
from polyvox.engines.chatterbox.synthesis import SynthesisParts
from polyvox.engines.chatterbox.variants import Variant
from polyvox.engines.chatterbox.whole_flow import WholeFlow
from polyvox.engines.cosyvoice.decoder.batching import streams_for
from polyvox.engines.cosyvoice.decoder.budget import ByteBudget
from polyvox.engines.cosyvoice.decoder.executors import Token2WavExecutors, cache_bytes
from polyvox.engines.cosyvoice.decoder.hop_decoding import HopDecoder
from polyvox.engines.cosyvoice.decoder.hops import hop_lengths
from polyvox.engines.cosyvoice.decoder.running_decoder import DecoderOptions, RunningDecoder, start_decoder
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.loading import free_bytes
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.kit.engine_threads import EngineThreads
from polyvox.engines.kit.recording import captured_with
from polyvox.models.chatterbox.t3 import T3
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.kv_cache import slot_bytes
from polyvox.runtime.lm_scheduler import LmReport, LmSchedulerConfig
from polyvox.runtime.placement import Placement
from polyvox.runtime.stage import Observer

TITLE = "Chatterbox"
_CPU_STREAMS = 8
_LM_SHARE = 0.4
"""Of a GPU's free memory, for T3's keys and values."""


@dataclass(frozen=True, slots=True)
class RunningModel:
    """The parts that exist between `start` and `close`; `warning` says what does not run as the settings ask."""

    networks: ChatterboxNetworks
    tokens: T3Tokens
    decoder: RunningDecoder
    parts: SynthesisParts
    features: RecordingFeatures
    threads: EngineThreads
    streams: asyncio.Semaphore
    sampling: T3Sampling
    """The makers' choice."""
    most_ids: int
    """Of the text of a passage."""
    warning: str

    async def close(self) -> None:
        """End all work."""
        await self.decoder.stop_background()
        await self.tokens.close()
        await self.decoder.close()
        await self.threads.close()


async def start_model(
    variant: Variant,
    networks: ChatterboxNetworks,
    settings: ChatterboxSettings,
    observer: Observer | None,
    report: Callable[[LmReport], None],
) -> RunningModel:
    """Start loaded networks under the variant's name."""
    name, device = variant.name, networks.device
    threads = await EngineThreads.start(name, device)
    recorder = CudaGraphs if device.type == "cuda" and settings.graphs else None
    streams = await threads.codec.run(partial(_streams, networks, settings))
    sampling = default_sampling(networks)
    tokens, lm_warning = await threads.lm.run(
        partial(_tokens, networks, sampling, settings, streams, threads.lm, recorder, report)
    )
    token2wav = await threads.codec.run(partial(_token2wav, networks, settings))
    options = DecoderOptions(streams, observer=observer)
    if settings.decoding == "stream":
        chosen = CosyVoiceSettings.model_validate({"flow_bytes": settings.flow_bytes})
        executors = Token2WavExecutors(token2wav, None, chosen, TITLE)
        hops = hop_lengths(settings.policy, networks.s3gen.flow.config.block)
        options = DecoderOptions(streams, executors, hops, recorder, observer)
    decoder = await start_decoder(name, token2wav, threads.codec, options)
    flow = networks.s3gen.flow.config
    tail = SILENT_TAIL if variant.turbo else ()
    return RunningModel(
        networks,
        tokens,
        decoder,
        SynthesisParts(tokens, HopDecoder(decoder.stage), flow.block, flow.ahead, tail, variant.cuts_end),
        RecordingFeatures(
            networks.s3gen, networks.voice_encoder, networks.t3.config.prompt_tokens, turbo=variant.turbo
        ),
        threads,
        asyncio.Semaphore(decoder.streams),
        sampling,
        _most_ids(networks),
        " ".join(filter(None, (lm_warning, decoder.warning))),
    )


def _token2wav(networks: ChatterboxNetworks, settings: ChatterboxSettings) -> Token2Wav:
    """The decoder of CosyVoice on these networks; its noise is the same for every request, as that of CosyVoice 2."""
    device, s3gen = networks.device.type, networks.s3gen
    placement = Placement(device, s3gen.flow.speaker.weight.dtype)
    budget = ByteBudget(settings.flow_bytes or free_bytes(device) // 2)
    token2wav = Token2Wav(s3gen.flow, s3gen.vocoder, placement, budget=budget)
    if settings.decoding == "whole":
        token2wav.use(flow_stage=WholeFlow(s3gen.flow, token2wav.flow_noise))
    return token2wav


def default_sampling(networks: ChatterboxNetworks) -> T3Sampling:
    """The makers' choice, as far as the network reaches."""
    chosen = T3Sampling() if isinstance(networks.t3, T3) else TURBO_SAMPLING
    return replace(chosen, max_tokens=min(chosen.max_tokens, networks.t3.config.speech_tokens))


def _most_ids(networks: ChatterboxNetworks) -> int:
    return min(MOST_IDS, networks.t3.config.text_ids)


def _capacity(networks: ChatterboxNetworks) -> int:
    """Positions of a sequence: a voice, the longest passage, and its speech."""
    config = networks.t3.config
    rows = config.voice_rows + _most_ids(networks) + config.framing_rows
    return rows + default_sampling(networks).max_tokens


def _streams(networks: ChatterboxNetworks, settings: ChatterboxSettings) -> int:
    """Sentences that are spoken at once where the settings leave it open."""
    if settings.streams:
        return settings.streams
    if networks.device.type != "cuda":
        return _CPU_STREAMS
    t3 = networks.t3
    each = slot_bytes(t3.config.backbone, _capacity(networks), t3.speech_head.dtype)
    each *= 2 if isinstance(t3, T3) else 1
    room = int(_LM_SHARE * torch.cuda.mem_get_info(networks.device)[0]) // each - 1
    return max(1, min(room, streams_for(networks.s3gen.flow, settings.flow_bytes or cache_bytes())))


def _tokens(
    networks: ChatterboxNetworks,
    sampling: T3Sampling,
    settings: ChatterboxSettings,
    streams: int,
    thread: DeviceExecutor,
    recorder: Callable[[], Replay] | None,
    report: Callable[[LmReport], None],
) -> tuple[T3Tokens, str]:
    """T3 on its scheduler, captured where there is a recorder, and a warning or nothing."""
    sizes = LmSchedulerConfig(
        slots=streams,
        capacity=_capacity(networks),
        prefill_rows=settings.prefill_rows,
        prefix_bytes=settings.prefix_bytes,
    )

    def make(replay: Replay | None) -> T3Tokens:
        return T3Tokens(networks.t3, sizes, executor=thread, observer=report, replay=replay)

    return captured_with(recorder, f"{TITLE}'s language model", make, lambda tokens: tokens.capture(sampling))
