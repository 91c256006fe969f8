"""Children that a fork server forks: one for each untrusted input, in milliseconds."""

import asyncio
import logging
import socket
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from polyvox.child_process import start_controlled_child
from polyvox.fork_server import ARGUMENT, STATUS

_log = logging.getLogger(__name__)


class ForkedChild:
    """A child that runs, with pipes."""

    def __init__(self, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader, life: socket.socket) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self._life = life
        self._ending: asyncio.Task[int | None] | None = None

    async def end(self, seconds: float) -> int | None:
        """Kill it with its session, and wait until it is gone, at most so long; also where the caller is cancelled.

        Returns the exit status, which is its own where it had ended before; None where it is not known.
        """
        if self._ending is None:
            self._ending = asyncio.create_task(self._ended(seconds))
        return await asyncio.shield(self._ending)

    @property
    def has_ended(self) -> bool:
        """True once `end` has seen it gone."""
        return self._ending is not None and self._ending.done()

    async def _ended(self, seconds: float) -> int | None:
        status = None
        try:
            async with asyncio.timeout(seconds):
                self._life.shutdown(socket.SHUT_WR)
                if received := await asyncio.get_running_loop().sock_recv(self._life, STATUS.size):
                    (status,) = STATUS.unpack(received)
                with suppress(ConnectionError):  # it did not read all that it was sent
                    while await self.stdout.read(1 << 16):  # what it still wrote
                        pass
        except TimeoutError:
            _log.error("a forked child left something running")
        except OSError as error:
            _log.warning("the end of a forked child is not known: %s", error)
        finally:
            self._life.close()
            self.stdin.close()
        return status


class ForkServer:
    """The process that forks, as its user sees it: started for the first child, and again where it has ended.

    It may be used by several threads, and by processes that are forked from this one. It ends with the last of them.
    """

    def __init__(self, *command: str, environment: Mapping[str, str] = MappingProxyType({})) -> None:
        self.command = command
        self.environment = environment
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    @property
    def pid(self) -> int:
        """The process that forks, which runs."""
        assert self._process is not None
        return self._process.pid

    async def fork(self, argument: int) -> ForkedChild:
        """Have a child forked; OSError where that fails. One that cannot be has an output that ends at once."""
        stream, its_stream = socket.socketpair()
        life, its_life = socket.socketpair()
        try:
            with its_stream, its_life:
                self._ask(argument, its_stream, its_life)
            life.setblocking(False)
            stdout, stdin = await asyncio.open_unix_connection(sock=stream)
        except BaseException:
            stream.close()
            life.close()
            raise
        return ForkedChild(stdin, stdout, life)

    def start(self) -> None:
        """Start the process, where it does not run; OSError where that fails."""
        with self._lock:
            self._started()

    def close(self) -> None:
        """End the process, and the children that still run with it."""
        with self._lock:
            if self._control is not None:
                self._control.close()
                self._control = None
            if self._process is not None:
                self._process.wait()
                self._process = None

    def _ask(self, argument: int, *sockets: socket.socket) -> None:
        descriptors = [each.fileno() for each in sockets]
        with self._lock:
            for _ in range(2):  # where it has ended, it is started once more
                with suppress(BrokenPipeError, ConnectionResetError):
                    socket.send_fds(self._started(), [ARGUMENT.pack(argument)], descriptors)
                    return
                self._forget()

    def _started(self) -> socket.socket:
        if self._control is None:
            ours, theirs = socket.socketpair()
            try:
                with theirs:
                    self._process = start_controlled_child(self.command, theirs.fileno(), self.environment)
                ours.setblocking(False)  # the event loop never waits for a process that does not read
            except BaseException:
                ours.close()
                raise
            self._control = ours
        return self._control

    def _forget(self) -> None:
        """Drop a process that has ended."""
        assert self._control is not None
        assert self._process is not None
        _log.warning("the process that forks has ended with status %s", self._process.wait())
        self._control.close()
        self._control = self._process = None
