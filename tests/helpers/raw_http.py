"""Clients that write HTTP byte by byte, as no library would."""

import contextlib
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from helpers.processes import ProgramProcess


@contextmanager
def connections(server: ProgramProcess, count: int) -> Iterator[list[socket.socket]]:
    """So many connections on which nothing has been sent; those that the server refuses count, too."""
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_connection(server.address, timeout=10)) for _ in range(count)]


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
