"""A process that has imported what every server imports, and forks them: a start takes 0.1 s of CPU time, not 3.6.

Nothing of it runs when it forks: it has one thread, no event loop and no model. A program is then run as by
`python -m`, with an environment, a folder and output of its own.
"""

import atexit
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_REPORT = struct.Struct("i")
_MOST_BYTES = 2**18
_TESTS = Path(__file__).parents[1]


class ForkedProcess:
    """A program that runs: as much of `subprocess.Popen` as its users need."""

    def __init__(self, reports: socket.socket, stdout: int) -> None:
        self._reports = reports
        self.stdout = os.fdopen(stdout, "rb")
        self.returncode: int | None = None
        self.pid = self._report()

    def poll(self) -> int | None:
        """The exit status, or None while it runs."""
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once it has ended."""
        if self.returncode is None:
            self._reports.settimeout(timeout)
            try:
                self.returncode = self._report()
            except (TimeoutError, BlockingIOError) as error:
                raise subprocess.TimeoutExpired("the forked program", timeout or 0.0) from error
            self._reports.close()
        return self.returncode

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _report(self) -> int:
        report = self._reports.recv(_REPORT.size)
        assert report, "the fork server has ended"
        number: int = _REPORT.unpack(report)[0]
        return number


class ForkServer:
    """The process that forks, as its user sees it. It ends with its user."""

    def __init__(self) -> None:
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = os.pathsep.join((str(_TESTS), os.environ.get("PYTHONPATH", "")))
        with control:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "helpers.fork_server", str(control.fileno())],
                stdin=subprocess.DEVNULL,
                # Threads of linear algebra would not outlive a fork.
                env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                pass_fds=[control.fileno()],
            )
        atexit.register(self.close)

    def start(self, program: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> ForkedProcess:
        """Run the module `program`; what it writes to standard error goes to `log`."""
        request = {
            "program": program,
            "arguments": arguments,
            "environment": dict(environment),
            "folder": str(Path.cwd()),
        }
        reports, reporting = socket.socketpair()
        output, stdout = os.pipe()
        try:
            with log.open("wb") as stderr, reporting:
                descriptors = [stdout, stderr.fileno(), reporting.fileno()]
                socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
        finally:
            os.close(stdout)
        return ForkedProcess(reports, output)

    def close(self) -> None:
        self._control.close()
        self._process.wait()


@cache
def fork_server() -> ForkServer:
    """The one of this process, started when it is first asked for."""
    return ForkServer()


@dataclass(frozen=True)
class _Program:
    """A program that a child of this process is to become."""

    request: dict[str, Any]
    stdout: int
    stderr: int

    def run(self) -> None:
        for number, descriptor in ((1, self.stdout), (2, self.stderr)):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(self.request["environment"])
        sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        os.chdir(self.request["folder"])
        sys.argv = ["", *self.request["arguments"]]
        runpy.run_module(self.request["program"], run_name="__main__", alter_sys=True)


class _Children:
    """The programs that run, each with the socket that its end is reported to."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._watched = selectors.DefaultSelector()
        self._watched.register(control, selectors.EVENT_READ)
        self._running: dict[int, tuple[int, socket.socket]] = {}

    def forked(self) -> _Program | None:
        """Serve requests. It returns in every child with its program, and here when the user has gone."""
        while True:
            for key, _ in self._watched.select():
                if key.fileobj is not self._control:
                    self._reap(key.fd)
                    continue
                request, descriptors, *_ = socket.recv_fds(self._control, _MOST_BYTES, 3)
                if not request:
                    return None
                stdout, stderr, reporting = descriptors
                if self._is_child(reporting):
                    return _Program(json.loads(request), stdout, stderr)
                os.close(stdout)
                os.close(stderr)

    def _is_child(self, reporting: int) -> bool:
        reports = socket.socket(fileno=reporting)
        pid = os.fork()
        if not pid:
            reports.close()
            return True
        reports.sendall(_REPORT.pack(pid))
        pidfd = os.pidfd_open(pid)
        self._running[pidfd] = pid, reports
        self._watched.register(pidfd, selectors.EVENT_READ)
        return False

    def _reap(self, pidfd: int) -> None:
        self._watched.unregister(pidfd)
        os.close(pidfd)
        pid, reports = self._running.pop(pidfd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with reports:
            reports.send(_REPORT.pack(status), socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)

    def end(self) -> None:
        """Tell the programs that still run to end."""
        for pid, _ in self._running.values():
            os.kill(pid, signal.SIGTERM)

    def close(self) -> None:
        """Close what is this process's own, as a child does before it becomes its program."""
        self._watched.close()
        self._control.close()
        for pidfd, (_, reports) in self._running.items():
            os.close(pidfd)
            reports.close()


def _preload() -> None:
    import polyvox.bench.null
    import polyvox.installation
    import polyvox.server.process
    import polyvox.server.uvicorn_server
    import polyvox.text.phoneme_frontend  # noqa: F401
    from polyvox.text.detect import load_detector
    from polyvox.text.normalize import load_normalizers

    load_detector()
    load_normalizers()
    gc.collect()
    gc.freeze()
    assert len([*Path("/proc/self/task").iterdir()]) == 1, "threads do not outlive a fork"


def _main() -> None:
    _preload()
    children = _Children(socket.socket(fileno=int(sys.argv[1])))
    program = children.forked()
    if program is None:
        children.end()
        return
    children.close()
    program.run()


if __name__ == "__main__":
    _main()
