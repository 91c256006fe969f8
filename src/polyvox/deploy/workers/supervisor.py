"""The first process of a server with several: it starts the others, starts again those that end, and ends them all."""

import gc
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import structlog

from polyvox.api.dialects.wyoming.server import check_wyoming_exposure
from polyvox.api.middleware.hosts import check_exposure
from polyvox.config import Settings
from polyvox.deploy.workers.child import run_in_child
from polyvox.deploy.workers.host import run_host
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.worker import run_worker
from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.server.certificate import Certificate
from polyvox.server.process import BACKLOG, listening_socket, url_of
from polyvox.server.welcome import welcome
from polyvox.service.admission.open_counts import CountTable
from polyvox.service.telemetry.logs import configure_logging
from polyvox.text.detect import load_detector
from polyvox.text.normalize import load_normalizers

HOST = 0
"""The number of the process with the models; those of doors count from 1."""

_SOCKET = "models.sock"
_LONGEST_PATH = 100
_QUICK_SECONDS = 1.0
"""A process that ends sooner is started again only then, and later each time."""
_LONGEST_PAUSE = 30.0
_GRACE_SECONDS = 10.0

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def serve_with_workers(settings: Settings, parts: ServerParts) -> None:
    """Serve until SIGINT or SIGTERM. The address is bound first, so that a second server fails at once."""
    check_workers(settings)
    configure_logging(settings)
    check_exposure(settings)
    check_wyoming_exposure(settings)
    Certificate.of(settings)
    listeners = reusing_listeners(settings)
    load_normalizers()  # once for all processes, which share the memory
    load_detector()
    gc.freeze()
    with tempfile.TemporaryDirectory(prefix="polyvox-") as folder:  # for this user alone
        path = Path(folder) / _SOCKET
        if len(os.fsencode(path)) > _LONGEST_PATH:
            raise UnavailableError(f"The path {path} is too long for a socket; set TMPDIR to a shorter one.")
        Supervisor(settings, parts, listeners, path).run()


def check_workers(settings: Settings) -> None:
    """Refuse settings that mean nothing with several processes, or would break."""
    if sys.platform != "linux":
        raise InvalidRequestError(
            "Several workers need Linux, which shares connections out among them; leave out --workers.",
            field="workers",
        )
    refused = {
        "server": (settings.server != "uvicorn", "serves by uvicorn alone; leave out --server"),
        "chunk_log": (settings.chunk_log is not None, "cannot write one log of chunks; leave out chunk_log"),
        "log_file": (settings.log_file is not None, "cannot rotate one log file; keep standard error in place of it"),
    }
    for field, (is_set, sentence) in refused.items():
        if is_set:
            raise InvalidRequestError(f"A server with several workers {sentence}.", field=field)


def reusing_listeners(settings: Settings) -> list[socket.socket]:
    """A listening socket of the same address for each process of doors; the kernel shares connections out."""
    with listening_socket(settings.host, settings.port) as first:  # fails where another server has the port
        family, address = first.family, first.getsockname()[:2]
    listeners = []
    for _ in range(settings.workers):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        listeners.append(listener)
    return listeners


@dataclass(slots=True)
class _Child:
    """A process, and the pipe on which it says that it is ready or why it is not."""

    number: int
    process: ForkProcess
    pipe: Connection
    started: float

    @property
    def name(self) -> str:
        return "models" if self.number == HOST else f"doors {self.number}"


