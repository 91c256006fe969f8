"""Waits of a screen reader's user: `polyvox speechd` beside the engine alone.

    python -m benchmarks.screen_reader [--rounds 10] [--starts 3]

The module runs in a process of its own, as Speech Dispatcher starts it: from its first instruction to the first audio
of a word, then phrases of one to three words that it has not spoken before, letters, and stops. The engine runs in
this process and takes turns with it on the same phrases, so that a busy machine slows both. A first start is not
counted: it compiles the package, as its installation does, and keeps the optimised front. Wall time, and the CPU time
of a start; under a minute on two idle cores. Linux only.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import islice, product
from pathlib import Path
from typing import cast

import numpy as np

from polyvox.engines.base import Engine
from polyvox.installation import settings_loader
from polyvox.service.local_service import running_service
from polyvox.types import AudioChunk, Utterance

NOUNS = (
    "desktop downloads calendar trash terminal settings bookmarks printer network music camera clipboard keyboard "
    "messages pictures weather documents recent devices windows"
).split()
VERBS = ("open", "close", "save", "print", "move", "copy", "share", "find")
THINGS = ("file", "menu", "window", "page", "button")
LONG = "A long sentence is stopped while it is heard, because the user has pressed another key in the meantime. "
VOICE = "af_heart"
MODEL = "wren"
_UNCOUNTED = 2
_IDLE_TICKS = 5
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Module:
    """The command in a process of its own, and its pipes; a word is heard before it is measured further."""

    def __init__(self, bytecode: str) -> None:
        began = time.perf_counter()
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "polyvox", "speechd", "--model", MODEL, "--voice", VOICE]
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.wait_for("INIT\n", b"299 ")
        self.ready_seconds = time.perf_counter() - began
        self.ready_cpu_seconds = self._ticks() / _TICKS_A_SECOND
        self.wait_for("SPEAK\nHello\n.\n", b"705-AUDIO")
        self.first_word_seconds = time.perf_counter() - began
        self.wait_for("", b"702 ")

    def wait_for(self, said: str, event: bytes) -> float:
        """Say something; seconds until a line begins with the event."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        began = time.perf_counter()
        self._process.stdin.write(said.encode())
        self._process.stdin.flush()
        while not (line := self._process.stdout.readline()).startswith(event):
            if not line:
                raise SystemExit("the module has ended")
        return time.perf_counter() - began

    def wait_until_idle(self) -> None:
        """Wait until the letters and keys are made."""
        before = -_IDLE_TICKS
        while (ticks := self._ticks()) - before >= _IDLE_TICKS:
            before = ticks
            time.sleep(0.5)

    def _ticks(self) -> int:
        times = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(times[11]) + int(times[12])

    def close(self) -> None:
        self.wait_for("QUIT\n", b"210 ")
        self._process.communicate(timeout=60)


async def measure(rounds: int, starts: int) -> None:
    """Print the table."""
    rows: dict[str, list[float]] = {}
    module, began = _started(rows, starts), time.perf_counter()
    module.wait_until_idle()
    rows["letters and keys made"] = [time.perf_counter() - began]
    settings = settings_loader().load(models=[MODEL], default_model=MODEL, log_level="error")
    async with running_service(settings) as service:
        engine = service.registry.engine(None)
        for index, phrases in enumerate(zip(*_phrases(rounds + _UNCOUNTED), strict=True)):
            found: dict[str, float] = {}
            found["engine alone, words: 2"] = await _first_audio(engine, phrases[1])
            for words, phrase in enumerate(phrases, 1):
                found[f"first audio, words: {words}"] = module.wait_for(f"SPEAK\n{phrase}\n.\n", b"705-AUDIO")
                module.wait_for("", b"702 ")
            found["first audio, letter"] = module.wait_for("CHAR\ne\n.\n", b"705-AUDIO")
            module.wait_for("", b"702 ")
            module.wait_for(f"SPEAK\n{LONG * 5}\n.\n", b"705-AUDIO")
            found["stop"] = module.wait_for("STOP\n", b"703 ")
            if index >= _UNCOUNTED:
                for name, seconds in found.items():
                    rows.setdefault(name, []).append(seconds)
    module.close()
    _print(rows)


def _started(rows: dict[str, list[float]], starts: int) -> Module:
    """The last of so many modules that are started one after another."""
    with tempfile.TemporaryDirectory() as bytecode:
        module = Module(bytecode)
        for _ in range(starts):
            module.close()
            module = Module(bytecode)
            rows.setdefault("start to ready", []).append(module.ready_seconds)
            rows.setdefault("start to first word", []).append(module.first_word_seconds)
            rows.setdefault("CPU time of a start", []).append(module.ready_cpu_seconds)
        return module


def _phrases(count: int) -> tuple[list[str], list[str], list[str]]:
    """So many phrases of one word, of two and of three; none twice."""
    pairs = list(islice(product(VERBS, THINGS), count))
    return NOUNS[:count], [f"{verb} {thing}" for verb, thing in pairs], [f"{verb} the {thing}" for verb, thing in pairs]


async def _first_audio(engine: Engine, phrase: str) -> float:
    began = time.perf_counter()
    speech = cast("AsyncGenerator[AudioChunk, None]", engine.speak(Utterance(phrase, VOICE)))
    async with aclosing(speech) as chunks:
        await anext(chunks)
        return time.perf_counter() - began


def _print(rows: dict[str, list[float]]) -> None:
    print(f"{'wait, in ms':28} {'times':>5} {'p50':>8} {'p95':>8} {'worst':>8}")
    for name, seconds in rows.items():
        p50, p95, worst = 1000 * np.percentile(seconds, [50, 95, 100])
        print(f"{name:28} {len(seconds):5} {p50:8.1f} {p95:8.1f} {worst:8.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, choices=range(1, len(NOUNS) - 1), metavar="ROUNDS")
    parser.add_argument("--starts", type=int, default=3)
    given = parser.parse_args()
    asyncio.run(measure(given.rounds, max(1, given.starts)))
