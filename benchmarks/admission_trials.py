"""Trials of admission in virtual time: each is a situation that was measured on a server, with its figures.

python -m benchmarks.admission_trials                    # the figures of all trials
python -m benchmarks.admission_trials --log decisions    # and every decision, a file for each trial
"""

import argparse
import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from benchmarks.admission_simulation import Call, EngineModel, Heard, Outcome, World, percentile, run

SENTENCES = (1.8, 3.2)
PAGES = (2.0, 30.0)

PLAIN = EngineModel()
CLEARING = EngineModel(clears_for_first=True)
PIECES = EngineModel(clears_for_first=True, callers_first=True, chunk=1.35, first_chunks=(0.4, 0.45, 0.9))
SERIAL = EngineModel(workers=1, pace=1.8, chunk=0.3, claims=1.8)
UNKNOWN = EngineModel(workers=1, pace=6.0, chunk=0.5, claims=None)
BATCHING = EngineModel(workers=64, pace=4.0, together=1.0, chunk=0.5, claims=None)
COLD = EngineModel(workers=64, pace=4.0, together=1.0, chunk=0.5, claims=None, cold_chunks=3, warm_up=2.0)
NARROW_UNKNOWN = EngineModel(workers=1, pace=3.0, chunk=1.6, claims=None)
NARROW = EngineModel(workers=1, pace=3.0, chunk=6.0, claims=3.0)
SLOW_BATCHING = EngineModel(workers=64, pace=0.6, together=1.0, chunk=0.5, claims=None)
SLOW = EngineModel(workers=1, pace=0.8, chunk=0.8, claims=None)

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Trial:
    """A scenario, the engine and the server that it is played on, and what is measured of its outcome."""

    scenario: Callable[[World], Awaitable[None]]
    figures: Callable[[World, Outcome], Figures]
    engine: EngineModel = PLAIN
    slots: int = 32
    places: int = 64

    def run(self) -> tuple[Figures, Outcome]:
        world, outcome = run(self.scenario, self.engine, self.slots, self.places)
        return self.figures(world, outcome), outcome


def some_client(world: World, shares: tuple[float, ...], lengths: tuple[float, float]) -> Call:
    """A call of one of several clients, of a length by chance."""
    client = world.chance.choices([f"client {number}" for number in range(len(shares))], shares)[0]
    return Call(client, world.chance.uniform(*lengths))


async def overload(
    world: World,
    load: float,
    lengths: tuple[float, float],
    shares: tuple[float, ...] = (1.0,) * 4,
    seconds: float = 30.0,
    arriving: float = 0.0,
    callers_before: int = 0,
) -> None:
    """Calls by chance, `load` times what the engine can do; with `arriving`, the texts of one in four come slowly.

    The server has spoken for `callers_before`, one after the other.
    """
    for _ in range(callers_before):
        await world.call(Call("client 0", sum(lengths) / 2))
    rate = load * world.engine.model.capacity / (sum(lengths) / 2)

    def some_call() -> Call:
        call = some_client(world, shares, lengths)
        return replace(call, arriving=arriving) if arriving and world.chance.random() < 0.25 else call

    tasks = await world.arrivals(rate, seconds, some_call)
    world.outcome.log.append(("audio", world.engine.audio / world.loop.time()))
    await asyncio.gather(*tasks)


async def fresh_burst(world: World, calls: int, audio: float, every: float) -> None:
    """Calls to a server that has spoken nothing yet."""

    async def ask(place: int) -> None:
        await asyncio.sleep(every * place)
        await world.call(Call("one", audio, max_wait=30.0))

    await asyncio.gather(*(ask(place) for place in range(calls)))


async def flood(world: World, lengths: tuple[float, float]) -> None:
    """One client keeps 24 requests open; another asks for a sentence now and then, first on the idle server."""
    for _ in range(8):
        await world.call(Call("idle", 2.5))
    flooding = True

    async def keep_asking() -> None:
        while flooding:
            if not await world.call(Call("flood", world.chance.uniform(*lengths), max_wait=30.0)):
                await asyncio.sleep(0.25)

    tasks = [asyncio.create_task(keep_asking()) for _ in range(24)]
    await asyncio.sleep(5.0)
    for _ in range(16):
        await world.call(Call("other", 2.5))
        await asyncio.sleep(0.7)
    flooding = False
    await asyncio.gather(*tasks)


