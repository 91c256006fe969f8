"""Limits on the connections of servers that accept them in code of their own: granian and gRPC.

Linux tells a process about its own sockets. Elsewhere only those servers' own limits apply.
"""

import os
import socket
import struct
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from polyvox.config import Settings
from polyvox.server.connection_limits import LimitReports
from polyvox.service.keys.client_addresses import ClientAddresses

_SCAN_SECONDS = 0.1
_CROWDED_SCAN_SECONDS = 0.03
_CROWDED_SHARE = 0.25
_ROOM_SHARE = 0.5  # silent connections are closed above it, so that there is room between two scans
_DESCRIPTORS = Path("/proc/self/fd")
_BYTES_RECEIVED = 128  # offset in the kernel's struct tcp_info
_INFO_BYTES = 136


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A connection as one scan finds it. `silent`: nothing has ever been received on it."""

    descriptor: int
    peer: tuple[str, int]
    silent: bool
    since: float

    def end(self) -> None:
        """Let the server that owns it find it closed, unless its descriptor means another connection by now."""
        own = _duplicate(self.descriptor)
        if own is None:
            return
        with own, suppress(OSError):  # the client may be faster
            if own.getpeername()[:2] == self.peer:
                own.shutdown(socket.SHUT_RDWR)


class SocketWatch:
    """Closes connections to one port of this process that are over the limits, on a thread of its own.

    Above half of `capacity`, the longest silent ones go. Of an address that has too many, the silent ones go
    first, then the newest. `capacity` is below `max_connections` where there are too few descriptors for that many.
    """

    def __init__(self, port: int, capacity: int, settings: Settings, reports: LimitReports) -> None:
        self._port = port
        self._capacity = capacity
        self._limit = "total" if capacity == settings.max_connections else "descriptors"
        self._reports = reports
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._per_address = settings.max_connections_per_address
        self._header_seconds = settings.header_timeout_seconds
        self._since: dict[tuple[str, int], float] = {}
        self._stopped = threading.Event()

    @property
    def count(self) -> int:
        """Connections at the last scan."""
        return len(self._since)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch for as long as the block lasts."""
        if sys.platform != "linux":
            yield
            return
        thread = threading.Thread(target=self._run, name="polyvox-sockets", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()

    def scan(self) -> None:
        """Look at all connections once, and close those over a limit."""
        rest = sorted(self._accepted(), key=lambda each: each.since)
        late = time.monotonic() - self._header_seconds
        rest = self._close(rest, [each for each in rest if each.silent and each.since < late], "header_timeout")
        rest = self._close(rest, self._over_address(rest), "address")
        surplus = max(0, len(rest) - int(_ROOM_SHARE * self._capacity))
        self._close(rest, [each for each in rest if each.silent][:surplus], self._limit)

    def _run(self) -> None:
        while not self._stopped.wait(self._pause):
            self.scan()

    @property
    def _pause(self) -> float:
        return _CROWDED_SCAN_SECONDS if self.count > _CROWDED_SHARE * self._capacity else _SCAN_SECONDS

    def _over_address(self, accepted: list[_Accepted]) -> list[_Accepted]:
        groups: dict[str, list[_Accepted]] = defaultdict(list)
        for each in accepted:
            if (group := self._clients.group(each.peer[0])) is not None:
                groups[group].append(each)
        chosen: list[_Accepted] = []
        for members in groups.values():
            first = [each for each in members if each.silent] + [each for each in reversed(members) if not each.silent]
            chosen += first[: max(0, len(members) - self._per_address)]
        return chosen

    def _close(self, accepted: list[_Accepted], chosen: list[_Accepted], limit: str) -> list[_Accepted]:
        """Close the chosen ones; return the others."""
        if not chosen:
            return accepted
        self._reports.closed(limit, len(chosen))
        for each in chosen:
            each.end()
        peers = {each.peer for each in chosen}
        return [each for each in accepted if each.peer not in peers]

    def _accepted(self) -> list[_Accepted]:
        now = time.monotonic()
        found = []
        for name in os.listdir(_DESCRIPTORS):  # noqa: PTH208 - only their names, a thousand of them
            own = _duplicate(int(name))
            if own is None:
                continue
            with own, suppress(OSError):  # it may listen, or be closed already
                if own.getsockname()[1] == self._port:
                    peer = own.getpeername()[:2]
                    found.append(_Accepted(int(name), peer, _is_silent(own), self._since.get(peer, now)))
        self._since = {each.peer: each.since for each in found}
        return found


def _is_silent(own: socket.socket) -> bool:
    info = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    return len(info) == _INFO_BYTES and struct.unpack_from("=Q", info, _BYTES_RECEIVED)[0] == 0


def _duplicate(descriptor: int) -> socket.socket | None:
    """A second descriptor of a TCP socket, so that the first may be closed meanwhile; None of anything else."""
    try:
        own = os.dup(descriptor)
    except OSError:
        return None
    try:
        made = socket.socket(fileno=own)
    except OSError:
        os.close(own)
        return None
    if made.type == socket.SOCK_STREAM and made.family in (socket.AF_INET, socket.AF_INET6):
        return made
    made.close()
    return None
