"""Several engines on one GPU in one run: `python -m benchmarks.one_gpu wren=1,64,128 zipvoice=1,4,16,64 --out FOLDER`.

All start together, for most of a start is not the GPU's work, and are measured one after another: each by
`benchmarks.streams_gpu`, which writes its rows into the folder as they come. Further options are handed to it.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.seeded_engines import ENGINES

_ENDING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """An engine, and the numbers of streams at once for which it is measured."""

    engine: str
    at_once: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> "Wanted":
        """`wren=1,64`."""
        engine, _, counts = text.partition("=")
        if engine not in ENGINES:
            raise argparse.ArgumentTypeError(f"there is no {engine!r}; engines are {', '.join(ENGINES)}")
        return cls(engine, tuple(map(int, (counts or "1,4,16,64").split(","))))

    def command(self, folder: Path, options: Sequence[str]) -> list[str]:
        at_once = ["--at-once", *map(str, self.at_once)]
        out = ["--out", str(folder / f"{self.engine}.json")]
        return [sys.executable, "-m", "benchmarks.streams_gpu", "--engine", self.engine, *at_once, *out, *options]


def measure(wanted: Sequence[Wanted], folder: Path, options: Sequence[str], limit: float) -> int:
    """Measure all; the number of those that did not come to their end within so many seconds."""
    until = time.monotonic() + limit
    with _started([each.command(folder, [*options, "--wait"]) for each in wanted]) as processes:
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.close()
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                print("not ended in time:", process.args, flush=True)
        return sum(process.poll() != 0 for process in processes)


@contextmanager
def _started(commands: Sequence[Sequence[str]]) -> Iterator[list[subprocess.Popen[bytes]]]:
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE) for command in commands]  # noqa: S603 - our own
    try:
        yield processes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(_ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="+", type=Wanted.parse, metavar="ENGINE=COUNTS")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--limit", type=float, default=3_600.0, help="seconds for all of them")
    given, options = parser.parse_known_args()
    given.out.mkdir(parents=True, exist_ok=True)
    sys.exit(min(1, measure(given.wanted, given.out, options, given.limit)))


if __name__ == "__main__":
    main()