class Supervisor:
    """Keeps one process with the models and some with doors running.

    It stays a single thread without an event loop, so that it can fork at any time: a process that ends is back within
    a fraction of a second. It holds the listening sockets, so that connections wait for one that is started again.
    """

    def __init__(self, settings: Settings, parts: ServerParts, listeners: list[socket.socket], models: Path) -> None:
        self._settings = settings
        self._parts = parts
        self._listeners = listeners
        self._models = models
        self._url = url_of(listeners[0], "http" if settings.ssl_certfile is None else "https")
        self._children: dict[int, _Child] = {}
        self._due: dict[int, float] = {}
        self._pauses: dict[int, float] = {}
        self._counts = CountTable(settings.workers + 1)
        self._lifeline = os.pipe()
        self._woken, self._waking = socket.socketpair()
        self._stopping = False

    def run(self) -> None:
        """Serve until a signal comes."""
        with self._signals():
            try:
                addresses = self._first_start()
                if not self._stopping:
                    on_terminal = sys.stdout.isatty()
                    print(welcome(self._url, addresses, self._settings, on_terminal=on_terminal), flush=True)
                while not self._stopping:
                    self._look()
            finally:
                self._end()

    def _first_start(self) -> dict[str, str]:
        """Start all processes; UnavailableError with the reason of the first that cannot."""
        self._start(HOST)
        addresses = self._ready(HOST)
        for number in range(1, self._settings.workers + 1):
            self._start(number)
        for number in range(1, self._settings.workers + 1):
            self._ready(number)
        return {} if addresses is None else addresses

    def _ready(self, number: int) -> dict[str, str] | None:
        """Wait until a process is ready; what it says then. None where a signal comes first."""
        child = self._children[number]
        while not self._stopping:
            found = wait([child.pipe, child.process.sentinel, self._woken])
            if child.pipe in found and (message := _received(child.pipe)) is not None:
                if "failed" in message:
                    raise UnavailableError(message["failed"])
                ready: dict[str, str] = message["ready"]
                return ready
            if child.process.sentinel in found:
                raise UnavailableError(f"The process of {child.name} ended before it was ready; the log has the cause.")
            self._drain_signals(found)
        return None

    def _look(self) -> None:
        """Wait for a signal or the end of a process, and start those again whose time has come."""
        pause = max(0.0, min(self._due.values()) - time.monotonic()) if self._due else None
        ends: dict[Any, _Child] = {child.process.sentinel: child for child in self._children.values()}
        pipes: dict[Any, _Child] = {child.pipe: child for child in self._children.values() if not child.pipe.closed}
        found = wait([*ends, *pipes, self._woken], pause)
        self._drain_signals(found)
        for pipe in found:
            if pipe in pipes:
                self._heard(pipes[pipe])
        for sentinel in found:
            if sentinel in ends:
                self._ended(ends[sentinel])
        for number in [number for number, due in self._due.items() if due <= time.monotonic()]:
            del self._due[number]
            if not self._stopping:
                self._start(number)

    def _heard(self, child: _Child) -> None:
        """Note that a process that was started again is ready, or say why it is not."""
        message = _received(child.pipe)
        child.pipe.close()
        if message is not None and "failed" in message:
            log.error("process cannot start", process=child.name, reason=message["failed"])
        elif message is not None:
            log.info("process is back", process=child.name, pid=child.process.pid)

    def _ended(self, child: _Child) -> None:
        child.process.join()
        if not child.pipe.closed:
            self._heard(child)
        del self._children[child.number]
        lived = time.monotonic() - child.started
        before = self._pauses.get(child.number, 0.0)
        pause = 0.0 if lived > _QUICK_SECONDS else min(_LONGEST_PAUSE, max(_QUICK_SECONDS, 2 * before))
        self._pauses[child.number] = pause
        self._due[child.number] = time.monotonic() + pause
        log.error("process has ended", process=child.name, exit=child.process.exitcode, starts_again_in=pause)

    def _start(self, number: int) -> None:
        receiving, sending = get_context("fork").Pipe(duplex=False)
        settings, parts = self._settings, self._parts
        if number == HOST:
            serve: partial[Any] = partial(run_host, settings, parts, self._models, self._counts)
            unneeded = self._listeners
        else:
            own = self._listeners[number - 1]
            serve = partial(run_worker, settings, parts, number, own, self._models, self._counts)
            unneeded = [listener for listener in self._listeners if listener is not own]

        def live() -> None:
            receiving.close()
            self._woken.close()
            self._waking.close()
            for listener in unneeded:
                listener.close()
            os.close(self._lifeline[1])
            run_in_child(settings, number, serve, partial(_send, sending), self._lifeline[0])

        process = get_context("fork").Process(target=live, name=f"polyvox {number}")
        sys.stdout.flush()
        sys.stderr.flush()
        process.start()
        sending.close()
        self._children[number] = _Child(number, process, receiving, time.monotonic())

    def _end(self) -> None:
        """Let the doors finish, then the models; what does not end in time is killed."""
        for listener in self._listeners:
            listener.close()
        self._due.clear()
        seconds = self._settings.drain_seconds + _GRACE_SECONDS
        self._end_some([child for number, child in self._children.items() if number != HOST], seconds)
        self._end_some([child for number, child in self._children.items() if number == HOST], seconds + _GRACE_SECONDS)
        os.close(self._lifeline[1])

    def _end_some(self, children: list[_Child], seconds: float) -> None:
        for child in children:
            child.process.terminate()
        until = time.monotonic() + seconds
        for child in children:
            child.process.join(max(0.0, until - time.monotonic()))
            if child.process.is_alive():
                log.error("process does not end", process=child.name)
                child.process.kill()
                child.process.join()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM wake the loop."""
        self._woken.setblocking(False)
        self._waking.setblocking(False)
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: object) -> None:
        if self._stopping and number == signal.SIGINT:  # somebody is in a hurry
            for child in self._children.values():
                child.process.kill()
        self._stopping = True

    def _drain_signals(self, found: list[Any]) -> None:
        if self._woken in found:
            with suppress(BlockingIOError):
                while self._woken.recv(64):
                    continue


def _send(pipe: Connection, message: Mapping[str, object]) -> None:
    pipe.send_bytes(json.dumps(message).encode())


def _received(pipe: Connection) -> dict[str, Any] | None:
    """The message of a process; None where it has ended without one."""
    try:
        message: dict[str, Any] = json.loads(pipe.recv_bytes())
    except (EOFError, OSError):
        return None
    return message