async def interruption(world: World) -> None:
    """Short requests while all slots have long streams that are well ahead of their listeners."""
    long = [asyncio.create_task(world.call(Call(f"reader {n}", 180.0, max_wait=30.0))) for n in range(world.slots)]
    await asyncio.sleep(6.0)
    for _ in range(8):
        await world.call(Call("other", 1.6))
        await asyncio.sleep(1.0)
    await asyncio.gather(*long)


async def background(world: World, items: int = 12) -> None:
    """A batch of pages, and live requests now and then; the batch goes on when they are over."""
    batch = [asyncio.create_task(world.call(Call("batch", 40.0, math.inf, background=True))) for _ in range(items)]
    await asyncio.sleep(5.0)
    for _ in range(8):
        await world.closed_loop(2, 1, lambda: Call("live", 6.0))
        await asyncio.sleep(1.0)
    world.outcome.log.append(("batch beside live", round(world.engine.audio - 96.0, 6)))
    await asyncio.gather(*batch)


async def stalled_readers(world: World) -> None:
    """Clients that read a little and then nothing; then others ask."""
    stalled = [
        asyncio.create_task(world.call(Call(f"stalled {number % 2}", 6.4, 30.0, reads=3.2)))
        for number in range(3 * world.slots)
    ]
    await asyncio.sleep(40.0)
    for _ in range(4):
        await world.call(Call("other", 2.5, max_wait=30.0))
    for task in stalled:
        task.cancel()
    await asyncio.wait(stalled)


async def slow_readers(world: World) -> None:
    """Clients that stop reading for some seconds and then go on, while others ask."""
    slow = [
        asyncio.create_task(world.call(Call(f"slow {number % 2}", 6.4, 30.0, reads=3.2, stalls=3.0)))
        for number in range(3 * world.slots)
    ]
    await asyncio.sleep(1.0)
    await world.closed_loop(2, 4, lambda: Call("other", 2.5, max_wait=30.0))
    await asyncio.gather(*slow)


async def return_when_told(world: World) -> None:
    """Calls at four times the load, each of which comes back when it was told, until it is heard."""
    tasks = []
    for _ in range(120):
        await asyncio.sleep(world.chance.expovariate(20.0))
        tasks.append(asyncio.create_task(world.call_until_heard(some_client(world, (1.0,) * 4, SENTENCES))))
    await asyncio.gather(*tasks)


async def few_callers(world: World) -> None:
    """Three callers of an engine that is hardly faster than playback, who ask again and again."""
    await world.closed_loop(3, 4, lambda: Call("one", world.chance.uniform(3.0, 8.0)))


async def many_callers(world: World) -> None:
    """Sixteen callers who ask twice, with patience."""
    await world.closed_loop(16, 2, lambda: Call("one", 4.0, max_wait=60.0))


async def after_pages(world: World) -> None:
    """A burst of pages, a pause, then sixteen callers who can all be heard in time."""
    await world.closed_loop(64, 1, lambda: Call("pages", world.chance.uniform(12.0, 18.0)))
    await asyncio.sleep(5.0)
    await world.closed_loop(16, 3, lambda: Call("sentences", world.chance.uniform(1.6, 2.6)))


async def full_queue(world: World) -> None:
    """A client fills the queue of a server with few places; then others come."""
    tasks = [asyncio.create_task(world.call(Call("flood", 6.0, max_wait=60.0))) for _ in range(16)]
    await asyncio.sleep(0.1)
    tasks += [asyncio.create_task(world.call(Call(f"other {n}", 6.0, max_wait=60.0))) for n in range(3)]
    await asyncio.sleep(0.1)
    tasks += [asyncio.create_task(world.call(Call("flood", 6.0, max_wait=60.0))) for _ in range(2)]
    await asyncio.gather(*tasks)


async def arriving_texts(world: World) -> None:
    """As many texts arrive slowly as there are slots; others ask beside them."""
    texts = [Call(f"typist {number}", 16.0, arriving=1.0) for number in range(world.slots)]
    slow = [asyncio.create_task(world.call(text)) for text in texts]
    await asyncio.sleep(1.0)
    await world.closed_loop(2, 4, lambda: Call("other", 2.5))
    await asyncio.gather(*slow)


def gap_figures(heard: list[Heard]) -> Figures:
    audio = sum(each.call.audio for each in heard)
    return {
        "with a gap": sum(each.gap > 0 for each in heard) / max(1, len(heard)),
        "silence": sum(each.gap for each in heard) / max(1.0, audio),
    }


