"""A process that has imported what every server imports, and forks them: a start takes 0.1 s of CPU time, not 3.6.

It has loaded dictionaries and Wren too: the server that `polyvox serve` starts, with Kokoro on the small decoder, is
ready after 0.8 s of CPU time. Nothing of it runs when it forks: it has one thread and no event loop. A program is then
run as by `python`, with an environment, a folder, input and output of its own.
"""

import atexit
import gc
import json
import os
import runpy
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from helpers import fork_client
from helpers.fork_client import REPORT, ask, report

_MOST_BYTES = 2**18
_TESTS = Path(__file__).parents[1]


class ForkedProcess:
    """A program that runs: as much of `subprocess.Popen` as its users need."""

    def __init__(self, reports: socket.socket, stdout: int) -> None:
        self._reports = reports
        self.stdout = os.fdopen(stdout, "rb")
        self.returncode: int | None = None
        self.pid = report(reports)

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
                self.returncode = report(self._reports)
            except (TimeoutError, BlockingIOError) as error:
                raise subprocess.TimeoutExpired("the forked program", timeout or 0.0) from error
            self._reports.close()
        return self.returncode

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class ForkServer:
    """The process that forks, as its user sees it. It ends with its user."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self.programs = Path(tempfile.mkdtemp(prefix="polyvox-forks-"))
        """A folder with a `python` and a `polyvox`, for whoever starts programs by their paths."""
        self._address = str(self.programs / "socket")
        self._life, life = socket.socketpair()
        path = os.pathsep.join((str(_TESTS), os.environ.get("PYTHONPATH", "")))
        with life, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(self._address)
            listener.listen()
            descriptors = (life.fileno(), listener.fileno())
            self._process = subprocess.Popen(
                [sys.executable, "-m", "helpers.fork_server", *map(str, descriptors)],
                stdin=subprocess.DEVNULL,
                # Threads of linear algebra would not outlive a fork.
                env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                pass_fds=descriptors,
            )
        atexit.register(self.close)
        client = [sys.executable, "-I", "-S", fork_client.__file__, self._address]
        for name, arguments in (("python", []), ("polyvox", ["-m", "polyvox"])):
            program = self.programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.join([*client, *arguments])} "$@"\n')
            program.chmod(0o755)

    def start(self, program: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> ForkedProcess:
        """Run the module `program`; what it writes to standard error goes to `log`."""
        output, stdout = os.pipe()
        try:
            with log.open("wb") as stderr, Path(os.devnull).open("rb") as stdin:
                descriptors = (stdin.fileno(), stdout, stderr.fileno())
                reports = ask(self._address, ["-m", program, *arguments], environment, descriptors)
        finally:
            os.close(stdout)
        return ForkedProcess(reports, output)

    def close(self) -> None:
        """End it; where this process was itself forked with it, leave it to who started it."""
        self._life.close()
        if os.getpid() == self._owner:
            self._process.wait()
            shutil.rmtree(self.programs)


@cache
def fork_server() -> ForkServer:
    """The one of this process and of those that are forked from it, started when it is first asked for."""
    return ForkServer()


def forked_python() -> str:
    """The path of a `python` whose programs are forked; it ends as they do, and they end with it."""
    return str(fork_server().programs / "python")


@dataclass(frozen=True)
class _Program:
    """A program that a child of this process is to become."""

    request: dict[str, Any]
    descriptors: list[int]

    def run(self) -> None:
        for number, descriptor in enumerate(self.descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(self.request["environment"])
        sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        os.chdir(self.request["folder"])
        match self.request["arguments"]:
            case ["-m", program, *arguments]:
                sys.argv = ["", *arguments]
                sys.path.insert(0, str(Path.cwd()))
                runpy.run_module(program, run_name="__main__", alter_sys=True)
            case ["-c", text, *arguments]:
                sys.argv = ["-c", *arguments]
                sys.path.insert(0, "")
                main = sys.modules["__main__"] = ModuleType("__main__")
                exec(compile(text, "<string>", "exec"), vars(main))
            case [script, *arguments]:
                sys.argv = [script, *arguments]
                sys.path.insert(0, str(Path(script).parent))
                runpy.run_path(script, run_name="__main__")


class _Children:
    """The programs that run, each with the connection that its end is reported to; none outlives who waits for it."""

    def __init__(self, life: socket.socket, listener: socket.socket) -> None:
        self._life = life
        self._listener = listener
        self._watched = selectors.DefaultSelector()
        self._watched.register(life, selectors.EVENT_READ)
        self._watched.register(listener, selectors.EVENT_READ)
        self._running: dict[int, tuple[int, socket.socket]] = {}

    def forked(self) -> _Program | None:
        """Serve requests. It returns in every child with its program, and here when the user has gone."""
        while True:
            for key, _ in self._watched.select():
                if key.fileobj is self._life:
                    return None
                if key.fileobj is self._listener:
                    if (program := self._accepted()) is not None:
                        return program
                elif key.data is None:
                    self._reap(key.fd)
                else:
                    self._end(*key.data)

    def _accepted(self) -> _Program | None:
        connection, _ = self._listener.accept()
        request, descriptors, *_ = socket.recv_fds(connection, _MOST_BYTES, 3)
        pid = os.fork()
        if not pid:
            connection.close()
            return _Program(json.loads(request), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(REPORT.pack(pid))
        pidfd = os.pidfd_open(pid)
        self._running[pidfd] = pid, connection
        self._watched.register(pidfd, selectors.EVENT_READ)
        self._watched.register(connection, selectors.EVENT_READ, (pidfd, connection))
        return None

    def _end(self, pidfd: int, connection: socket.socket) -> None:
        """End a program for which nobody waits any more."""
        pid, reports = self._running.get(pidfd, (0, None))
        if reports is connection:
            self._watched.unregister(connection)
            os.kill(pid, signal.SIGTERM)

    def _reap(self, pidfd: int) -> None:
        pid, connection = self._running.pop(pidfd)
        self._watched.unregister(pidfd)
        if connection in self._watched.get_map():
            self._watched.unregister(connection)
        os.close(pidfd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with connection, suppress(BrokenPipeError):  # who waited for it may have gone
            connection.send(REPORT.pack(status), socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)

    def end_all(self) -> None:
        """Tell the programs that still run to end."""
        for pid, _ in self._running.values():
            os.kill(pid, signal.SIGTERM)

    def close(self) -> None:
        """Close what is this process's own, as a child does before it becomes its program."""
        self._watched.close()
        self._life.close()
        self._listener.close()
        for pidfd, (_, connection) in self._running.items():
            os.close(pidfd)
            connection.close()


def _preload() -> None:
    """Import and load what most servers do."""
    import polyvox.bench.null
    import polyvox.cli.main
    import polyvox.client
    import polyvox.server.process
    import polyvox.server.uvicorn_server  # noqa: F401
    from helpers.loaded_once import load_small_decoder, load_text
    from polyvox.voices.recording import decoder

    decoder.FORKS.start()  # one for all programs
    load_text()
    load_small_decoder()
    gc.collect()
    gc.freeze()
    assert len([*Path("/proc/self/task").iterdir()]) == 1, "threads do not outlive a fork"


def _main() -> None:
    _preload()
    life, listener = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    children = _Children(life, listener)
    program = children.forked()
    if program is None:
        children.end_all()
        return
    children.close()
    program.run()


if __name__ == "__main__":
    _main()
