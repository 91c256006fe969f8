"""Ordered synthesis of one utterance's chunks, with a few chunks in flight ahead of the player."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.request import SynthesisRequest
from polyvox.engines.kokoro.synthesis import KokoroSynthesis, SynthesisResult

_PHONEME_SECONDS = 0.065
"""Mean duration of a phoneme at speed 1."""


@dataclass(frozen=True, slots=True)
class CompletedRequest:
    """A request, its result, and the seconds from asking for its text to the result."""

    request: SynthesisRequest
    result: SynthesisResult
    wall_seconds: float


async def synthesize_in_order(
    next_request: Callable[[], Awaitable[SynthesisRequest | None]], synthesis: KokoroSynthesis
) -> AsyncGenerator[CompletedRequest, None]:
    """Synthesise all requests in order, with at most `synthesis.lookahead` chunks in flight or not yet taken.

    An error that occurs ahead is raised in its turn, after the chunks before it.
    """
    playhead = Playhead(asyncio.get_running_loop().time)
    slots = asyncio.Semaphore(synthesis.lookahead)
    in_order: asyncio.Queue[asyncio.Task[CompletedRequest] | None] = asyncio.Queue()
    in_flight: set[asyncio.Task[CompletedRequest]] = set()

    async def synthesize(request: SynthesisRequest, asked: float, due: float) -> CompletedRequest:
        result = await synthesis.synthesize(request, due)
        return CompletedRequest(request, result, time.perf_counter() - asked)

    async def feed() -> None:
        try:
            while True:
                await slots.acquire()
                asked = time.perf_counter()
                request = await next_request()
                if request is None:
                    return
                task = asyncio.create_task(synthesize(request, asked, playhead.expect(_expected_seconds(request))))
                in_flight.add(task)
                in_order.put_nowait(task)
        finally:
            in_order.put_nowait(None)

    feeder = asyncio.create_task(feed())
    try:
        while (task := await in_order.get()) is not None:
            chunk = await task
            in_flight.discard(task)
            playhead.push(len(chunk.result.rendered.pcm) / SAMPLE_RATE)
            yield chunk
            slots.release()
        await feeder
    finally:
        left = (feeder, *in_flight)
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _expected_seconds(request: SynthesisRequest) -> float:
    speed = request.input.speed
    return len(request.input.ids) * _PHONEME_SECONDS / speed + request.chunk.pause(speed)
