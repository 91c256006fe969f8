"""Long trials of the built image: `python nightly/image_trial.py overload` (10 minutes) and `soak` (30 minutes).

The image is that of `scripts/build_image.py`, run as `tests/helpers/image_container.py` says. Each trial prints its
figures as one line of JSON, and exits with 1 where a promise is broken.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

import httpx  # noqa: E402 - the path comes first

from helpers.image_container import ImageContainer, running_image  # noqa: E402
from helpers.speech import HARVARD_SENTENCES  # noqa: E402

MODEL = "wren"
KEYS = tuple(f"trial-key-{number:02}-long-enough" for number in range(4))
PORTS = {"overload": 18890, "soak": 18891}
OVERLOAD = 4.0
MAX_WAIT_SECONDS = 5.0
"""The setting's default. One that was admitted to the queue and had no turn by then is refused then, not at once."""
HUNG_SECONDS = 60.0
"""A request without a complete answer after so long hangs: no request waits longer than 5 s, and the texts last 3 s."""
REFUSAL_SECONDS = 0.05
HEARD_IN_TIME = 0.95
"""Share of those heard whose first audio came within `max_wait_seconds`, at least."""
IN_VAIN = 0.01
"""Share of all requests that were refused only after they had waited, at most."""
SLOPE_MB_PER_MINUTE = 1.0
SAMPLE_SECONDS = 5.0
SETTLING_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One request: its status, 0 where it hung; seconds to the first byte of the body and to the last, and of audio."""

    status: int
    first: float
    total: float
    audio: float


async def ask(port: int, text: str, key: str) -> Answer:
    """Send one request on a connection of its own, as a new listener does, and read all of the answer."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(HUNG_SECONDS):
            return await _exchange(port, text, key, began)
    except TimeoutError:
        return Answer(0, HUNG_SECONDS, HUNG_SECONDS, 0.0)


async def _exchange(port: int, text: str, key: str, began: float) -> Answer:
    body = json.dumps({"input": text, "model": MODEL, "voice": "af_heart", "response_format": "pcm"}).encode()
    head = (
        f"POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head.encode() + body)
        status = int((await reader.readuntil(b"\r\n\r\n")).split()[1])
        received = len(await reader.read(65_536))
        first = time.monotonic() - began
        while piece := await reader.read(65_536):
            received += len(piece)
    finally:
        writer.close()
    return Answer(status, first, time.monotonic() - began, received / 48_000 if status == 200 else 0.0)


async def measured_rate(port: int, seconds: float) -> float:
    """Texts a second that the server completes when it has always enough to do."""
    until, done = time.monotonic() + seconds, 0

    async def client(number: int) -> None:
        nonlocal done
        while time.monotonic() < until:
            answer = await ask(port, HARVARD_SENTENCES[number % len(HARVARD_SENTENCES)], KEYS[number % len(KEYS)])
            done += answer.status == 200
            await asyncio.sleep(0 if answer.status == 200 else 0.2)

    began = time.monotonic()
    await asyncio.gather(*(client(number) for number in range(8)))
    return done / (time.monotonic() - began)


async def overload(port: int, seconds: float) -> list[Answer]:
    """Requests at random times, four times as many as the server can speak, whether or not others were answered."""
    rate = await measured_rate(port, min(30.0, seconds / 4))
    print(json.dumps({"texts_per_second": round(rate, 2), "offered_per_second": round(OVERLOAD * rate, 2)}), flush=True)
    chance, tasks, due = random.Random(0), [], time.monotonic()
    end = due + seconds
    while (due := due + chance.expovariate(OVERLOAD * rate)) < end:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.create_task(ask(port, chance.choice(HARVARD_SENTENCES), chance.choice(KEYS))))
    return await asyncio.gather(*tasks)


async def soak(port: int, seconds: float) -> list[Answer]:
    """One listener after another, with a pause between."""
    until, answers = time.monotonic() + seconds, list[Answer]()
    while time.monotonic() < until:
        text = HARVARD_SENTENCES[len(answers) % len(HARVARD_SENTENCES)]
        answers.append(await ask(port, text, KEYS[len(answers) % len(KEYS)]))
        await asyncio.sleep(0.5)
    return answers


async def watched(
    container: ImageContainer, trial: Awaitable[list[Answer]]
) -> tuple[list[Answer], list[tuple[float, float]]]:
    """The trial's answers, and the container's memory in MB by seconds."""
    samples: list[tuple[float, float]] = []

    async def watch() -> None:
        began = time.monotonic()
        while True:
            memory = await asyncio.to_thread(container.resident_bytes)
            samples.append((time.monotonic() - began, memory / 1e6))
            await asyncio.sleep(SAMPLE_SECONDS)

    watching = asyncio.create_task(watch())
    try:
        return await trial, samples
    finally:
        watching.cancel()


