"""What the `python` of a fork server runs: it has a program forked, and ends as the program does.

It imports next to nothing, for every use of it starts an interpreter: `python -I -S fork_client.py ADDRESS ARGUMENT...`
"""

import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence

REPORT = struct.Struct("i")
"""What the fork server sends: a program's process, and then its exit status."""
_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def ask(
    address: str, arguments: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]
) -> socket.socket:
    """Have a program forked that reads and writes the three `descriptors`; the connection is for its reports."""
    request = {"arguments": arguments, "environment": dict(environment), "folder": os.getcwd()}  # noqa: PTH109
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(address)
        socket.send_fds(connection, [json.dumps(request).encode()], descriptors)
    except BaseException:
        connection.close()
        raise
    return connection


def report(connection: socket.socket) -> int:
    received = connection.recv(REPORT.size)
    assert received, "the fork server has ended"
    number: int = REPORT.unpack(received)[0]
    return number


def _main() -> None:
    connection = ask(sys.argv[1], sys.argv[2:], os.environ, (0, 1, 2))
    pid = report(connection)
    for number in _PASSED_ON:
        signal.signal(number, lambda received, _: os.kill(pid, received))
    status = report(connection)
    if status < 0:
        for number in _PASSED_ON:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    _main()