def all_figures(world: World, outcome: Outcome, client: str = "") -> Figures:
    heard = outcome.of(client)
    waits = [each.first_audio for each in heard]
    shares = [len(outcome.of(name)) for name in outcome.asked]
    return {
        "asked": float(outcome.asked.total()),
        "heard": float(len(heard)),
        "refused": float(outcome.refused.total()),
        "in vain": float(outcome.expired),
        "first audio p50": percentile(waits, 50),
        "first audio p95": percentile(waits, 95),
        "in time": sum(each.first_audio <= each.call.max_wait for each in heard) / max(1, len(heard)),
        **gap_figures(heard),
        "audio a second": next((float(str(entry[1])) for entry in outcome.log if entry[0] == "audio"), math.nan),
        "longest advice": outcome.longest_advice,
        "least share": min(shares) / max(1, *shares),
    }


def door_figures(world: World, outcome: Outcome) -> Figures:
    """All, and the share of those heard whose texts arrived while they were spoken."""
    arrived = sum(each.call.arriving > 0 for each in outcome.heard)
    return {**all_figures(world, outcome), "arrived": arrived / max(1, len(outcome.heard))}


def beside_figures(world: World, outcome: Outcome, idle: str, other: str, crowd: str) -> Figures:
    """First audio of a client beside a crowd, and what the crowd has of it."""
    waits, alone = ([each.first_audio for each in outcome.of(name)] for name in (other, idle))
    return {
        "first audio p50": percentile(waits, 50),
        "first audio p95": percentile(waits, 95),
        "of idle": percentile(waits, 50) / percentile(alone, 50) if alone else math.nan,
        "heard": float(len(waits)),
        "refused": float(outcome.refused.total() + outcome.expired),
        **{f"{name} of {crowd}": value for name, value in gap_figures(outcome.of(crowd)).items()},
        **{f"{name} of {other}": value for name, value in gap_figures(outcome.of(other)).items()},
        "dropped": float(outcome.dropped),
        "all seconds": world.loop.time(),
        "batch beside live": next((float(str(e[1])) for e in outcome.log if e[0] == "batch beside live"), math.nan),
    }


def return_figures(world: World, outcome: Outcome) -> Figures:
    calls = len(outcome.heard)
    return {
        **all_figures(world, outcome),
        "times asked": outcome.asked.total() / max(1, calls),
        "all seconds": world.loop.time(),
    }


