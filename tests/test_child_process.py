"""Child processes see few variables of the server's environment, and end with all that they started."""

import asyncio
import sys
from pathlib import Path

import pytest

from polyvox.child_process import end_blocking_child, end_child, start_blocking_child, start_child
from polyvox.text.phonemes.espeak.choice import ANY_ESPEAK
from polyvox.text.phonemes.espeak.program import EspeakProgram

pytestmark = pytest.mark.anyio

NAMES = "import os, sys; print(*sorted(os.environ)); sys.stdout.flush(); sys.stdin.read()"


async def test_a_child_sees_no_variable_that_may_hold_a_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("POLYVOX_API_KEYS", "secret")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    child = await start_child(sys.executable, "-I", "-c", NAMES, environment={"OMP_NUM_THREADS": "2"})
    try:
        assert child.stdout is not None
        names = set((await child.stdout.readline()).decode().split())
    finally:
        await end_child(child)
    assert {"LD_LIBRARY_PATH", "OMP_NUM_THREADS"} <= names
    assert not any(name.startswith("POLYVOX") for name in names)
    blocking = start_blocking_child([sys.executable, "-I", "-c", NAMES])
    assert blocking.stdout is not None
    assert "POLYVOX_API_KEYS" not in blocking.stdout.readline().decode().split()
    end_blocking_child(blocking)
    assert blocking.returncode is not None


def test_the_program_espeak_sees_none_either(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("POLYVOX_API_KEYS", "secret")
    program = tmp_path / ANY_ESPEAK
    program.write_text("#!/bin/sh\ncat > /dev/null\necho ${POLYVOX_API_KEYS:-none}\n")
    program.chmod(0o755)
    assert EspeakProgram(str(program), "fr", "fr").phonemize(["salut"]) == ["none"]


async def test_what_a_child_started_ends_with_it(caplog: pytest.LogCaptureFixture):
    child = await start_child("/bin/sh", "-c", "sleep 600 & echo $!; wait")
    assert child.stdout is not None
    assert int(await child.stdout.readline())
    await end_child(child)
    assert (child.returncode, child.stdout.at_eof()) == (-9, True)  # the other held the pipe as well
    assert not caplog.records


@pytest.mark.long
async def test_what_has_left_the_session_of_a_child_is_named_and_not_waited_for(caplog: pytest.LogCaptureFixture):
    program = "import os, time\nif os.fork(): os._exit(0)\nos.setsid(); print(flush=True); time.sleep(3)"
    child = await start_child(sys.executable, "-I", "-c", program)
    assert child.stdout is not None
    await child.stdout.readline()
    await end_child(child, 0.1)
    assert f"process {child.pid} left something running" in caplog.text
    await child.stdout.read()


async def test_a_child_is_ended_also_where_the_caller_is_cancelled():
    child = await start_child("/bin/sh", "-c", "sleep 600")
    ending = asyncio.create_task(end_child(child))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    async with asyncio.timeout(5):
        assert await child.wait() == -9


async def test_a_child_that_still_writes_is_ended_too():
    child = await start_child(sys.executable, "-I", "-c", "while True: print('x' * 10_000)")
    async with asyncio.timeout(5):
        await end_child(child)
    assert child.returncode == -9
