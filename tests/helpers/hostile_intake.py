"""Hand every hostile file to the intake and print what became of it: a process of its own, so that its memory tells.

The peak given for the children is that of the largest decoder, or of this process when it started one if that is more.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from helpers.hostile import FILES
from polyvox.config import Settings
from polyvox.errors import PolyvoxError, status_of
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording.intake import RecordingIntake
from polyvox.voices.recording.vad import SileroVad


async def outcome(intake: RecordingIntake, limits: PromptLimits, data: bytes) -> dict[str, object]:
    started = time.perf_counter()
    try:
        await intake.take(data, limits)
    except PolyvoxError as error:
        refusal = {"error": type(error).__name__, "status": status_of(error).http, "message": error.message}
    else:
        refusal = {"error": "none", "status": 200, "message": ""}
    return {**refusal, "seconds": time.perf_counter() - started}


async def work(
    intake: RecordingIntake, limits: PromptLimits, names: Iterator[str], outcomes: dict[str, object]
) -> None:
    for name in names:
        outcomes[name] = await outcome(intake, limits, FILES[name]())


def own_peak() -> int:
    """Kilobytes this program has held at most. `ru_maxrss` would count the memory of whoever started it."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


async def main() -> None:
    settings = Settings()
    intake = RecordingIntake(settings, SileroVad())
    names, outcomes = iter(FILES), {}
    await asyncio.gather(*(work(intake, PromptLimits.of(settings), names, outcomes) for _ in range(2)))
    peaks = {
        "own": own_peak(),
        "children": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
    }
    sys.stdout.write(json.dumps({"outcomes": outcomes, "kilobytes": peaks}))


asyncio.run(main())
