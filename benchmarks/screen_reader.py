"""Waits of a screen reader's user: `polyvox speechd` beside the engine alone.

    python -m benchmarks.screen_reader [--rounds 20]

The module runs in a process of its own, as Speech Dispatcher starts it, and the engine in this one; they take turns
with the same phrases of one to three words, so that a busy machine slows both. Wall seconds, medians.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import islice, product
from pathlib import Path
from statistics import median
from typing import cast

from polyvox.installation import settings_loader
from polyvox.service.local_service import running_service
from polyvox.types import AudioChunk, Utterance

VERBS = ("open", "close", "save", "print", "move", "copy", "share", "find")
THINGS = ("file", "menu", "window", "all pages", "the link", "button")
LONG = "A long sentence is stopped while it is heard, because the user has pressed another key in the meantime. "
VOICE = "af_heart"
_UNCOUNTED = 2
_IDLE_TICKS = 5


class Module:
    """The command in a process of its own, and its pipes."""

    def __init__(self, *options: str) -> None:
        began = time.perf_counter()
        command = [sys.executable, "-m", "polyvox", "speechd", *options]
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.wait_for("INIT\n", b"299 ")
        self.start_seconds = time.perf_counter() - began

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
        """Wait until the letters and keys are made; on Linux."""
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


async def measure(rounds: int) -> None:
    """Print the table."""
    phrases = [f"{verb} {thing}" for verb, thing in islice(product(VERBS, THINGS), rounds + _UNCOUNTED)]
    module = Module("--model", "wren", "--voice", VOICE)
    settings = settings_loader().load(models=["wren"], default_model="wren", log_level="error")
    began = time.perf_counter()
    module.wait_until_idle()
    print(f"letters and keys made after {time.perf_counter() - began:.1f} s")
    alone: list[float] = []
    heard: list[float] = []
    letters: list[float] = []
    stops: list[float] = []
    async with running_service(settings) as service:
        engine = service.registry.engine(None)
        for phrase in phrases:
            began = time.perf_counter()
            speech = cast("AsyncGenerator[AudioChunk, None]", engine.speak(Utterance(phrase, VOICE)))
            async with aclosing(speech) as chunks:
                await anext(chunks)
                alone.append(time.perf_counter() - began)
            heard.append(module.wait_for(f"SPEAK\n{phrase}\n.\n", b"705-AUDIO"))
            module.wait_for("", b"702 ")
            module.wait_for("CHAR\ne\n.\n", b"702 ")
            letters.append(module.wait_for("CHAR\ne\n.\n", b"705-AUDIO"))
            module.wait_for("", b"702 ")
            module.wait_for(f"SPEAK\n{LONG * 5}\n.\n", b"705-AUDIO")
            stops.append(module.wait_for("STOP\n", b"703 "))
    module.close()
    rows = {
        "first audio, engine alone": alone[_UNCOUNTED:],
        "first audio, module": heard[_UNCOUNTED:],
        "letter": letters,
        "stop": stops,
    }
    print(f"start to ready: {module.start_seconds:.2f} s")
    for name, seconds in rows.items():
        print(f"{name:28} {1000 * median(seconds):7.1f} ms  (worst {1000 * max(seconds):.1f})")
    print(f"module / engine alone: {median(heard[_UNCOUNTED:]) / median(alone[_UNCOUNTED:]):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    asyncio.run(measure(parser.parse_args().rounds))
