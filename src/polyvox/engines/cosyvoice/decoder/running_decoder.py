"""An audio decoder between start and close: its stage, its thread, the voices it keeps, and what it captures."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog

from polyvox.engines.cosyvoice.decoder.executors import Token2WavExecutors
from polyvox.engines.cosyvoice.decoder.hop_stage import HopStage, LaunchingHopStage, launch_rows
from polyvox.engines.cosyvoice.decoder.hops import HopLengths
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState, Hop, SpeechDecoder
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.decoder.voice_states import VoiceStates
from polyvox.engines.kit.recording import first_line
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.stage import Observer, Stage
from polyvox.types import PreparedVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Result = TypeVar("Result")

_BATCH_COST = 64
"""Blocks of the flow in one batch: 64 take 1.7 times as long as 32, and more would be no faster for each."""
_CAPTURES_PER_LINE = 20


@dataclass(frozen=True, slots=True)
class RunningDecoder:
    """The parts of a decoder; `warning` says what does not run as the settings ask."""

    stage: HopStage
    device: DeviceExecutor
    voices: VoiceStates
    streams: int
    """Streams that its caches have room for."""
    warning: str
    capturing: "asyncio.Task[str] | None"
    """Captures shapes while the model already speaks; it ends with a warning or with nothing."""

    async def stop_background(self) -> None:
        """End captures and voices under way; to be called before anything else is closed."""
        if self.capturing is not None:
            self.capturing.cancel()
            await asyncio.wait([self.capturing])
        self.voices.clear()

    async def close(self) -> None:
        """End all work."""
        await self.stop_background()
        await self.stage.close()
        await asyncio.to_thread(self.device.close)


@dataclass(frozen=True, slots=True)
class DecoderOptions:
    """The number of streams at once, the executors where there is a choice, and the hops that they prepare for."""

    streams: int
    executors: Token2WavExecutors | None = None
    hops: HopLengths | None = None
    recorder: Callable[[], Replay] | None = None
    """Captures on a GPU."""
    observer: Observer | None = None


async def start_decoder(
    name: str, decoder: SpeechDecoder, device: DeviceExecutor, options: DecoderOptions
) -> RunningDecoder:
    """Start a loaded decoder under the engine's name, on its own thread."""
    executors, recorder, streams, warning = options.executors, options.recorder, options.streams, ""
    if executors is not None and options.hops is not None:
        warning = await device.run(partial(executors.prepare, options.hops, streams, gpu=recorder is not None))
    batched = executors is not None and executors.batched
    most, gpu = streams if batched else 1, batched and recorder is not None
    stage = _stage(name, decoder, device, options.observer, most, gpu=gpu)
    capturing = None
    if executors is not None and recorder is not None:
        capturing = asyncio.create_task(_capture(name, executors, device, recorder))
    return RunningDecoder(
        stage=stage,
        device=device,
        voices=VoiceStates(partial(_voice_state, decoder, device, stage), executors.prompt_bytes if executors else 0),
        streams=streams if executors is None else executors.room_for(streams),
        warning=warning,
        capturing=capturing,
    )


def _stage(
    name: str, decoder: SpeechDecoder, device: DeviceExecutor, observer: Observer | None, max_batch: int, *, gpu: bool
) -> HopStage:
    """The stage of flow and vocoder; hops that run one after the other do not wait for each other's end."""
    batches = _Batches(name, device, observer, max_batch, decoder.cost if isinstance(decoder, Token2Wav) else None)
    if gpu and isinstance(decoder, Token2Wav):
        return LaunchingHopStage(batches.stage(partial(launch_rows, decoder.launch)), max_batch)
    return batches.stage(decoder.step_batch)


@dataclass(frozen=True, slots=True)
class _Batches:
    """Batches of hops: their size, and the thread that decodes them."""

    name: str
    device: DeviceExecutor
    observer: Observer | None
    most: int
    cost: Callable[[Hop], int] | None

    def stage(self, run: Callable[[list[Hop]], Sequence[Result]]) -> Stage[Hop, Result]:
        return Stage[Hop, Result](
            self.name,
            run,
            executor=self.device,
            max_batch=self.most,
            cost=self.cost,
            max_cost=_BATCH_COST,
            observer=self.observer,
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
        warning = f"{executors.title}'s {shape} could not be captured ({first_line(error)}), so it runs eagerly, "
        warning += "more slowly."
        log.warning(warning)
        return warning
    return ""


async def _voice_state(
    decoder: SpeechDecoder, device: DeviceExecutor, stage: HopStage, voice: PreparedVoice
) -> DecoderState:
    """The state of a stream before its first token, with the voice's prompt in the flow's caches."""
    state = await device.run(partial(decoder.start, voice))
    return (await stage(Hop((), state, final=False))).state if isinstance(decoder, Token2Wav) else state
