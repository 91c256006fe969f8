"""The worth of several processes of doors: requests a second, and how evenly they begin to speak.

    python -m benchmarks.door_workers --workers 1 2 4 --streams 64 --seconds 10

For each number of workers it starts a server with an engine that takes 12 ms a chunk and no CPU, lets `streams`
clients in processes of their own ask for speech one request after another, and prints a line of JSON: requests a
second, the CPU time of a request in each process (the first, the models', the doors'), and the median time to the
first audio by process of doors with the difference between the quickest and the slowest. It needs neither a model nor a
network. The figures mean something where there are cores for all: `--workers 4` wants at least twelve.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.tone_server import MODEL
from polyvox.bench.process import cpu_seconds_of, server_process

_TEXT = "The quick brown fox jumps over the lazy dog, and then sits down to think about it for a while."
_WARM_SECONDS = 1.0
_READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """One request: its id, when it was sent, and the seconds until its first audio and its end."""

    request: str
    sent: float
    first_audio: float
    seconds: float


async def _client(address: tuple[str, int], name: str, audio_format: str, until: float) -> list[Answer]:
    """Ask for speech on one connection after another, so that every request may reach any process."""
    body = json.dumps({"model": MODEL, "input": _TEXT, "voice": MODEL, "response_format": audio_format}).encode()
    answers: list[Answer] = []
    while time.time() < until:
        request = f"{name}-{len(answers)}"
        head = (
            f"POST /v1/audio/speech HTTP/1.1\r\nHost: {address[0]}\r\nContent-Type: application/json\r\n"
            f"X-Request-Id: {request}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        sent, began = time.time(), time.perf_counter()
        reader, writer = await asyncio.open_connection(*address)
        writer.write(head.encode() + body)
        status = await reader.readuntil(b"\r\n\r\n")
        if not status.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"the server answered {status.decode(errors='replace')}")
        await reader.read(_READ_BYTES)
        first = time.perf_counter() - began
        while await reader.read(_READ_BYTES):
            continue
        writer.close()
        answers.append(Answer(request, sent, first, time.perf_counter() - began))
    return answers


def _clients(address: tuple[str, int], names: Sequence[str], audio_format: str, until: float) -> list[Answer]:
    async def run() -> list[Answer]:
        found = await asyncio.gather(*(_client(address, name, audio_format, until) for name in names))
        return [answer for answers in found for answer in answers]

    return asyncio.run(run())


def _processes(first: int) -> list[int]:
    """A server's processes: the first, and those that it has started."""
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [first, *(int(pid) for pid in children)]


def measure(workers: int, streams: int, seconds: float, clients: int, audio_format: str) -> dict[str, object]:
    """The figures of a server with some number of workers."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        settings = {
            "workers": workers,
            "port": 0,
            "data_dir": str(Path(folder) / "data"),
            "max_sessions": 2 * streams,
            "max_queue": 2 * streams,
            "adaptive_sessions": False,
        }
        with server_process([json.dumps(settings)], module="benchmarks.tone_server", log=log) as server:
            parts = urlsplit(server.url)
            address = (str(parts.hostname), int(parts.port or 0))
            names = [f"c{number}" for number in range(streams)]
            with multiprocessing.get_context("spawn").Pool(clients) as pool:
                warm = time.time() + _WARM_SECONDS
                pool.starmap(_clients, [(address, [f"warm{each}"], audio_format, warm) for each in range(clients)])
                before = {pid: cpu_seconds_of(pid) for pid in _processes(server.pid)}
                began, until = time.time(), time.time() + seconds
                shares = [(address, names[each::clients], audio_format, until) for each in range(clients)]
                answers = [answer for found in pool.starmap(_clients, shares) for answer in found]
                spent = {pid: cpu_seconds_of(pid) - before[pid] for pid in before}
            elapsed = max(answer.sent + answer.seconds for answer in answers) - began
        spoke = _spoken_by(log)
    firsts: dict[int, list[float]] = defaultdict(list)
    for answer in answers:
        firsts[spoke.get(answer.request, 0)].append(answer.first_audio)
    medians = {process: statistics.median(found) for process, found in sorted(firsts.items())}
    return {
        "workers": workers,
        "streams": streams,
        "format": audio_format,
        "requests_a_second": round(len(answers) / elapsed, 1),
        "cpu_ms_a_request": [round(1000 * cpu / len(answers), 2) for cpu in spent.values()],
        "first_audio_ms": {process: round(1000 * median, 1) for process, median in medians.items()},
        "spread_ms": round(1000 * (max(medians.values()) - min(medians.values())), 1),
        "requests_by_process": {process: len(found) for process, found in sorted(firsts.items())},
        "cores": os.cpu_count(),
    }


def _spoken_by(log: Path) -> dict[str, int]:
    """The process that answered each request, by the lines of its sessions; 0 of a server that is one process."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{") and '"session"' in line]
    return {line["request_id"]: line.get("process", 0) for line in lines if line.get("event") == "session"}


def main() -> None:
    """Measure each number of workers."""
    parser = argparse.ArgumentParser(description="Requests a second and first audio by the number of workers.")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=max(1, min(6, (os.cpu_count() or 1) // 2)))
    parser.add_argument("--format", default="mp3", choices=["pcm", "wav", "mp3", "opus", "flac"])
    arguments = parser.parse_args()
    for workers in arguments.workers:
        figures = measure(workers, arguments.streams, arguments.seconds, arguments.clients, arguments.format)
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
