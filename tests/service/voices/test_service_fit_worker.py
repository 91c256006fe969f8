"""A fit's worker process: gone at once when the fit is closed, and when the server is killed."""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from helpers.fakes import tone_settings
from helpers.serving import wait_for
from polyvox.engines.kokoro.fitting import worker
from polyvox.errors import BundleError
from polyvox.service.voices.fit_worker import FitStep, fit_in_process

NOISE = np.random.default_rng(0).uniform(-0.1, 0.1, 24_000).astype(np.float32)

SERVER = """
import asyncio, sys
from pathlib import Path
import numpy as np
from polyvox.installation import load_settings
from polyvox.service.voices.fit_worker import fit_in_process

async def fit():
    pcm = np.random.default_rng(0).uniform(-0.1, 0.1, 24_000).astype(np.float32)
    async for step in fit_in_process(load_settings(models_dir=Path(sys.argv[1]), fit_threads=1), pcm, 24_000, 0):
        print(step, flush=True)

asyncio.run(fit())
"""


def fits_of(parent: int) -> list[int]:
    """The running workers that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state, started_by, *_ = (path / "stat").read_text().rpartition(")")[2].split()
            command = (path / "cmdline").read_text()
        except OSError:
            continue
        if int(started_by) == parent and state != "Z" and worker.__name__ in command:
            found.append(int(path.name))
    return found


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def steps_of(settings, wanted: int) -> list[FitStep]:
    """The first steps of a fit that is then closed."""
    steps: list[FitStep] = []
    async with aclosing(fit_in_process(settings, NOISE, 24_000, 0)) as progress:
        async for step in progress:
            steps.append(step)
            if len(steps) == wanted:
                break
    return steps


@pytest.mark.long
@pytest.mark.anyio
async def test_missing_models_are_an_error(tmp_path):
    with pytest.raises(BundleError, match="polyvox pull"):
        await steps_of(tone_settings(models_dir=tmp_path), 1)
    assert fits_of(os.getpid()) == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_fit_that_is_closed_or_cancelled_ends_its_worker(models_dir, installed):
    installed("campplus")
    settings = tone_settings(models_dir=models_dir, fit_threads=1)
    (start,) = await steps_of(settings, 1)
    assert (start.step, start.similarity) == (0, None)
    assert start.steps > 0
    assert fits_of(os.getpid()) == []
    task = asyncio.create_task(steps_of(settings, 1_000))
    await asyncio.to_thread(wait_for, lambda: bool(fits_of(os.getpid())), 30.0)
    began = time.monotonic()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert fits_of(os.getpid()) == []
    assert time.monotonic() - began < 10.0


@pytest.mark.slow
def test_a_fit_ends_when_its_server_is_killed(models_dir, installed, tmp_path):
    installed("campplus")
    command = [sys.executable, "-c", SERVER, str(models_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, text=True) as server:
        assert server.stdout is not None
        assert "step=0" in server.stdout.readline()
        (child,) = fits_of(server.pid)
        server.kill()
    wait_for(lambda: not alive(child), 10.0)
    assert list(tmp_path.iterdir()) == []


def test_what_is_printed_in_the_worker_does_not_mix_with_its_answers():
    code = (
        "from polyvox.engines.kokoro.fitting.worker import exclusive_output\n"
        "answers = exclusive_output(); print('a remark', flush=True); answers.write(b'an answer'); answers.flush()"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"an answer", b"a remark\n")