def settled(samples: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those after the first five minutes, or in the second half of a shorter trial.

    Until then caches fill, and the allocator keeps what the most pieces at once have needed.
    """
    begin = min(SETTLING_SECONDS, samples[-1][0] / 2)
    return [sample for sample in samples if sample[0] >= begin]


def slope_per_minute(samples: list[tuple[float, float]]) -> float:
    """Growth in MB a minute by least squares."""
    times, memory = zip(*samples, strict=True)
    return statistics.linear_regression(times, memory).slope * 60.0


def quantile(values: list[float], share: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 4) if values else 0.0


def figures(answers: list[Answer], samples: list[tuple[float, float]]) -> dict[str, float]:
    """What a run showed; times in seconds, memory in MB."""
    heard = [answer.first for answer in answers if answer.status == 200]
    refusals = [answer.total for answer in answers if answer.status == 429]
    refused = [seconds for seconds in refusals if seconds < MAX_WAIT_SECONDS]
    memory, kept = [value for _, value in samples], settled(samples)
    return {
        "asked": len(answers),
        "heard": len(heard),
        "refused_at_once": len(refused),
        "waited_in_vain": len(refusals) - len(refused),
        "hung": sum(answer.status == 0 for answer in answers),
        "other": sum(answer.status not in (0, 200, 429) for answer in answers),
        "audio_seconds": round(sum(answer.audio for answer in answers)),
        "first_audio_p50": quantile(heard, 0.5),
        "first_audio_p95": quantile(heard, 0.95),
        "heard_in_time": round(sum(seconds <= MAX_WAIT_SECONDS for seconds in heard) / max(1, len(heard)), 4),
        "refusal_p50": quantile(refused, 0.5),
        "refusal_p95": quantile(refused, 0.95),
        "refusal_p99": quantile(refused, 0.99),
        "refusal_max": quantile(refused, 1.0),
        "memory_first": round(memory[0], 1),
        "memory_settled": round(kept[0][1], 1),
        "memory_last": round(memory[-1], 1),
        "memory_max": round(max(memory), 1),
        "slope_mb_per_minute": round(slope_per_minute(kept), 3),
    }


def broken_promises(found: dict[str, float]) -> list[str]:
    """What should not have been so."""
    checks = {
        "requests hang": found["hung"] > 0,
        "requests failed": found["other"] > 0,
        "requests that were admitted are not heard within the wait that they accept": found["heard_in_time"]
        < HEARD_IN_TIME,
        "requests wait in vain": found["waited_in_vain"] > IN_VAIN * found["asked"],
        "refusals take longer than 50 ms at the 99th percentile": found["refusal_p99"] > REFUSAL_SECONDS,
        "memory grows": found["slope_mb_per_minute"] >= SLOPE_MB_PER_MINUTE,
    }
    return [sentence for sentence, broken in checks.items() if broken]


def run(tag: str, trial: Callable[[int, float], Awaitable[list[Answer]]], port: int, seconds: float) -> list[str]:
    """Start the image, run a trial against it, stop it, and say what was broken."""
    environment = {"POLYVOX_API_KEYS": ",".join(KEYS), "POLYVOX_PORT": str(port), "POLYVOX_LOG_LEVEL": "warning"}
    environment |= {"POLYVOX_MODELS": MODEL, "POLYVOX_DEFAULT_MODEL": MODEL}
    with tempfile.TemporaryDirectory() as folder, running_image(tag, Path(folder), environment) as container:
        answers, samples = asyncio.run(watched(container, trial(port, seconds)))
        found = figures(answers, samples)
        lines = httpx.get(f"{container.url}/metrics", headers={"Authorization": f"Bearer {KEYS[0]}"}).text.splitlines()
        found["sessions_left"] = next(
            float(line.split()[1]) for line in lines if line.startswith("polyvox_active_sessions")
        )
        found["exit_status"] = container.stop(60)
    every = round(60 / SAMPLE_SECONDS)
    print(json.dumps({"memory_by_minute": [round(memory) for _, memory in samples[::every]]}))
    print(json.dumps(found), flush=True)
    return broken_promises(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trial", choices=("overload", "soak"))
    parser.add_argument("--image", default="localhost/polyvox:cpu")
    parser.add_argument("--seconds", type=float, help="600 for overload and 1800 for soak unless given")
    arguments = parser.parse_args()
    trial, usual = {"overload": (overload, 600.0), "soak": (soak, 1800.0)}[arguments.trial]
    if broken := run(arguments.image, trial, PORTS[arguments.trial], arguments.seconds or usual):
        sys.exit("; ".join(broken))


if __name__ == "__main__":
    main()
