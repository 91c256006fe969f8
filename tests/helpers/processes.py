"""Server processes of the trials: started, watched from outside and stopped."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from helpers.fork_server import ForkedProcess, fork_server

_URL = re.compile(rb"https?://[^\s/]+:\d+")
_GRPC = re.compile(rb"gRPC at ([^\s,]+:\d+)")
_WYOMING = re.compile(rb"Wyoming at tcp://([^\s,]+:\d+)")
START_SECONDS = 120.0
STOP_SECONDS = 15.0


class ProgramProcess:
    """A running server: its address, its memory, its log."""

    def __init__(self, process: ForkedProcess, greeting: bytes, log: Path) -> None:
        self.process = process
        self.url = _URL.findall(greeting)[0].decode()
        grpc = _GRPC.search(greeting)
        self.grpc = "" if grpc is None else grpc[1].decode()
        wyoming = _WYOMING.search(greeting)
        self.wyoming = "" if wyoming is None else wyoming[1].decode()
        self._log = log

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.url.partition("://")[2].split(":")
        return host, int(port)

    @property
    def pid(self) -> int:
        return self.process.pid

    def terminate(self) -> None:
        """Ask the server to end, as an init system would; it lets open streams finish."""
        self.process.terminate()

    def alive(self) -> bool:
        return self.process.poll() is None

    def log(self) -> str:
        """What it has written to standard error so far."""
        return self._log.read_text(errors="replace")

    def memory(self) -> int:
        """Resident bytes now."""
        return self._status("VmRSS")

    def peak_memory(self) -> int:
        """Most resident bytes since `forget_peak`."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def descriptors(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())

    def threads(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.pid}/task").iterdir())

    def _status(self, field: str) -> int:
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.findall(rf"^{field}:\s+(\d+) kB$", text, re.MULTILINE)[0]) * 1024


@contextmanager
def program_process(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path
) -> Iterator[ProgramProcess]:
    """Run a module that prints the address where it listens, until the block ends."""
    log.parent.mkdir(parents=True, exist_ok=True)
    process = fork_server().start(program, arguments, os.environ | environment, log)
    with process.stdout:
        try:
            yield ProgramProcess(process, _greeting(process, log), log)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def polyvox_process(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[ProgramProcess]:
    """Run `polyvox ARGUMENTS`, which starts a server, until the block ends."""
    with (
        tempfile.TemporaryDirectory() as folder,
        program_process("polyvox", arguments, environment or {}, Path(folder) / "server.log") as process,
    ):
        yield process


def _greeting(process: ForkedProcess, log: Path) -> bytes:
    until = time.monotonic() + START_SECONDS
    for line in process.stdout:
        if _URL.search(line):
            return line
        assert time.monotonic() < until, "the server did not start in time"
    raise AssertionError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
