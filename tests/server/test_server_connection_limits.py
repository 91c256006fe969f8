"""Which connection goes when there are too many, and what is reported."""

from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs

from helpers.fakes import tone_settings
from polyvox.server.connection_limits import ConnectionLimits, LimitReports
from polyvox.service.telemetry.metrics import Metrics

ADDRESS = "192.0.2.1"


@dataclass(eq=False)
class Connection:
    aborted: bool = False

    def abort(self) -> None:
        self.aborted = True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Desk:
    """Limits of 16 connections, 3 for each address, with what they count."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        settings = tone_settings(max_connections=16, max_connections_per_address=3, trusted_proxies="10.0.0.0/8")
        self.limits = ConnectionLimits(settings, LimitReports(self.metrics), descriptors=1_024)

    def admitted(self, host: str | None = None, descriptor: int = 10) -> Connection:
        connection = Connection()
        assert self.limits.admit(connection, host, descriptor)
        return connection

    def refused(self, limit: str) -> float:
        return self.metrics.registry.get_sample_value("polyvox_refused_connections_total", {"limit": limit}) or 0.0


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_longest_waiting_connection_makes_room_for_a_new_one(desk: Desk) -> None:
    first, second = desk.admitted(), desk.admitted()
    for _ in range(14):
        desk.admitted()
    desk.limits.serve(first)
    desk.admitted()
    assert (first.aborted, second.aborted) == (False, True)
    assert desk.limits.count == 16
    assert desk.refused("total") == 1


def test_a_new_connection_is_refused_where_all_others_are_served(desk: Desk) -> None:
    served = [desk.admitted() for _ in range(16)]
    for connection in served:
        desk.limits.serve(connection)
    assert not desk.limits.admit(Connection(), None, 10)
    desk.limits.wait(served[5])
    assert desk.limits.admit(Connection(), None, 10)
    assert [each for each in served if each.aborted] == [served[5]]


def test_an_address_pays_for_its_own_connections(desk: Desk) -> None:
    other = desk.admitted("192.0.2.2")
    crowd = [desk.admitted(ADDRESS) for _ in range(4)]
    assert not other.aborted
    assert [each.aborted for each in crowd] == [True, False, False, False]
    for connection in crowd[1:]:
        desk.limits.serve(connection)
    assert not desk.limits.admit(Connection(), ADDRESS, 10)
    assert desk.refused("address") == 2
    desk.admitted("192.0.2.2")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "10.9.8.7", None])
def test_proxies_are_bound_by_the_limit_of_all_only(desk: Desk, host: str | None) -> None:
    assert not any(connection.aborted for connection in [desk.admitted(host) for _ in range(16)])


def test_a_closed_connection_leaves_room_and_nothing_else(desk: Desk) -> None:
    for _ in range(100):
        connection = desk.admitted(ADDRESS)
        desk.limits.remove(connection)
        desk.limits.remove(connection)
        desk.limits.wait(connection)
    assert desk.limits.count == 0
    assert desk.refused("address") == 0


def test_the_last_descriptors_are_kept_back(desk: Desk) -> None:
    waiting = desk.admitted()
    desk.admitted(descriptor=895)
    assert not waiting.aborted
    desk.admitted(descriptor=896)
    assert waiting.aborted
    assert desk.refused("descriptors") == 1


def test_a_flood_is_logged_once_in_ten_seconds_with_its_number() -> None:
    clock, metrics = Clock(), Metrics()
    reports = LimitReports(metrics, clock)
    with capture_logs() as lines:
        for _ in range(50):
            reports.closed("total")
        reports.closed("headers")
        clock.now = 11.0
        reports.closed("total")
    assert [(line["limit"], line["count"]) for line in lines] == [("total", 1), ("headers", 1), ("total", 50)]
