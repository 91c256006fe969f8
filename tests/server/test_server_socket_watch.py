"""The sockets of a server that accepts by itself: silent ones make room, and no address has too many."""

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from helpers.fakes import tone_settings
from helpers.raw_http import is_closed
from polyvox.server.connection_limits import LimitReports
from polyvox.server.socket_watch import SocketWatch
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.telemetry.metrics import Metrics

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
CAPACITY = 24
ROOM = 12


class Watched:
    """A listener whose connections are accepted and left alone."""

    def __init__(self, stack: ExitStack, **settings: object) -> None:
        self._stack = stack
        self.metrics = Metrics()
        self._listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = self._listener.getsockname()[1]
        settings = {"max_connections": CAPACITY, **settings}
        self.watch = SocketWatch(port, CAPACITY, tone_settings(**settings), LimitReports(self.metrics))

    def connected(self, count: int, *, speaking: bool = False) -> list[socket.socket]:
        """Clients, the sockets of whose other ends stay open."""
        clients = []
        for _ in range(count):
            client = self._stack.enter_context(socket.create_connection(self._listener.getsockname()))
            self._stack.enter_context(self._listener.accept()[0])
            if speaking:
                client.sendall(b"GET / HTTP/1.1\r\n")
            clients.append(client)
        self.watch.scan()
        return clients

    def refused(self, limit: str) -> float:
        return self.metrics.registry.get_sample_value("polyvox_refused_connections_total", {"limit": limit}) or 0.0


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def closed(clients: list[socket.socket]) -> list[bool]:
    return [is_closed(client, 0.02) for client in clients]


@pytest.mark.long
def test_the_longest_silent_connections_make_room(stack: ExitStack) -> None:
    watched = Watched(stack)
    speaking, silent = watched.connected(4, speaking=True), watched.connected(ROOM - 4)
    assert not any(closed(speaking + silent))
    watched.connected(3)
    assert closed(speaking) == [False] * 4
    assert closed(silent) == [True] * 3 + [False] * (ROOM - 7)
    assert watched.refused("total") == 3


@pytest.mark.long
def test_connections_that_speak_are_left_alone(stack: ExitStack) -> None:
    watched = Watched(stack)
    assert not any(closed(watched.connected(CAPACITY, speaking=True)))
    assert watched.watch.count == CAPACITY


def test_a_silent_connection_has_a_deadline(stack: ExitStack) -> None:
    watched = Watched(stack, header_timeout_seconds=0.1)
    speaking, silent = watched.connected(1, speaking=True), watched.connected(1)
    time.sleep(0.15)
    watched.watch.scan()
    assert closed(speaking + silent) == [False, True]
    assert watched.refused("header_timeout") == 1


def test_an_address_with_too_many_loses_the_silent_and_then_the_newest(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ClientAddresses, "group", lambda self, host: host)
    watched = Watched(stack, max_connections_per_address=3)
    first, silent = watched.connected(2, speaking=True), watched.connected(1)
    last = watched.connected(1, speaking=True)
    assert closed(first + silent + last) == [False, False, True, False]
    newest = watched.connected(1, speaking=True)
    assert closed(first + last + newest) == [False, False, False, True]


def test_sockets_of_other_ports_and_other_descriptors_are_not_touched(stack: ExitStack) -> None:
    watched, other = Watched(stack), Watched(stack)
    strangers = other.connected(ROOM)
    watched.connected(CAPACITY)
    assert not any(closed(strangers))
    assert watched.watch.count == CAPACITY
