"""All kinds of traffic at four times what a server can speak: `python -m benchmarks.overload_trial`.

A real server with Wren; three of four requests over HTTP and one over a WebSocket, at random times, a job that reads a
book, and side requests, all together. Before that, the first audio of one listener with and without the job. Prints a
table, and exits with 1 where a promise is broken.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from polyvox.bench.player import Arrival, play
from polyvox.bench.process import ServerProcess, server_process

OVERLOAD = 4.0
MAX_WAIT_SECONDS = 5.0
"""The setting's default."""
HUNG_SECONDS = 60.0
REFUSAL_SECONDS = 0.05
UNDERRUN_SHARE = 0.02
JOB_COST = 1.1
"""Times the first audio of a listener alone that it may take beside a job."""
PCM_BYTES = 48_000
SIDE_PATHS = ("/health", "/v1/audio/voices", "/v1/models", "/v1/jobs")
SIDE_SECONDS = 0.25
TEXTS = (
    "The birch canoe slid on the smooth planks, and nobody on the far bank heard it come.",
    "Glue the sheet to the dark blue background before the light of the afternoon is gone.",
    "It is easy to tell the depth of a well if one has a stone, a watch and a little patience.",
    "These days a chicken leg is a rare dish in the small towns on the other side of the hills.",
)
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Heard:
    """One request: its kind, its status (0 where it hung), seconds to its first answer, and its under-runs."""

    kind: str
    status: int
    first: float
    underruns: int = 0


async def ask_http(client: httpx.AsyncClient, text: str) -> Heard:
    """Speak over `POST /v1/audio/speech` as a new listener."""
    began, arrivals = time.perf_counter(), list[Arrival]()
    body = {"input": text, "voice": "af_heart", "response_format": "pcm"}
    async with client.stream("POST", "/v1/audio/speech", json=body) as answer:
        answered = time.perf_counter() - began
        async for data in answer.aiter_bytes():
            arrivals.append(Arrival(time.perf_counter() - began, len(data) / PCM_BYTES))
    if answer.status_code != httpx.codes.OK:
        return Heard("http", answer.status_code, answered)
    return Heard("http", answer.status_code, arrivals[0].time, play(arrivals).underruns)


async def ask_socket(url: str, text: str) -> Heard:
    """Speak over the server's own WebSocket."""
    began, arrivals = time.perf_counter(), list[Arrival]()
    try:
        async with connect(f"{url.replace('http', 'ws', 1)}/v1/realtime/speech") as socket:
            for message in (
                {"type": "start", "voice": "af_heart", "binary": True},
                {"type": "text", "text": text},
                {"type": "end"},
            ):
                await socket.send(json.dumps(message))
            async for answer in socket:
                now = time.perf_counter() - began
                if isinstance(answer, bytes):
                    arrivals.append(Arrival(now, len(answer) / PCM_BYTES))
                    continue
                event = json.loads(answer)
                if event["type"] == "error":
                    return Heard("socket", _TOO_MANY if "overload" in answer else 500, now)
                if event["type"] == "done":
                    break
    except InvalidStatus as refused:
        return Heard("socket", refused.response.status_code, time.perf_counter() - began)
    except ConnectionClosed as closed:
        status = _TOO_MANY if "overload" in str(closed) else 500
        return Heard("socket", status, time.perf_counter() - began)
    if not arrivals:
        return Heard("socket", 500, time.perf_counter() - began)
    return Heard("socket", 200, arrivals[0].time, play(arrivals).underruns)


async def within_time(kind: str, asked: Awaitable[Heard]) -> Heard:
    """The answer, or that it hung."""
    try:
        async with asyncio.timeout(HUNG_SECONDS):
            return await asked
    except TimeoutError:
        return Heard(kind, 0, HUNG_SECONDS)
    except httpx.HTTPError as error:
        print(f"broken: {type(error).__name__} {error}", file=sys.stderr)
        return Heard(kind, 500, 0.0)


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


@asynccontextmanager
async def reading_job(client: httpx.AsyncClient) -> AsyncIterator[None]:
    """A job that goes on until the block ends."""
    text = "\n\n".join(" ".join(TEXTS) for _ in range(500))
    book = {"title": "Trial", "chapters": [{"title": "One", "text": text}], "voice": "af_heart", "output": ["mp3"]}
    made = await client.post("/v1/jobs", json=book)
    made.raise_for_status()
    try:
        yield
    finally:
        (await client.delete(f"/v1/jobs/{made.json()['id']}")).raise_for_status()


