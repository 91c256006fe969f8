"""Children of a fork server: apart from each other, and gone when they are told, or when whoever asked for them is."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from polyvox.forked_child import ForkedChild, ForkServer

pytestmark = pytest.mark.anyio

# A child answers its lines with what they evaluate to.
PROGRAM = """
import os, sys, time
from polyvox.fork_server import serve
seen = []
def run(argument):
    for line in sys.stdin:
        print(eval(line), flush=True)
serve(run)
"""
SLEEPER = "__import__('subprocess').Popen(['sleep', '600'], stdin=-3, stdout=-3).pid"


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    server = ForkServer(sys.executable, "-I", "-c", PROGRAM)
    yield server
    server.close()


async def answer(child: ForkedChild, line: str) -> str:
    child.stdin.write(line.encode() + b"\n")
    return (await child.stdout.readline()).decode().strip()


def wait_until_gone(pid: int) -> None:
    """Return when a process has ended, at once where it has."""
    with suppress(ProcessLookupError):
        process = os.pidfd_open(pid)
        assert select.select([process], [], [], 10)[0]
        os.close(process)


async def test_children_share_nothing_that_one_changes_and_no_descriptor(server: ForkServer) -> None:
    first, second = await server.fork(1), await server.fork(2)
    assert await answer(first, "seen.append(argument) or seen") == "[1]"
    assert await answer(second, "seen.append(argument) or seen") == "[2]"
    assert await answer(second, "sorted(os.listdir('/proc/self/fd'))") == "['0', '1', '2', '3']"  # the last lists them
    pids = {int(await answer(child, "os.getsid(0)")) for child in (first, second)}
    assert pids == {int(await answer(child, "os.getpid()")) for child in (first, second)}
    assert len(pids) == 2
    assert await first.end(5.0) == -signal.SIGKILL
    assert await answer(second, "len(seen)") == "1"
    await second.end(5.0)


async def test_the_status_is_the_childs_own_where_it_had_ended(server: ForkServer) -> None:
    for line, status in (("os._exit(3)", 3), ("os.kill(os.getpid(), 11)", -11), ("1 / 0", 1)):
        child = await server.fork(0)
        assert await answer(child, line) == ""
        assert (await child.end(5.0), await child.end(5.0), child.has_ended) == (status, status, True)


async def test_what_a_child_started_ends_with_it(server: ForkServer) -> None:
    child = await server.fork(0)
    started = int(await answer(child, SLEEPER))
    await child.end(5.0)
    wait_until_gone(started)


async def test_it_is_started_again_where_it_was_killed(server: ForkServer, caplog: pytest.LogCaptureFixture) -> None:
    orphan = await server.fork(0)
    orphans_pid = int(await answer(orphan, "os.getpid()"))
    os.kill(server.pid, signal.SIGKILL)
    wait_until_gone(server.pid)
    child = await server.fork(7)
    assert await answer(child, "argument") == "7"
    assert "has ended with status -9" in caplog.text
    await child.end(5.0)
    assert await orphan.end(0.5) is None
    os.kill(orphans_pid, signal.SIGKILL)


def test_no_child_outlives_a_user_that_was_killed() -> None:
    user = f"""
import asyncio, sys
from polyvox.forked_child import ForkServer
async def main():
    server = ForkServer(sys.executable, "-I", "-c", {PROGRAM!r})
    child = await server.fork(0)
    child.stdin.write(b"os.getpid()\\n")
    print((await child.stdout.readline()).decode(), flush=True)
    child.stdin.write(b"time.sleep(600)\\n")
    await child.stdout.readline()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-I", "-c", user], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.kill()
    wait_until_gone(child)
