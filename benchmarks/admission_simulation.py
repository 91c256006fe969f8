"""A discrete-event simulation of admission: the server's own controller, an engine and callers in virtual time.

The engine makes whole chunks on a few workers, the most urgent first, as a `Stage` does. Nothing waits for a real
clock: a minute of overload takes a fraction of a second, and the same seed makes the same decisions, which are logged.
"""

import asyncio
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import chain, count, repeat
from statistics import quantiles

from benchmarks.virtual_time import VirtualTimeLoop
from polyvox.errors import OverloadedError
from polyvox.runtime.precedence import Precedence, current_precedence
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.ticket import Ticket

SECONDS_PER_CHAR = 0.07
MAX_WAIT = 5.0
_AUDIBLE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class EngineModel:
    """A model of an engine: `workers` that each make `pace` seconds of audio a second, in chunks of `chunk` seconds.

    The first ones of a stream are `first_chunks`. Each worker keeps the share `together` of its pace while others work.
    `claims` is the capacity that the engine states beforehand. From `slowed_at` on all take `slowed` times as long, as
    when other programs get the cores: for good, or for `slowed_for` seconds every so many. With `clears_for_first`,
    streams that make way do not work while one that goes first does; background ones have workers of their own, which
    begin nothing while a live one does. With `callers_first`, a stream that got a chunk asks for its next before a
    worker takes another. The first `cold_chunks` take `warm_up` seconds more.
    """

    workers: int = 2
    pace: float = 8.5
    together: float = 0.8
    chunk: float = 1.6
    first_chunks: tuple[float, ...] = ()
    claims: float | None = 17.0
    slowed_at: float = math.inf
    slowed: float = 1.0
    slowed_every: float = math.inf
    slowed_for: float = math.inf
    clears_for_first: bool = False
    callers_first: bool = False
    cold_chunks: int = 0
    warm_up: float = 0.0

    @property
    def capacity(self) -> float:
        """Seconds of audio a second that all workers make."""
        return self.workers * self.pace * (self.together if self.workers > 1 else 1.0)

    def seconds(self, audio: float, working: int, now: float) -> float:
        """Time for a chunk that begins now, beside so many workers that are busy."""
        pace = self.pace * (self.together if working > 1 else 1.0)
        since = (now - self.slowed_at) % self.slowed_every
        return audio / pace * (self.slowed if now >= self.slowed_at and since < self.slowed_for else 1.0)


@dataclass(slots=True, eq=False)
class _Step:
    audio: float
    due: float
    order: int
    precedence: Precedence
    done: "asyncio.Future[None]"

    @property
    def urgency(self) -> tuple[bool, float, int]:
        return not self.precedence.goes_first, self.due, self.order


class Engine:
    """The workers of an engine, and the steps that wait for them."""

    def __init__(self, model: EngineModel, loop: VirtualTimeLoop) -> None:
        self.model = model
        self.audio = 0.0
        self._loop = loop
        self._waiting: list[_Step] = []
        self._working: list[_Step] = []
        self._order = count()

    async def make(self, audio: float, due: float) -> None:
        """Make so many seconds of audio when it is their turn."""
        step = _Step(audio, due, next(self._order), current_precedence(), self._loop.create_future())
        self._waiting.append(step)
        self._loop.call_soon(self._start)  # whatever happens at once is there before work starts
        await step.done

    def _start(self) -> None:
        while ready := self._ready():
            step = min(ready, key=lambda each: each.urgency)
            self._waiting.remove(step)
            self._working.append(step)
            beside = [other for other in self._working if other.precedence.background == step.precedence.background]
            working = len(beside if self.model.clears_for_first else self._working)
            seconds = self.model.seconds(step.audio, working, self._loop.time())
            if step.order < self.model.cold_chunks:
                seconds += self.model.warm_up
            self._loop.call_later(seconds, self._end, step)

    def _ready(self) -> list[_Step]:
        if not self.model.clears_for_first:
            return self._waiting if len(self._working) < self.model.workers else []
        at_work = [step.precedence for step in (*self._waiting, *self._working)]
        ready = self._waiting
        if any(stream.goes_first for stream in at_work):
            ready = [step for step in ready if step.precedence.goes_first or not step.precedence.makes_way()]
        live = any(not stream.background for stream in at_work)
        busy = Counter(step.precedence.background for step in self._working)
        return [
            step
            for step in ready
            if busy[step.precedence.background] < self.model.workers and not (live and step.precedence.background)
        ]

    def _end(self, step: _Step) -> None:
        self._working.remove(step)
        self.audio += step.audio
        if not step.done.done():
            step.done.set_result(None)
        if self.model.callers_first:
            self._loop.call_soon(self._loop.call_soon, self._start)  # when its stream has asked again
        else:
            self._start()


@dataclass(frozen=True, slots=True)
class Call:
    """A request of a client for so many seconds of audio.

    `reads` is how many of them it reads before it stalls for `stalls` seconds, `arriving` the time before each chunk in
    which its text arrives.
    """

    client: str
    audio: float
    max_wait: float = MAX_WAIT
    background: bool = False
    reads: float = math.inf
    stalls: float = 3600.0
    arriving: float = 0.0


@dataclass(frozen=True, slots=True)
class Heard:
    """A stream that was heard: the caller's time until its first audio, and seconds of silence between its chunks."""

    call: Call
    first_audio: float
    gap: float
    entered: float


