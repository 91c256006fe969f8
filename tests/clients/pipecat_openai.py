"""Pipecat's OpenAI service over HTTP: its thirteen voices, an answer that arrives, an interruption, errors."""

import asyncio
import itertools
import json
import struct
import sys
import time

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
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.tts import VALID_VOICES, OpenAITTSService
from pipecat.workers.runner import WorkerRunner

url, key, text = sys.argv[1:]
logger.remove()


class Listener(FrameProcessor):
    """Keeps the frames that come out of the service, and when its sound began."""

    def __init__(self):
        super().__init__()
        self.frames = []
        self.errors = []
        self.began = None
        self.changed = asyncio.Condition()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame) and self.began is None:
            self.began = time.monotonic()
        await self.note(self.frames, frame)
        await self.push_frame(frame, direction)

    async def note(self, kept, frame):
        async with self.changed:
            kept.append(frame)
            self.changed.notify_all()

    def count(self, kind):
        return sum(isinstance(frame, kind) for frame in self.frames)

    async def wait(self, happened):
        async with asyncio.timeout(15), self.changed:
            await self.changed.wait_for(happened)

    @property
    def sound(self):
        return b"".join(frame.audio for frame in self.frames if isinstance(frame, TTSAudioRawFrame))


def hertz(sound):
    """The pitch of a tone, by how often it crosses zero upwards in its first tenth of a second."""
    samples = struct.unpack(f"<{len(sound[:4_800]) // 2}h", sound[:4_800])
    return 10 * sum(before < 0 <= after for before, after in itertools.pairwise(samples))


def service(token=key, **settings):
    return OpenAITTSService(api_key=token, base_url=url, settings=OpenAITTSService.Settings(**settings))


async def run(tts, act):
    """Run a pipeline while `act` sends frames to it and waits for others."""
    listener = Listener()
    worker = PipelineWorker(
        Pipeline([tts, listener]),
        params=PipelineParams(audio_out_sample_rate=24_000),
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
    )

    async def on_error(_, frame):
        await listener.note(listener.errors, frame.error)

    worker.add_event_handler("on_pipeline_error", on_error)
    started = asyncio.Event()

    async def on_started(*_):
        started.set()

    worker.add_event_handler("on_pipeline_started", on_started)

    async def drive():
        await started.wait()
        begun = time.monotonic()
        await act(worker, listener)
        await worker.queue_frame(EndFrame())
        return begun

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    async with asyncio.timeout(40):
        _, begun = await asyncio.gather(runner.run(), drive())
    return {
        "bytes": len(listener.sound),
        "errors": listener.errors,
        "stopped": listener.count(TTSStoppedFrame),
        "first": None if listener.began is None else listener.began - begun,
        "hertz": hertz(listener.sound),
    }


async def speak(worker, listener):
    await worker.queue_frame(TTSSpeakFrame(text))
    await listener.wait(lambda: listener.count(TTSStoppedFrame) >= 1)


async def answer(worker, listener):
    """What a language model's answer looks like while it is written."""
    parts = [LLMTextFrame(part) for part in (text[:5], text[5:], " ", text)]
    await worker.queue_frames([LLMFullResponseStartFrame(), *parts, LLMFullResponseEndFrame()])
    await listener.wait(lambda: listener.count(TTSStoppedFrame) >= 1)


async def interrupt(worker, listener):
    await worker.queue_frame(TTSSpeakFrame(text))
    await listener.wait(lambda: listener.count(TTSAudioRawFrame) >= 1)
    await worker.queue_frame(InterruptionFrame())
    await listener.wait(lambda: listener.count(InterruptionFrame) >= 1)


async def fail(worker, listener):
    await worker.queue_frame(TTSSpeakFrame(text))
    await listener.wait(lambda: listener.errors)


async def main():
    heard = await asyncio.gather(*(run(service(voice=name), speak) for name in VALID_VOICES))
    result = {
        "voices": {name: voice["hertz"] for name, voice in zip(VALID_VOICES, heard, strict=True)},
        "speak": await run(service(voice="alloy", speed=2.0), speak),
        "answer": await run(service(voice="alloy"), answer),
        "interrupted": await run(service(voice="alloy", model="long"), interrupt),
        "after": await run(service(voice="alloy"), speak),
        "own_name": await run(service(voice="high"), fail),
        "unknown_model": await run(service(voice="alloy", model="nothing"), fail),
        "wrong_key": await run(service("wrong", voice="alloy"), fail),
    }
    print(json.dumps(result))


asyncio.run(main())
