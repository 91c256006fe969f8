"""A process that has loaded a program and forks a child of it for every message: no child starts an interpreter.

It runs nothing but this loop: it has one thread, no event loop, and what it has loaded is the same for every child. A
message is an argument of four bytes with two sockets. One is the child's standard input and output. The other is the
child's life: when the asking process shuts or closes its end, the child is killed with its session and its exit status
is sent. All children are killed when the control socket, which is this process's standard input, is closed.
"""

import gc
import os
import selectors
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

ARGUMENT: Final = struct.Struct("<I")
STATUS: Final = struct.Struct("<i")
_SOCKETS: Final = 2


def serve(run: Callable[[int], None]) -> None:
    """Fork a child for every message, until the control socket is closed; `run` is all that a child does."""
    gc.collect()
    gc.freeze()  # a collection in a child would copy the pages that it shares with all others
    with socket.socket(fileno=os.dup(0)) as control, selectors.DefaultSelector() as watched:
        watched.register(control, selectors.EVENT_READ)
        lives: dict[socket.socket, int] = {}
        while True:
            for key, _ in watched.select():
                if key.fileobj is not control:
                    life = key.data
                    watched.unregister(life)
                    _end(life, lives.pop(life))
                    continue
                message, descriptors, *_ = socket.recv_fds(control, ARGUMENT.size, _SOCKETS)
                if len(descriptors) < _SOCKETS:
                    for life, pid in lives.items():
                        _end(life, pid)
                    return
                stream, life = (socket.socket(fileno=descriptor) for descriptor in descriptors)
                with stream:
                    pid = os.fork()
                    if not pid:
                        _become_child(run, stream, *ARGUMENT.unpack(message))
                lives[life] = pid
                watched.register(life, selectors.EVENT_READ, life)


def _become_child(run: Callable[[int], None], stream: socket.socket, argument: int) -> NoReturn:
    status = 1
    try:
        os.setsid()
        os.dup2(stream.fileno(), 0)
        os.dup2(stream.fileno(), 1)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        run(argument)
        sys.stdout.flush()
        status = 0
    except BaseException:  # noqa: BLE001 - nothing of this child may run on in the loop of its parent
        traceback.print_exc()
    finally:
        os._exit(status)


def _end(life: socket.socket, pid: int) -> None:
    """Kill a child with its session. A status that it has ended with stays as it is."""
    os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):  # it had no session yet, or nothing of it is left
        os.killpg(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with life, suppress(OSError):  # whoever asked may have gone
        life.send(STATUS.pack(status))
