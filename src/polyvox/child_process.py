"""Child processes: few variables of the environment, a session of their own, and an end with all that they started."""

import asyncio
import logging
import os
import signal
import subprocess
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

_log = logging.getLogger(__name__)

_ENVIRONMENT: Final = (
    "CUDA_VISIBLE_DEVICES",
    "DYLD_LIBRARY_PATH",
    "ESPEAK_DATA_PATH",
    "HOME",
    "LD_LIBRARY_PATH",
    "PATH",
)
"""All that a child needs to find its libraries, data and device. Other variables may hold keys."""
# A killed process with gigabytes of memory takes a moment to go on a busy machine.
_END_SECONDS: Final = 5.0


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | dict(own)


async def start_child(
    *command: str, environment: Mapping[str, str] = MappingProxyType({}), limit: int = 65_536, quiet: bool = False
) -> Process:
    """Start a child with pipes; OSError where that fails.

    `environment` are variables of its own, `limit` is the length of its longest line, and `quiet` drops what it writes
    to standard error.
    """
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL if quiet else None,
        cwd="/",
        env=_environment(environment),
        limit=limit,
        start_new_session=True,
    )


async def end_child(child: Process, seconds: float = _END_SECONDS) -> None:
    """Kill a child with its session, and wait until it is gone, at most so long; also where the caller is cancelled."""
    await asyncio.shield(_ended(child, seconds))


async def _ended(child: Process, seconds: float) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    if child.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.stdin.close()
    try:
        async with asyncio.timeout(seconds):
            # What it still wrote is read, so that the pipe closes.
            while await child.stdout.read(1 << 16):
                pass
            await child.wait()
    except TimeoutError:
        _log.error("the child process %d left something running", child.pid)


def start_controlled_child(
    command: Sequence[str], control: int, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a child that has a socket for its standard input and ends when that is closed; OSError where that fails."""
    return subprocess.Popen(  # noqa: S603 - an argument list of ours
        command,
        cwd="/",
        stdin=control,
        stdout=DEVNULL,
        env=_environment(environment),
        start_new_session=True,
    )


def start_blocking_child(command: Sequence[str], folder: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a child for a thread that waits for its answers; OSError where that fails. Its errors are dropped."""
    return subprocess.Popen(  # noqa: S603 - an argument list of ours
        command,
        cwd=folder,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=_environment({}),
    )


def end_blocking_child(child: subprocess.Popen[bytes]) -> None:
    """Kill a child, close its pipes and wait until it is gone."""
    child.kill()
    with suppress(BrokenPipeError), child:
        pass
