"""The connections of a server, how many there may be, and which one goes when there are too many."""

import time
from collections.abc import Callable
from typing import Protocol

import structlog

from polyvox.config import Settings
from polyvox.server.descriptors import RESERVE
from polyvox.service.admission.open_counts import OpenCounts
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.telemetry.metrics import Metrics

_LOG_SECONDS = 10.0

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class Transport(Protocol):
    """The part of a connection that is used: ending it at once."""

    def abort(self) -> None: ...


class LimitReports:
    """Counts connections that a limit closes, and logs them: for each limit a line in ten seconds at most."""

    def __init__(self, metrics: Metrics, clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._clock = clock
        self._silent_until: dict[str, float] = {}
        self._unlogged: dict[str, int] = {}

    def closed(self, limit: str, count: int = 1, *, remedy: str = "") -> None:
        """Report connections that are closed because of a limit; those with a remedy have a line of their own."""
        for _ in range(count):
            self._metrics.connection_refused(limit)
        kind = f"{limit} {remedy}"
        unlogged = self._unlogged[kind] = self._unlogged.get(kind, 0) + count
        now = self._clock()
        if now >= self._silent_until.get(kind, now):
            self._silent_until[kind] = now + _LOG_SECONDS
            self._unlogged[kind] = 0
            advice = {"remedy": remedy} if remedy else {}
            log.warning("connections closed by a limit", limit=limit, count=unlogged, **advice)


class _Group:
    """Connections that share a limit. `waiting`: those whose client has yet to send a whole request, oldest first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.count = 0
        self.waiting: dict[Transport, None] = {}


class ConnectionLimits:
    """Admits connections up to the limits.

    When there is no room for a new one, the oldest whose client has yet to send a whole request makes room; the new one
    is refused only where all others are being served. So silent or slow connections, however many, keep nobody out.
    """

    def __init__(
        self, settings: Settings, reports: LimitReports, descriptors: int, counts: OpenCounts | None = None
    ) -> None:
        self._counts = OpenCounts() if counts is None else counts
        self._reports = reports
        self._descriptors = descriptors - RESERVE
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._per_address = settings.max_connections_per_address
        self._all = _Group(settings.max_connections)
        self._addresses: dict[str, _Group] = {}
        self._groups: dict[Transport, str | None] = {}

    @property
    def count(self) -> int:
        """Connections that are open."""
        return self._all.count

    def admit(
        self, connection: Transport, host: str | None, descriptor: int, instead_of: Transport | None = None
    ) -> bool:
        """Return whether a new connection may stay; it is waiting from now on.

        A descriptor is the lowest that was free, so its number tells how many are in use. `instead_of` is what the
        same connection was admitted as before, if anything.
        """
        if instead_of in self._groups:
            self._replace(instead_of, connection)
            return True
        address = self._clients.group(host)
        group = None if address is None else self._addresses.get(address, _Group(self._per_address))
        admitted = (
            (group is None or self._has_room(group, address) or self._make_room(group, "address"))
            and (self._has_room(self._all, None) or self._make_room(self._all, "total"))
            and (descriptor < self._descriptors or self._make_room(self._all, "descriptors"))
        )
        if not admitted:
            return False
        self._groups[connection] = address
        if address is not None and group is not None:
            self._addresses.setdefault(address, group)
        for each in self._groups_of(address):
            each.count += 1
            each.waiting[connection] = None
        self._count(address, 1)
        return True

    def serve(self, connection: Transport) -> None:
        """The client has sent a whole request: the connection stays until it is answered."""
        for group in self._groups_of_connection(connection):
            group.waiting.pop(connection, None)

    def wait(self, connection: Transport) -> None:
        """The request is answered: it is the client's turn."""
        for group in self._groups_of_connection(connection):
            group.waiting.pop(connection, None)
            group.waiting[connection] = None

    def remove(self, connection: Transport) -> None:
        """The connection is closed."""
        if connection not in self._groups:
            return
        address = self._groups[connection]
        for group in self._groups_of(address):
            group.count -= 1
            group.waiting.pop(connection, None)
        del self._groups[connection]
        self._count(address, -1)
        if address is not None and not self._addresses[address].count:
            del self._addresses[address]

    def _has_room(self, group: _Group, address: str | None) -> bool:
        return group.count + self._counts.elsewhere(_name(address)) < group.limit

    def _count(self, address: str | None, count: int) -> None:
        for name in {_name(None), _name(address)}:
            self._counts.add(name, count)

    def _replace(self, old: Transport, new: Transport) -> None:
        self._groups[new] = self._groups.pop(old)
        for group in self._groups_of_connection(new):
            group.waiting.pop(old, None)
            group.waiting[new] = None

    def _make_room(self, group: _Group, limit: str) -> bool:
        self._reports.closed(limit)
        oldest = next(iter(group.waiting), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.abort()
        return True

    def _groups_of_connection(self, connection: Transport) -> list[_Group]:
        return self._groups_of(self._groups[connection]) if connection in self._groups else []

    def _groups_of(self, address: str | None) -> list[_Group]:
        return [self._all] if address is None else [self._all, self._addresses[address]]


def _name(address: str | None) -> str:
    """The name under which connections are counted over all processes."""
    return "connections" if address is None else f"connections {address}"