@dataclass
class Outcome:
    """All that became of the calls."""

    asked: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    """By the reason."""
    expired: int = 0
    """Calls that waited in vain."""
    dropped: int = 0
    came_back: int = 0
    longest_advice: float = 0.0
    """Seconds after which a caller was told to come back, at most."""
    heard: list[Heard] = field(default_factory=list)
    log: list[tuple[object, ...]] = field(default_factory=list)
    """Each decision: its time, its name, the number of the call, and what belongs to it."""

    def of(self, client: str) -> list[Heard]:
        """Streams of one client, or of all whose name begins so."""
        return [each for each in self.heard if each.call.client.startswith(client)]


def percentile(values: list[float], percent: int) -> float:
    """Of few values, too; NaN of none."""
    if len(values) < 2:
        return values[0] if values else math.nan
    return quantiles(values, n=100, method="inclusive")[percent - 1]


class World:
    """A controller, an engine, and callers on one virtual clock."""

    def __init__(self, loop: VirtualTimeLoop, model: EngineModel, slots: int, places: int, max_share: float) -> None:
        self.loop = loop
        self.slots = slots
        self.engine = Engine(model, loop)
        self.chance = random.Random(0)  # noqa: S311 - arrivals, not secrets
        self.outcome = Outcome()
        self.admission = AdmissionController(slots, places, adaptive=True, max_share=max_share, clock=loop.time)
        self._numbers = count()
        self._advice = 0.0

    async def arrivals(self, rate: float, seconds: float, call: Callable[[], Call]) -> list[asyncio.Task[bool]]:
        """Calls by chance, `rate` a second for so long; the tasks that wait for their end."""
        tasks, until = list[asyncio.Task[bool]](), self.loop.time() + seconds
        while self.loop.time() < until:
            await asyncio.sleep(self.chance.expovariate(rate))
            tasks.append(asyncio.create_task(self.call(call())))
        return tasks

    async def closed_loop(self, callers: int, each: int, call: Callable[[], Call]) -> None:
        """So many callers who ask again as soon as they were answered."""

        async def ask() -> None:
            for _ in range(each):
                await self.call(call())

        await asyncio.gather(*(ask() for _ in range(callers)))

    async def call_until_heard(self, call: Call) -> None:
        """A caller who comes back when it is told to."""
        while not await self.call(call):
            await asyncio.sleep(self._advice)
            self.outcome.came_back += 1

    async def call(self, call: Call) -> bool:
        """Ask, wait and listen; whether anything was heard."""
        number = next(self._numbers)
        self.outcome.asked[call.client] += 1
        try:
            chars = 0 if call.arriving else round(call.audio / SECONDS_PER_CHAR)
            asked = AdmissionRequest("m", call.client, chars, call.max_wait, background=call.background)
            ticket = self.admission.enter(asked, self.engine.model.claims)
        except OverloadedError as refusal:
            self._advise(refusal)
            self.outcome.refused[str(refusal.reason)] += 1
            self._log("refused", number, call.client, str(refusal.reason), round(refusal.retry_after, 6))
            return False
        self._log("entered", number, call.client)
        try:
            await ticket.granted()
            self._log("granted", number)
            await self._listen(number, call, ticket)
        except OverloadedError as refusal:
            self._advise(refusal)
            self.outcome.expired += 1
            self._log("expired", number, str(refusal.reason), round(refusal.retry_after, 6))
            return False
        finally:
            ticket.release()
        return True

    async def _listen(self, number: int, call: Call, ticket: Ticket) -> None:
        left, dry, gap = call.audio, self.loop.time(), 0.0
        sizes = chain(self.engine.model.first_chunks, repeat(self.engine.model.chunk))
        first: float | None = None
        stalled = False
        while left > 1e-9:
            asked = self.loop.time()
            await ticket.turn()
            began, chunk = self.loop.time(), min(next(sizes), left)
            if began > asked or first is None:
                self._log("turn", number, round(began - asked, 6))
            if call.arriving:
                ticket.idle()
                await asyncio.sleep(call.arriving)
                await ticket.text_came()
                began, dry = self.loop.time(), max(dry, self.loop.time())
            await self.engine.make(chunk, dry)
            now = self.loop.time()
            ticket.produced(chunk, now - began)
            if first is None:
                first = now - ticket.entered
                self._log("first audio", number)
            elif now - dry > _AUDIBLE_SECONDS:
                gap += now - dry
            dry = max(now, dry) + chunk
            left -= chunk
            ticket.read()
            if not stalled and call.audio - left >= call.reads:
                stalled = True
                if await self._dropped(call, ticket):
                    self._log("dropped", number)
                    return
                dry += call.stalls
        ticket.finish()
        self._log("finished", number)
        self.outcome.heard.append(Heard(call, first or 0.0, gap, ticket.entered))

    async def _dropped(self, call: Call, ticket: Ticket) -> bool:
        """Read nothing for a while; whether the session is dropped in that time."""
        dropped = asyncio.Event()
        ticket.on_drop = dropped.set
        ticket.pause()
        try:
            async with asyncio.timeout(call.stalls):
                await dropped.wait()
        except TimeoutError:
            ticket.resume()
            return False
        self.outcome.dropped += 1
        return True

    def _advise(self, refusal: OverloadedError) -> None:
        self._advice = refusal.retry_after
        self.outcome.longest_advice = max(self.outcome.longest_advice, refusal.retry_after)

    def _log(self, name: str, *details: object) -> None:
        self.outcome.log.append((round(self.loop.time(), 6), name, *details))


def run(
    scenario: Callable[[World], Awaitable[None]],
    model: EngineModel,
    slots: int = 32,
    places: int = 64,
    max_share: float = 0.5,
) -> tuple[World, Outcome]:
    """Play a scenario to its end on a fresh server."""
    loop = VirtualTimeLoop()

    async def play() -> World:
        world = World(loop, model, slots, places, max_share)
        await scenario(world)
        return world

    world = loop.run(play())
    return world, world.outcome
