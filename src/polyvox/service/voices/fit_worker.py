"""Run one fit in a worker process: yields its steps as they come, and kills it whenever it is closed."""

import json
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from polyvox.child_process import end_child, start_child
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.engines.kit.fit_protocol import FitRequest
from polyvox.engines.spec import VoiceFitting
from polyvox.errors import BundleError, EngineError, PromptError, UnavailableError
from polyvox.types import Pcm
from polyvox.voices.fitted import KEY, FittedStyle, fitted_style

_MAX_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class FitStep:
    """A finished step, of how many, and the similarity of its sentences; step 0 is the start, when all is loaded."""

    step: int
    steps: int
    similarity: float | None


def installed_fitting() -> VoiceFitting:
    """The installed engine's way to fit a voice; `UnavailableError` where no engine has one."""
    found = next(Catalog.installed().fittings(), None)
    if found is None:
        raise UnavailableError("No installed engine can fit a voice to a recording.")
    return found


async def fit_in_process(settings: Settings, pcm: Pcm, rate: int, seed: int) -> AsyncGenerator[FitStep | FittedStyle]:
    """Yield the steps of one fit, and last its style. The process is gone when this generator is closed."""
    request = FitRequest(
        models_dir=str(settings.models_dir.absolute()),
        sample_rate=rate,
        samples=len(pcm),
        steps=settings.fit_steps,
        seed=seed,
        threads=settings.fit_threads,
    )
    async with _worker(settings) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(request.packed(pcm))
            await worker.stdin.drain()
            while line := await worker.stdout.readline():
                yield _parsed(json.loads(line))
        except (OSError, ValueError) as error:
            raise EngineError("The fit broke off; the server's log has the cause.") from error


def _parsed(message: Mapping[str, Any]) -> FitStep | FittedStyle:
    if "error" in message:
        raise (BundleError if message["missing"] else PromptError)(message["error"])
    if "style" in message:
        style = fitted_style({KEY: message["style"]})
        assert style is not None
        return style
    return FitStep(message["step"], message["steps"], message["similarity"])


@asynccontextmanager
async def _worker(settings: Settings) -> AsyncIterator[Process]:
    """Start a worker that waits for its recording; it is gone when the block is left."""
    threads = {"OMP_NUM_THREADS": str(settings.fit_threads)} if settings.fit_threads else {}
    command = (sys.executable, "-I", "-m", installed_fitting().worker)
    try:
        worker = await start_child(*command, environment=threads, limit=_MAX_LINE_BYTES)
    except OSError as error:
        raise UnavailableError(f"The process for the fit cannot be started: {error.strerror}.") from error
    try:
        yield worker
    finally:
        await end_child(worker)
