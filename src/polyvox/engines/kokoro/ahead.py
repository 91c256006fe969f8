"""The chunks of one utterance in order, some of them on their way while the one before is still being spoken."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

from polyvox.engines.kokoro.call import Call
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.synthesis import Spoken, Synthesis

_PHONEME_SECONDS = 0.065
"""How long a phoneme is heard at normal speed, on average."""


@dataclass(frozen=True, slots=True)
class Told:
    """A call, what came of it, and the seconds from asking for its text."""

    call: Call
    spoken: Spoken
    wall_seconds: float


class _Schedule:
    """By when each chunk has to be there. The player starts with the first and plays on without a pause.

    Of chunks that are still under way only about how long they are is known, from their phonemes.
    """

    def __init__(self, now: float) -> None:
        self._dry = now
        self._begun = False
        self._guesses: deque[float] = deque()

    def due(self, call: Call) -> float:
        """When the player has nothing left but this next chunk."""
        due = self._dry + sum(self._guesses)
        speed = call.input.speed
        self._guesses.append(len(call.input.ids) * _PHONEME_SECONDS / speed + call.chunk.pause(speed))
        return due

    def arrived(self, seconds: float, now: float) -> None:
        """The oldest chunk under way has come; it plays so many seconds."""
        self._guesses.popleft()
        self._dry = (self._dry if self._begun else now) + seconds
        self._begun = True


async def told_in_order(read: Callable[[], Awaitable[Call | None]], synthesis: Synthesis) -> AsyncGenerator[Told, None]:
    """Speak what `read` gives until it gives None; `synthesis.ahead` chunks at most are under way or unheard.

    What fails while it is read ahead fails in its turn, after the chunks before it.
    """
    clock = asyncio.get_running_loop().time
    schedule = _Schedule(clock())
    free = asyncio.Semaphore(synthesis.ahead)
    in_order: asyncio.Queue[asyncio.Task[Told] | None] = asyncio.Queue()
    under_way: set[asyncio.Task[Told]] = set()

    async def say(call: Call, asked: float, due: float) -> Told:
        spoken = await synthesis.speak(call, due)
        return Told(call, spoken, time.perf_counter() - asked)

    async def feed() -> None:
        try:
            while True:
                await free.acquire()
                asked = time.perf_counter()
                call = await read()
                if call is None:
                    return
                task = asyncio.create_task(say(call, asked, schedule.due(call)))
                under_way.add(task)
                in_order.put_nowait(task)
        finally:
            in_order.put_nowait(None)

    feeder = asyncio.create_task(feed())
    try:
        while (task := await in_order.get()) is not None:
            told = await task
            under_way.discard(task)
            schedule.arrived(len(told.spoken.rendered.pcm) / SAMPLE_RATE, clock())
            yield told
            free.release()
        await feeder
    finally:
        left = (feeder, *under_way)
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)
