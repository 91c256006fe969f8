"""A fit in a process of its own, seen from the server: its steps as they come, and its end whenever it is wanted."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import structlog

from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.engines.kit.fit_protocol import FitRequest
from polyvox.engines.spec import VoiceFitting
from polyvox.errors import BundleError, EngineError, PromptError, UnavailableError
from polyvox.types import Pcm
from polyvox.voices.fitted import KEY, FittedStyle, fitted_style

_log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_LONGEST_LINE = 65_536
# A killed process is as good as gone, but one with gigabytes takes a moment on a busy machine.
_ENDING_SECONDS = 5.0
# Nothing else of this server's environment, where keys may be.
_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "HOME")


@dataclass(frozen=True, slots=True)
class FitStep:
    """A step that is done, of how many, and how alike its sentences were; step 0 is the start, when all is loaded."""

    step: int
    steps: int
    similarity: float | None


def installed_fitting() -> VoiceFitting:
    """The way of fitting that this installation has."""
    found = next(Catalog.installed().fittings(), None)
    if found is None:
        raise UnavailableError("No engine here can fit a voice to a recording.")
    return found


async def fitted_in_child(settings: Settings, pcm: Pcm, rate: int, seed: int) -> AsyncGenerator[FitStep | FittedStyle]:
    """The steps of one fit, and last its style. The process is gone when this is closed."""
    request = FitRequest(
        models_dir=str(settings.models_dir.absolute()),
        sample_rate=rate,
        samples=len(pcm),
        steps=settings.fit_steps,
        seed=seed,
        threads=settings.fit_threads,
    )
    async with _child(settings) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(request.packed(pcm))
            await child.stdin.drain()
            while line := await child.stdout.readline():
                yield _news(json.loads(line))
        except (OSError, ValueError) as error:
            raise EngineError("The fit broke off; the server's log has the cause.") from error


def _news(told: Mapping[str, Any]) -> FitStep | FittedStyle:
    if "error" in told:
        raise (BundleError if told["missing"] else PromptError)(told["error"])
    if "style" in told:
        style = fitted_style({KEY: told["style"]})
        assert style is not None
        return style
    return FitStep(told["step"], told["steps"], told["similarity"])


@asynccontextmanager
async def _child(settings: Settings) -> AsyncIterator[Process]:
    """A process that waits for its recording. It is gone when the block is left."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    threads = {"OMP_NUM_THREADS": str(settings.fit_threads)} if settings.fit_threads else {}
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-m",
            installed_fitting().worker,
            stdin=PIPE,
            stdout=PIPE,
            cwd="/",
            env={**kept, **threads},
            limit=_LONGEST_LINE,
            start_new_session=True,
        )
    except OSError as error:
        raise UnavailableError(f"The process for the fit cannot be started: {error.strerror}.") from error
    try:
        yield child
    finally:
        await asyncio.shield(_end(child))


async def _end(child: Process) -> None:
    assert child.stdin is not None
    if child.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.stdin.close()
    try:
        async with asyncio.timeout(_ENDING_SECONDS):
            await child.wait()
    except TimeoutError:
        _log.error("a fit left its process running", child=child.pid)
