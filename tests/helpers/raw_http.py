"""Clients that write HTTP byte by byte, as no library would."""

import contextlib
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from helpers.processes import ProgramProcess


@contextmanager
def connections(
    server: ProgramProcess, count: int, address: tuple[str, int] | None = None
) -> Iterator[list[socket.socket]]:
    """So many connections on which nothing has been sent; those that the server refuses count, too.

    They go to its HTTP door unless another address is given.
    """
    with ExitStack() as stack:
        opened = []
        for number in range(1, count + 1):
            opened.append(stack.enter_context(socket.create_connection(address or server.address, timeout=10)))
            if not number % 50:
                time.sleep(0.02)  # what counts is that they stay, not how fast they come
        yield opened


def request_head(method: str, path: str, *fields: str, version: str = "1.1") -> bytes:
    """The head of a request, the empty line at its end included."""
    return "\r\n".join((f"{method} {path} HTTP/{version}", "Host: 127.0.0.1", *fields, "", "")).encode()


def sent(connection: socket.socket, pieces: Iterable[bytes]) -> int:
    """Send pieces until the server takes no more; the bytes that it took."""
    count = 0
    with contextlib.suppress(OSError):
        for piece in pieces:
            connection.sendall(piece)
            count += len(piece)
    return count


def answer(connection: socket.socket, seconds: float = 5.0) -> bytes:
    """What the server sends until it closes the connection, or stays silent for so long."""
    connection.settimeout(seconds)
    received = b""
    with contextlib.suppress(OSError):
        while piece := connection.recv(65_536):
            received += piece
    return received


def is_closed(connection: socket.socket, seconds: float) -> bool:
    """Whether the server closes a connection in this time; what it says before does not matter."""
    connection.settimeout(seconds)
    try:
        while connection.recv(65_536):
            continue
    except TimeoutError:
        return False
    except OSError:
        return True
    return True