async def first_audio(client: httpx.AsyncClient, times: int) -> float:
    """The median of one listener after another."""
    heard = []
    for number in range(times):
        heard.append((await ask_http(client, TEXTS[number % len(TEXTS)])).first)
        await asyncio.sleep(0.1)
    return statistics.median(heard)


async def side_requests(client: httpx.AsyncClient, until: float) -> list[Heard]:
    """Lists and health, one after the other."""
    found, number = list[Heard](), 0
    while time.perf_counter() < until:
        began, number = time.perf_counter(), number + 1
        answer = await client.get(SIDE_PATHS[number % len(SIDE_PATHS)])
        found.append(Heard("side", answer.status_code, time.perf_counter() - began))
        await asyncio.sleep(SIDE_SECONDS)
    return found


async def overload(server: ServerProcess, client: httpx.AsyncClient, rate: float, seconds: float) -> list[Heard]:
    """Requests at random times, whether or not others were answered."""
    chance, tasks = random.Random(0), list[asyncio.Task[Heard]]()  # noqa: S311 - a load, not a secret
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


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def judged(heard: Sequence[Heard]) -> tuple[dict[str, object], list[str]]:
    """The figures of a run, and the promises that it broke."""
    speech = [each for each in heard if each.kind != "side"]
    spoken = [each for each in speech if each.status == httpx.codes.OK]
    refused = [each.first for each in speech if each.status == _TOO_MANY]
    starved = sum(each.underruns > 0 for each in spoken)
    other = [each for each in speech if each.status not in (0, httpx.codes.OK, _TOO_MANY)]
    hung = sum(each.status == 0 for each in speech)
    firsts = [each.first for each in spoken]
    side = [each.first for each in heard if each.kind == "side"]
    figures: dict[str, object] = {
        "asked": len(speech),
        "spoken": len(spoken),
        "by socket": sum(each.kind == "socket" for each in spoken),
        "refused": len(refused),
        "hung": hung,
        "failed": len(other),
        "refusal p50/p99 ms": (round(1e3 * percentile(refused, 0.5)), round(1e3 * percentile(refused, 0.99))),
        "first audio p50/p95 s": (round(percentile(firsts, 0.5), 2), round(percentile(firsts, 0.95), 2)),
        "streams with an under-run": f"{starved} of {len(spoken)}",
        "side p99 ms": round(1e3 * percentile(side, 0.99)),
    }
    promises = {
        "a request hung": hung == 0,
        "a request failed": not other,
        "refusals are slow": percentile(refused, 0.99) <= REFUSAL_SECONDS,
        "too many under-runs": starved <= UNDERRUN_SHARE * len(spoken),
        "first audio is late": percentile(firsts, 0.95) <= MAX_WAIT_SECONDS,
    }
    return figures, [name for name, kept in promises.items() if not kept]


async def trial(server: ServerProcess, seconds: float, times: int) -> list[str]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=server.url, timeout=HUNG_SECONDS, limits=limits, trust_env=False) as client:
        await first_audio(client, 4)
        alone = await first_audio(client, 20)
        async with reading_job(client):
            await asyncio.sleep(2.0)
            beside = await first_audio(client, 20)
        broken = [] if beside <= JOB_COST * alone else ["a job puts listeners off"]
        print(f"first audio alone {alone:.3f} s, beside a job {beside:.3f} s ({beside / alone:.2f} times)", flush=True)
        rate = await capacity(client, 20.0)
        print(f"{rate:.2f} texts a second; offered {OVERLOAD * rate:.2f}", flush=True)
        for _ in range(times):
            async with reading_job(client):
                figures, faults = judged(await overload(server, client, rate, seconds))
            print(json.dumps(figures), *faults, flush=True)
            broken += faults
            await asyncio.sleep(5.0)
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--times", type=int, default=2)
    given = parser.parse_args()
    with server_process(["serve", "--port", "0"], {"POLYVOX_MODELS": "wren"}) as server:
        broken = asyncio.run(trial(server, given.seconds, given.times))
    sys.exit("; ".join(broken) or None)


if __name__ == "__main__":
    main()
