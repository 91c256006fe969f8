"""CPU time and first audio of a server that marks its speech, against one that does not; the engine costs nothing.

python -m benchmarks.provenance_cost --rounds 5
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from polyvox.bench.engine import SETTLE_SECONDS
from polyvox.bench.process import ServerProcess, server_process
from polyvox.bench.raw_http import connection_to, timed_request
from polyvox.bench.texts import PARAGRAPH
from polyvox.provenance.signing_key import SigningKey

MODES = ("off", "tags", "signed")
FORMATS = ("wav", "mp3")
REQUESTS = 10
"""In a row to one server: CPU time is counted in hundredths of a second."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds of a request for 20 seconds of audio, and milliseconds until its first byte."""

    cpu: float
    first: float


def cost_of(server: ServerProcess, audio_format: str) -> Cost:
    """Some requests one after the other, on one connection."""
    before = server.cpu_seconds()
    with connection_to(server.url) as connection:
        timings = [
            timed_request(connection, PARAGRAPH, voice="null", model="null", audio_format=audio_format)
            for _ in range(REQUESTS)
        ]
    time.sleep(SETTLE_SECONDS)
    cpu = (server.cpu_seconds() - before) / REQUESTS
    return Cost(1000 * cpu, 1000 * statistics.median(timing.first for timing in timings))


def measured(rounds: int) -> Mapping[tuple[str, str], list[Cost]]:
    """Costs by format and mode; the modes take turns, so that a machine that slows down slows all of them."""
    found: dict[tuple[str, str], list[Cost]] = {(kind, mode): [] for kind in FORMATS for mode in MODES}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        SigningKey.create(Path(folder) / "provenance")
        servers = {
            mode: stack.enter_context(
                server_process(["bench", "null-server"], {"POLYVOX_PROVENANCE": mode, "POLYVOX_DATA_DIR": folder})
            )
            for mode in MODES
        }
        for turn in range(rounds + 1):
            for kind, mode in found:
                cost = cost_of(servers[mode], kind)
                if turn:  # the first warms up
                    found[kind, mode].append(cost)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    costs = measured(parser.parse_args().rounds)
    print("| format | provenance | CPU, ms a request (least) | first audio, ms (least) |")
    print("|---|---|---|---|")
    for (kind, mode), found in costs.items():
        cpu, first = [cost.cpu for cost in found], [cost.first for cost in found]
        print(
            f"| {kind} | {mode} | {statistics.median(cpu):.2f} ({min(cpu):.2f}) "
            f"| {statistics.median(first):.2f} ({min(first):.2f}) |"
        )


if __name__ == "__main__":
    main()
