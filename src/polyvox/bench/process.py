"""A server in a process of its own, so that its CPU time can be measured."""

import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from polyvox.errors import UnavailableError

START_TIMEOUT = 120.0
STOP_TIMEOUT = 15.0
_URL = re.compile(rb"https?://[^\s/]+:\d+")
_GRPC = re.compile(rb"gRPC at ([^\s,]+:\d+)")


class ServerProcess:
    """A running `polyvox` server; `grpc` is its address for gRPC, empty where it has none."""

    def __init__(self, process: subprocess.Popen[bytes], greeting: bytes) -> None:
        self._process = process
        grpc = _GRPC.search(greeting)
        self.url = _URL.findall(greeting)[0].decode()
        self.grpc = "" if grpc is None else grpc[1].decode()

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_seconds(self) -> float:
        """CPU time of the process so far: all threads, user and system, and children that have ended."""
        return cpu_seconds_of(self._process.pid)

    def terminate(self) -> None:
        """Ask the server to end, as an init system would; it lets open streams finish."""
        self._process.terminate()


@contextmanager
def server_process(
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
    module: str = "polyvox",
    log: Path | None = None,
) -> Iterator[ServerProcess]:
    """Run `polyvox ARGUMENTS` until the block ends; the first address it prints is where it listens.

    `environment` is what it finds besides our own; `module` is another program that starts such a server; `log` is the
    file of its messages, for those who read them.
    """
    command = [python, "-m", module, *arguments]
    with tempfile.TemporaryFile() if log is None else log.open("w+b") as messages:
        process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdout=subprocess.PIPE, stderr=messages, env=os.environ | (environment or {})
        )
        try:
            yield ServerProcess(process, _greeting(process, messages))
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def cpu_seconds_of(pid: int) -> float:
    """CPU time of a process from the kernel's own count, in steps of a clock tick (10 ms)."""
    file = Path(f"/proc/{pid}/stat")
    if not file.exists():
        raise UnavailableError("This benchmark reads CPU time from /proc, so it needs Linux and a running server.")
    # The second field is the program's name in brackets and may hold anything; the rest is numbers.
    fields = file.read_text().rpartition(")")[2].split()
    ticks = sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _greeting(process: subprocess.Popen[bytes], messages: IO[bytes]) -> bytes:
    """Wait for the line that names the address."""
    assert process.stdout is not None
    deadline = time.monotonic() + START_TIMEOUT
    printed = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and selector.select(left):
            piece = os.read(process.stdout.fileno(), 4096)
            if not piece:
                raise UnavailableError(f"The server did not start: {_last_line(messages)}")
            printed += piece
            if printed.endswith(b"\n") and _URL.search(printed):
                return printed
    raise UnavailableError(f"The server was not ready within {START_TIMEOUT:g} s.")


def _last_line(messages: IO[bytes]) -> str:
    messages.seek(0)
    lines = messages.read().decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else "it printed nothing."
