"""Pipecat's services for Cartesia: over WebSocket with word times and interruptions, and over HTTP."""

import asyncio
import json
import sys

from loguru import logger
from pipecat.frames.frames import (
    EndFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.cartesia.tts import CartesiaHttpTTSService, CartesiaTTSService, GenerationConfig
from pipecat.services.tts_service import TextAggregationMode
from pipecat.workers.runner import WorkerRunner

url, key, known = sys.argv[1:]
logger.remove()
TEXT = ("Well, he", "llo there! Th", "is is one-two three.")


class Ear(FrameProcessor):
    """Keeps what it hears, and lets others wait for it."""

    def __init__(self, service):
        super().__init__()
        self.service = service
        self.heard = []
        self.errors = []
        self.failed = asyncio.Event()
        self._changed = asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        self.heard.append(frame)
        self._changed.set()
        await self.push_frame(frame, direction)

    def of(self, kind):
        return [frame for frame in self.heard if isinstance(frame, kind)]

    async def until(self, kind, count):
        async with asyncio.timeout(15):
            while len(self.of(kind)) < count:
                self._changed.clear()
                await self._changed.wait()


def turn(parts):
    """What a language model's answer looks like."""
    return [LLMFullResponseStartFrame(), *map(LLMTextFrame, parts), LLMFullResponseEndFrame()]


def told(ear):
    words = ear.of(TTSTextFrame)
    return {
        "bytes": sum(len(frame.audio) for frame in ear.of(TTSAudioRawFrame)),
        "rates": sorted({frame.sample_rate for frame in ear.of(TTSAudioRawFrame)}),
        "words": [frame.text for frame in words],
        "timed": all(frame.pts is not None for frame in words),
        "errors": [frame.error for frame in ear.errors],
        "stopped": len(ear.of(TTSStoppedFrame)),
    }


async def run(service, script):
    """Run a pipeline of the service; `script` sends frames and waits for others."""
    ear = Ear(service)

    async def note(_, frame):
        ear.errors.append(frame)
        ear.failed.set()

    worker = PipelineWorker(
        Pipeline([service, ear]),
        params=PipelineParams(audio_out_sample_rate=24_000),
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
    )
    worker.add_event_handler("on_pipeline_error", note)
    runner = WorkerRunner(handle_sigint=False)

    async def drive():
        await asyncio.sleep(0.05)
        await script(worker, ear)
        await worker.queue_frame(EndFrame())

    await runner.add_workers(worker)
    async with asyncio.timeout(40):
        await asyncio.gather(runner.run(), drive())
    return told(ear)


def socket_service(token=key, voice="low", mode=TextAggregationMode.SENTENCE, **settings):
    return CartesiaTTSService(
        api_key=token,
        url=f"{url.replace('http', 'ws', 1)}/tts/websocket",
        text_aggregation_mode=mode,
        settings=CartesiaTTSService.Settings(voice=voice, **settings),
    )


async def one_turn(worker, ear):
    await worker.queue_frames(turn(TEXT))
    await ear.until(TTSStoppedFrame, 1)


async def two_turns(worker, ear):
    await worker.queue_frames(turn(TEXT))
    await ear.until(TTSStoppedFrame, 1)
    await worker.queue_frame(TTSSpeakFrame("Once more."))
    await ear.until(TTSStoppedFrame, 2)


async def interruption(worker, ear):
    await worker.queue_frames(turn(("This goes on slowly. ", "And on.")))
    await ear.until(TTSAudioRawFrame, 1)
    await worker.queue_frame(InterruptionFrame())
    await ear.until(InterruptionFrame, 1)
    await asyncio.sleep(0.3)
    ear.heard.clear()
    await worker.queue_frame(TTSSpeakFrame("After it."))
    await ear.until(TTSStoppedFrame, 1)


async def spoken(worker, ear):
    await worker.queue_frame(TTSSpeakFrame("Well, hello there!"))
    await ear.until(TTSStoppedFrame, 1)


async def failing(worker, ear):
    await worker.queue_frame(TTSSpeakFrame("Well, hello there!"))
    await asyncio.wait_for(ear.failed.wait(), 15)


async def reconnecting(worker, ear):
    await spoken(worker, ear)
    connected = asyncio.Event()

    async def note(_):
        connected.set()

    ear.service.add_event_handler("on_connected", note)
    await ear.service._websocket.close()
    await asyncio.wait_for(connected.wait(), 15)
    await worker.queue_frame(TTSSpeakFrame("Once more."))
    await ear.until(TTSStoppedFrame, 2)


async def main():
    config = GenerationConfig(speed=1.5, volume=0.5, emotion="happy")
    http = {"api_key": key, "base_url": url}
    found = {
        "turn": await run(socket_service(), two_turns),
        "tokens": await run(socket_service(mode=TextAggregationMode.TOKEN), one_turn),
        "interrupted": await run(socket_service(), interruption),
        "known": await run(socket_service(voice=known, generation_config=config), spoken),
        "reconnected": await run(socket_service(), reconnecting),
        "unknown": await run(socket_service(voice="nobody"), failing),
        "http": await run(
            CartesiaHttpTTSService(settings=CartesiaHttpTTSService.Settings(voice="low"), **http), spoken
        ),
        "http_unknown": await run(
            CartesiaHttpTTSService(settings=CartesiaHttpTTSService.Settings(voice="nobody"), **http), failing
        ),
    }
    print(json.dumps(found))


asyncio.run(main())