TRIALS: Mapping[str, Trial] = MappingProxyType(
    {
        "overload": Trial(partial(overload, load=4.0, lengths=SENTENCES), all_figures),
        "overload, one floods": Trial(
            partial(overload, load=4.0, lengths=SENTENCES, shares=(7.0, 1.0, 1.0, 1.0)), all_figures
        ),
        "overload, one client": Trial(partial(overload, load=4.0, lengths=SENTENCES, shares=(1.0,)), all_figures),
        "overload, pages": Trial(partial(overload, load=4.0, lengths=PAGES, seconds=120.0), all_figures),
        "overload, cleared for first": Trial(partial(overload, load=4.0, lengths=SENTENCES), all_figures, CLEARING),
        "overload, capacity not known": Trial(partial(overload, load=4.0, lengths=SENTENCES), all_figures, UNKNOWN),
        "overload, in pieces": Trial(
            partial(overload, load=4.0, lengths=SENTENCES, callers_before=2), all_figures, PIECES
        ),
        "overload, some texts arrive": Trial(
            partial(overload, load=4.0, lengths=SENTENCES, arriving=0.1), door_figures
        ),
        "overload, in pieces, some texts arrive": Trial(
            partial(overload, load=4.0, lengths=SENTENCES, arriving=0.3, callers_before=2), door_figures, PIECES
        ),
        "overload, batching": Trial(
            partial(overload, load=2.0, lengths=SENTENCES, seconds=20.0), all_figures, BATCHING, slots=16
        ),
        "overload, slower than playback": Trial(
            partial(overload, load=2.0, lengths=SENTENCES), all_figures, SLOW, slots=8
        ),
        "below the limit": Trial(partial(overload, load=0.8, lengths=SENTENCES), all_figures),
        "fresh server": Trial(partial(fresh_burst, calls=10, audio=3.0, every=0.83), all_figures, SERIAL),
        "fresh server, at once": Trial(partial(fresh_burst, calls=24, audio=8.0, every=0.0), all_figures),
        "fresh server, capacity not known": Trial(
            partial(fresh_burst, calls=24, audio=8.0, every=0.05), all_figures, UNKNOWN
        ),
        "flood of sentences": Trial(
            partial(flood, lengths=SENTENCES), partial(beside_figures, idle="idle", other="other", crowd="flood")
        ),
        "flood of pages": Trial(
            partial(flood, lengths=(8.0, 30.0)), partial(beside_figures, idle="idle", other="other", crowd="flood")
        ),
        "flood of pages, cleared for first": Trial(
            partial(flood, lengths=(8.0, 30.0)),
            partial(beside_figures, idle="idle", other="other", crowd="flood"),
            CLEARING,
        ),
        "flood, capacity not known": Trial(
            partial(flood, lengths=(8.0, 30.0)),
            partial(beside_figures, idle="idle", other="other", crowd="flood"),
            UNKNOWN,
        ),
        "interruption": Trial(
            interruption, partial(beside_figures, idle="idle", other="other", crowd="reader"), slots=2
        ),
        "background jobs": Trial(background, partial(beside_figures, idle="idle", other="live", crowd="batch")),
        "background jobs, batching": Trial(
            background, partial(beside_figures, idle="idle", other="live", crowd="batch"), BATCHING, slots=16
        ),
        "background jobs, cleared for first": Trial(
            background, partial(beside_figures, idle="idle", other="live", crowd="batch"), CLEARING
        ),
        "background jobs, few slots": Trial(
            background, partial(beside_figures, idle="idle", other="live", crowd="batch"), UNKNOWN, slots=2
        ),
        "stalled readers": Trial(
            stalled_readers, partial(beside_figures, idle="idle", other="other", crowd="stalled"), BATCHING, slots=4
        ),
        "slow readers": Trial(
            slow_readers, partial(beside_figures, idle="idle", other="other", crowd="slow"), BATCHING, slots=4
        ),
        "long texts": Trial(partial(fresh_burst, calls=20, audio=90.0, every=0.2), all_figures),
        "long texts, slow engine": Trial(partial(fresh_burst, calls=4, audio=120.0, every=5.0), all_figures, SERIAL),
        "slower than playback, batching": Trial(many_callers, return_figures, SLOW_BATCHING, slots=8),
        "cold engine": Trial(partial(fresh_burst, calls=12, audio=8.0, every=0.02), all_figures, COLD, slots=8),
        "few callers": Trial(few_callers, all_figures, SERIAL),
        "background jobs, capacity not known": Trial(
            partial(background, items=6),
            partial(beside_figures, idle="idle", other="live", crowd="batch"),
            NARROW_UNKNOWN,
        ),
        "background jobs, slow engine": Trial(
            partial(background, items=6), partial(beside_figures, idle="idle", other="live", crowd="batch"), NARROW
        ),
        "arriving texts": Trial(
            arriving_texts, partial(beside_figures, idle="idle", other="other", crowd="typist"), UNKNOWN, slots=8
        ),
        "cores taken away": Trial(
            partial(overload, load=1.6, lengths=PAGES, seconds=120.0),
            all_figures,
            replace(PLAIN, slowed_at=40.0, slowed=2.0),
        ),
        "cores taken away, in pieces": Trial(
            partial(overload, load=1.6, lengths=PAGES, seconds=120.0),
            all_figures,
            replace(PIECES, slowed_at=40.0, slowed=2.0),
        ),
        "cores come and go": Trial(
            partial(overload, load=4.0, lengths=(4.5, 6.0), seconds=180.0),
            all_figures,
            replace(PIECES, slowed_at=20.0, slowed=2.0, slowed_every=20.0, slowed_for=4.0),
        ),
        "return when told": Trial(return_when_told, return_figures),
        "after a burst of pages": Trial(after_pages, partial(all_figures, client="sentences")),
        "full queue": Trial(full_queue, partial(all_figures, client="other"), slots=2, places=8),
    }
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="Write the decisions of each trial into this folder.")
    args = parser.parse_args()
    for name, trial in TRIALS.items():
        figures, outcome = trial.run()
        print(
            f"{name}: "
            + ", ".join(f"{figure} {value:.4g}" for figure, value in figures.items() if not math.isnan(value))
        )
        if args.log:
            args.log.mkdir(parents=True, exist_ok=True)
            lines = [" ".join(map(str, entry)) for entry in outcome.log]
            (args.log / f"{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
