"""All kinds of traffic at four times what a server can speak: `python -m benchmarks.overload_trial`.

A real server with Wren; three of four requests over HTTP and one over a WebSocket, at random times, a job that reads a
book, and side requests, all together. Before that, what the job costs one listener; after it, a run in which half of
the server's cores are taken away halfway. Prints a table of aims, and exits with 1 where one is not kept.
"""

import argparse
import asyncio
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.beside_job import JOB_COST, measure
from benchmarks.listeners import (
    HUNG,
    PREBUFFER_SECONDS,
    TEXTS,
    TOO_MANY,
    Heard,
    ask_http,
    ask_socket,
    listening,
    percentile,
    reading_job,
    within_time,
)
from polyvox.bench.process import ServerProcess, server_process

OVERLOAD = 4.0
MAX_WAIT_SECONDS = 5.0
"""The setting's default."""
REFUSAL_SECONDS = 0.05
GAP_SHARE = 0.02
SIDE_PATHS = ("/health", "/v1/audio/voices", "/v1/models", "/v1/jobs")
SIDE_SECONDS = 0.25
CAPACITY_SECONDS = 20.0
REST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Aim:
    """A promise of one run: what was measured, and the most that it may be."""

    run: str
    name: str
    value: float
    limit: float

    @property
    def is_kept(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        return (
            f"{self.run:<16}{self.name:<52}{self.value:>9.3f}{self.limit:>9.3f}  {'' if self.is_kept else 'NOT '}kept"
        )


async def capacity(client: httpx.AsyncClient, seconds: float) -> float:
    """Texts a second that the server completes when it has always enough to do."""
    until, done = time.perf_counter() + seconds, 0

    async def listener(number: int) -> None:
        nonlocal done
        while time.perf_counter() < until:
            heard = await ask_http(client, TEXTS[number % len(TEXTS)])
            done += heard.status == httpx.codes.OK

    await asyncio.gather(*(listener(number) for number in range(8)))
    return done / seconds


async def side_requests(client: httpx.AsyncClient, until: float) -> list[Heard]:
    """Lists and health, one after the other."""
    found, number = list[Heard](), 0
    while time.perf_counter() < until:
        began, number = time.perf_counter(), number + 1
        answer = await client.get(SIDE_PATHS[number % len(SIDE_PATHS)])
        found.append(Heard("side", answer.status_code, time.perf_counter() - began, began))
        await asyncio.sleep(SIDE_SECONDS)
    return found


async def overload(server: ServerProcess, client: httpx.AsyncClient, rate: float, seconds: float) -> list[Heard]:
    """Requests at random times, whether or not others were answered, with a job and side requests beside them."""
    chance, tasks = random.Random(0), list[asyncio.Task[Heard]]()  # noqa: S311 - a load, not a secret
    async with reading_job(client):
        due = time.perf_counter()
        end = due + seconds
        side = asyncio.create_task(side_requests(client, end))
        while (due := due + chance.expovariate(OVERLOAD * rate)) < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            text = chance.choice(TEXTS)
            if chance.random() < 0.25:
                tasks.append(asyncio.create_task(within_time("socket", ask_socket(server.url, text))))
            else:
                tasks.append(asyncio.create_task(within_time("http", ask_http(client, text))))
        return [*await asyncio.gather(*tasks), *await side]


async def overload_with_fewer_cores(
    server: ServerProcess, client: httpx.AsyncClient, rate: float, seconds: float
) -> tuple[list[Heard], float]:
    """The same, while half of the cores are taken away halfway; also the time of that."""
    cores = sorted(os.sched_getaffinity(server.pid))
    running = asyncio.create_task(overload(server, client, rate, seconds))
    try:
        await asyncio.sleep(seconds / 2)
        limit_cores(server, cores[: max(1, len(cores) // 2)])
        taken = time.perf_counter()
        return await running, taken
    finally:
        running.cancel()
        limit_cores(server, cores)


def limit_cores(server: ServerProcess, cores: Sequence[int]) -> None:
    """Let all threads of the server run on these cores only; threads that it starts later inherit that."""
    for task in Path(f"/proc/{server.pid}/task").iterdir():
        try:
            os.sched_setaffinity(int(task.name), cores)
        except ProcessLookupError:  # a thread that has just ended
            continue


def aims_of(run: str, heard: Sequence[Heard]) -> list[Aim]:
    """What was promised for a run, and what came of it."""
    speech = [each for each in heard if each.kind != "side"]
    spoken = [each for each in speech if each.status == httpx.codes.OK]
    refused = [each.first for each in speech if each.status == TOO_MANY]
    failed = [each for each in speech if each.status not in (HUNG, httpx.codes.OK, TOO_MANY)]
    gaps = sum(each.has_gap for each in spoken) / max(1, len(spoken))
    return [
        Aim(run, "requests that hung", sum(each.status == HUNG for each in speech), 0),
        Aim(run, "requests that failed", len(failed), 0),
        Aim(run, "refusals, p99, s", percentile(refused, 0.99), REFUSAL_SECONDS),
        Aim(run, f"streams with an under-run ({PREBUFFER_SECONDS:g} s buffer), share", gaps, GAP_SHARE),
        Aim(run, "first audio, p95, s", percentile([each.first for each in spoken], 0.95), MAX_WAIT_SECONDS),
    ]


def figures_of(heard: Sequence[Heard]) -> str:
    """What the aims do not say: how many, by which door, and what a player without a buffer would have heard."""
    parts = []
    for kind in ("http", "socket"):
        mine = [each for each in heard if each.kind == kind]
        spoken = [each for each in mine if each.status == httpx.codes.OK]
        firsts = [each.first for each in spoken]
        refusals = [each.first for each in mine if each.status == TOO_MANY]
        bare = sum(each.bare is not None and each.bare.underruns > 0 for each in spoken)
        parts.append(
            f"{kind}: {len(mine)} asked, {len(spoken)} spoken (first audio p50 {percentile(firsts, 0.5):.2f} s, "
            f"{sum(each.has_gap for each in spoken)} with an under-run, {bare} without a buffer), "
            f"{len(refusals)} refused (p50 {1e3 * percentile(refusals, 0.5):.0f} ms)"
        )
    gaps = [each.playback.starved for each in heard if each.playback is not None and each.has_gap]
    start = min((each.began for each in heard if each.began), default=0.0)
    begun = sorted(round(each.began - start) for each in heard if each.has_gap)
    side = [each.first for each in heard if each.kind == "side"]
    return "; ".join(
        [
            *parts,
            f"gaps p50 {percentile(gaps, 0.5):.2f} s, in streams asked for after {begun} s",
            f"lists p99 {1e3 * percentile(side, 0.99):.0f} ms",
        ]
    )


async def trial(server: ServerProcess, seconds: float, times: int, *, keep_cores: bool) -> list[Aim]:
    async with listening(server.url) as client:
        cost = await measure(client)
        print(cost, flush=True)
        aims = [Aim("one listener", "first audio beside a job, times without", cost.times, JOB_COST)]
        rate = await capacity(client, CAPACITY_SECONDS)
        print(f"{rate:.2f} texts a second; offered {OVERLOAD * rate:.2f}", flush=True)
        for number in range(1, times + 1):
            heard = await overload(server, client, rate, seconds)
            print(f"run {number}: {figures_of(heard)}", flush=True)
            aims += aims_of(f"run {number}", heard)
            await asyncio.sleep(REST_SECONDS)
        if not keep_cores:
            heard, taken = await overload_with_fewer_cores(server, client, rate, seconds)
            playing = [each for each in heard if each.playback is not None and each.began + each.first < taken]
            print(
                f"half the cores: {figures_of(heard)}; of {len(playing)} streams begun before, "
                f"{sum(each.has_gap for each in playing)} had an under-run",
                flush=True,
            )
            aims += aims_of("half the cores", heard)
    return aims


@contextmanager
def trial_server(model: str, cores: int | None) -> Iterator[ServerProcess]:
    """A server with the model; on so many cores of its own, where that is asked for."""
    all_cores = sorted(os.sched_getaffinity(0))
    if cores is not None and not 0 < cores < len(all_cores):
        raise SystemExit(f"--cores: a number below {len(all_cores)}, the cores of this machine.")
    os.sched_setaffinity(0, all_cores[:cores])
    with server_process(["serve", "--port", "0"], {"POLYVOX_MODELS": model}) as server:
        os.sched_setaffinity(0, all_cores[cores or 0 :])
        yield server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=180.0, help="Length of each run.")
    parser.add_argument("--times", type=int, default=2, help="Runs with all cores.")
    parser.add_argument("--keep-cores", action="store_true", help="Leave out the run with half of the cores.")
    parser.add_argument("--model", default="wren")
    parser.add_argument("--cores", type=int, help="Cores of the server alone; the clients have the others.")
    given = parser.parse_args()
    with trial_server(given.model, given.cores) as server:
        aims = asyncio.run(trial(server, given.seconds, given.times, keep_cores=given.keep_cores))
    print(f"{'run':<16}{'aim':<52}{'value':>9}{'at most':>9}")
    print(*aims, sep="\n")
    sys.exit(0 if all(aim.is_kept for aim in aims) else 1)


if __name__ == "__main__":
    main()
