"""The first audio of a listener beside a job and without it, by turns: `python -m benchmarks.beside_job`.

A real server. Each round the job is paused and the listener asks some times, then the job goes on and the listener asks
as often again. Also prints how fast the job is alone. Exits with 1 where the job costs the listener too much.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable
from dataclasses import dataclass

import httpx

from benchmarks.listeners import TEXTS, Job, ask_http, listening, reading_job
from polyvox.bench.process import server_process

JOB_COST = 1.1
"""Times the first audio of a listener alone that it may take beside a job."""
ROUNDS = 6
_ASKED = 5
_BETWEEN_SECONDS = 0.1
_ALONE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class JobCost:
    """Seconds to the first audio at the median without a job and beside it; seconds of audio that the job made in each
    second alone and beside the listener.
    """

    without: float
    beside: float
    job_alone: float
    job_beside: float

    @property
    def times(self) -> float:
        return self.beside / self.without

    def __str__(self) -> str:
        return (
            f"first audio {self.without:.3f} s without a job, {self.beside:.3f} s beside one ({self.times:.2f} times); "
            f"the job makes {self.job_alone:.1f} s of audio a second alone, {self.job_beside:.1f} s beside the listener"
        )


async def measure(client: httpx.AsyncClient, rounds: int = ROUNDS) -> JobCost:
    """By turns, so that whatever else the machine does falls on both."""
    await _first_audio(client)
    without, beside, pace = list[float](), list[float](), list[float]()
    async with reading_job(client) as job:
        alone = await _pace(job, asyncio.sleep(_ALONE_SECONDS))
        for _ in range(rounds):
            await job.pause()
            without += await _first_audio(client)
            await job.resume()
            pace.append(await _pace(job, _listen(client, beside)))
    return JobCost(statistics.median(without), statistics.median(beside), alone, statistics.mean(pace))


async def _listen(client: httpx.AsyncClient, heard: list[float]) -> None:
    heard += await _first_audio(client)


async def _first_audio(client: httpx.AsyncClient) -> list[float]:
    heard = []
    for number in range(_ASKED):
        heard.append((await ask_http(client, TEXTS[number % len(TEXTS)])).first)
        await asyncio.sleep(_BETWEEN_SECONDS)
    return heard


async def _pace(job: Job, meanwhile: Awaitable[None]) -> float:
    """Seconds of audio a second that a job makes meanwhile."""
    made, began = await job.spoken_seconds(), time.perf_counter()
    await meanwhile
    return (await job.spoken_seconds() - made) / (time.perf_counter() - began)


async def _trial(url: str, rounds: int) -> JobCost:
    async with listening(url) as client:
        return await measure(client, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="wren")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    with server_process(["serve", "--port", "0"], {"POLYVOX_MODELS": given.model}) as server:
        cost = asyncio.run(_trial(server.url, given.rounds))
    print(cost)
    sys.exit(None if cost.times <= JOB_COST else f"more than {JOB_COST:g} times")


if __name__ == "__main__":
    main()
