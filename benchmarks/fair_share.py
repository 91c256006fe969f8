"""First audio of one key on an idle server, and while another key floods it: `python -m benchmarks.fair_share [MODEL]`.

Starts a server of its own with two keys. The flood keeps 24 requests open at any time, half of them long.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from polyvox.bench.process import server_process

KEYS = {"flooding": "a-key-that-floods", "other": "a-key-that-waits"}
SHORT = "The birch canoe slid on the smooth planks."
LONG = " ".join([SHORT] * 12)
FLOOD = 24
TRIALS = 8


async def first_audio(client: httpx.AsyncClient, key: str, text: str, model: str) -> float:
    """Seconds from the request to its first byte of audio."""
    body = {"model": model, "input": text, "voice": "af_heart", "response_format": "pcm", "stream": True}
    asked = time.perf_counter()
    headers = {"Authorization": f"Bearer {key}"}
    async with client.stream("POST", "/v1/audio/speech", json=body, headers=headers) as answer:
        answer.raise_for_status()
        parts = answer.aiter_raw()
        await anext(parts)
        seconds = time.perf_counter() - asked
        async for _ in parts:
            pass
    return seconds


@asynccontextmanager
async def flood(client: httpx.AsyncClient, model: str) -> AsyncIterator[None]:
    async def ask(place: int) -> None:
        while True:
            try:
                await first_audio(client, KEYS["flooding"], LONG if place % 2 else SHORT, model)
            except httpx.HTTPStatusError:
                await asyncio.sleep(0.25)  # refused

    tasks = [asyncio.create_task(ask(place)) for place in range(FLOOD)]
    await asyncio.sleep(5.0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def trials(client: httpx.AsyncClient, model: str) -> list[float]:
    seconds = []
    for _ in range(TRIALS):
        seconds.append(await first_audio(client, KEYS["other"], SHORT, model))
        print(f"{seconds[-1] * 1000:.0f} ms", end=" ", flush=True)
        await asyncio.sleep(0.5)
    return seconds


async def measure(url: str, model: str) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=120.0, limits=httpx.Limits(max_connections=None)) as client:
        for _ in range(3):
            await first_audio(client, KEYS["other"], SHORT, model)
        idle = await trials(client, model)
        async with flood(client, model):
            busy = await trials(client, model)
    print()
    for name, seconds in (("idle", idle), ("beside a flood", busy)):
        middle, late = statistics.median(seconds), sorted(seconds)[int(0.95 * len(seconds))]
        print(f"{name}: first audio p50 {middle * 1000:.0f} ms, p95 {late * 1000:.0f} ms")
    print(f"ratio of p50: {statistics.median(busy) / statistics.median(idle):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="kokoro")
    model = parser.parse_args().model
    environment = {
        "POLYVOX_API_KEYS": ",".join(KEYS.values()),
        "POLYVOX_MODELS": model,
        "POLYVOX_DEFAULT_MODEL": model,
        "POLYVOX_PORT": "0",
        "POLYVOX_LOG_LEVEL": "error",
    }
    with server_process(["serve"], environment) as server:
        asyncio.run(measure(server.url, model))


if __name__ == "__main__":
    main()
