"""Pipecat's ElevenLabs services against a server: `pipecat_elevenlabs.py URL KEY VOICE`; prints JSON."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from loguru import logger
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.elevenlabs.dialogue.tts import ElevenLabsDialogueTTSService
from pipecat.services.elevenlabs.tts import ElevenLabsHttpTTSService, ElevenLabsTTSService
from pipecat.services.tts_service import TextAggregationMode, TTSService
from pipecat.workers.runner import WorkerRunner

SENTENCES = ("One two, three. ", "Four five six.")
TOKENS = ("One", " two", ", thr", "ee.", " Four", " five", " six.")
SLOW = ("These slow words go on. ",) * 6
SECONDS = 20.0


class Listener(FrameProcessor):
    """Notes the frames that reach the end of a pipeline."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self.errors: list[str] = []
        self._came = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.frames.append(frame)
        self._came.set()
        await self.push_frame(frame, direction)

    def error(self, message: str) -> None:
        self.errors.append(message)
        self._came.set()

    def count(self, kind: type[Frame]) -> int:
        return sum(isinstance(frame, kind) for frame in self.frames)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not holds():
                self._came.clear()
                await self._came.wait()

    def heard(self) -> dict[str, Any]:
        audio = [frame for frame in self.frames if isinstance(frame, TTSAudioRawFrame)]
        words = [frame for frame in self.frames if isinstance(frame, TTSTextFrame)]
        first = min((word.pts for word in words if word.pts is not None), default=0)
        return {
            "bytes": sum(len(frame.audio) for frame in audio),
            "rate": audio[0].sample_rate if audio else 0,
            "words": [word.text for word in words],
            "times": [round(((word.pts or 0) - first) / 1e9, 3) for word in words],
            "stopped": self.count(TTSStoppedFrame),
            "errors": self.errors,
        }


Script = Callable[[PipelineWorker, Listener, TTSService], Awaitable[None]]


def turn(parts: tuple[str, ...]) -> list[Frame]:
    """An answer of a language model."""
    return [LLMFullResponseStartFrame(), *(LLMTextFrame(part) for part in parts), LLMFullResponseEndFrame()]


async def run(service: TTSService, script: Script) -> dict[str, Any]:
    listener = Listener()
    worker = PipelineWorker(
        Pipeline([service, listener]),
        params=PipelineParams(audio_out_sample_rate=24_000),
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
    )
    started = asyncio.Event()

    async def on_start(*_: object) -> None:
        started.set()

    async def on_error(_: object, frame: ErrorFrame) -> None:
        listener.error(frame.error)

    worker.add_event_handler("on_pipeline_started", on_start)
    worker.add_event_handler("on_pipeline_error", on_error)

    async def drive() -> None:
        await asyncio.wait_for(started.wait(), SECONDS)
        try:
            await script(worker, listener, service)
        finally:
            await worker.queue_frame(EndFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), drive())
    return listener.heard()


def says(parts: tuple[str, ...], turns: int = 1) -> Script:
    async def script(worker: PipelineWorker, listener: Listener, service: TTSService) -> None:
        for number in range(turns):
            await worker.queue_frames(turn(parts))
            await listener.until(lambda number=number: listener.count(TTSStoppedFrame) > number)

    return script


async def is_interrupted(worker: PipelineWorker, listener: Listener, service: TTSService) -> None:
    """Interrupt an answer in its middle; only the next one is told of."""
    await worker.queue_frames(turn(SLOW))
    await listener.until(lambda: listener.count(TTSAudioRawFrame) > 0)
    await worker.queue_frame(InterruptionFrame())
    await listener.until(lambda: listener.count(InterruptionFrame) > 0)
    await asyncio.sleep(1.0)
    listener.frames.clear()
    await says(SENTENCES)(worker, listener, service)


async def loses_its_socket(worker: PipelineWorker, listener: Listener, service: TTSService) -> None:
    await says(SENTENCES)(worker, listener, service)
    socket = service._websocket  # type: ignore[attr-defined]
    again = asyncio.Event()

    async def on_connected(*_: object) -> None:
        again.set()

    service.add_event_handler("on_connected", on_connected)
    await socket.close()
    await asyncio.wait_for(again.wait(), SECONDS)
    listener.frames.clear()
    await says(SENTENCES)(worker, listener, service)


async def fails(worker: PipelineWorker, listener: Listener, service: TTSService) -> None:
    await worker.queue_frames(turn(SENTENCES))
    await listener.until(lambda: bool(listener.errors) or listener.count(TTSStoppedFrame) > 0)


async def main(url: str, key: str, voice: str) -> dict[str, Any]:
    sockets = url.replace("http", "ws", 1)

    def socket(key: str = key, voice: str = voice, mode: Any = TextAggregationMode.SENTENCE) -> TTSService:
        settings = ElevenLabsTTSService.Settings(voice=voice)
        return ElevenLabsTTSService(api_key=key, url=sockets, settings=settings, text_aggregation_mode=mode)

    def dialogue() -> TTSService:
        settings = ElevenLabsDialogueTTSService.Settings(voice=voice)
        return ElevenLabsDialogueTTSService(api_key=key, url=sockets, settings=settings)

    async with aiohttp.ClientSession() as session:

        def http(voice: str = voice) -> TTSService:
            settings = ElevenLabsHttpTTSService.Settings(voice=voice)
            return ElevenLabsHttpTTSService(api_key=key, base_url=url, aiohttp_session=session, settings=settings)

        return {
            "socket": await run(socket(), says(SENTENCES, turns=2)),
            "tokens": await run(socket(mode=TextAggregationMode.TOKEN), says(TOKENS)),
            "dialogue": await run(dialogue(), says(SENTENCES)),
            "http": await run(http(), says(SENTENCES)),
            "interrupted": await run(socket(), is_interrupted),
            "reconnected": await run(socket(), loses_its_socket),
            "bad_voice": await run(http(voice="nobody"), fails),
            "bad_socket_key": await run(socket(key="wrong"), fails),
            "bad_socket_voice": await run(socket(voice="nobody"), fails),
        }


if __name__ == "__main__":
    logger.remove()
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
