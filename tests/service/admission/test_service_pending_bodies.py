"""The budget of unanswered bodies: bounded in all and for each address, and whole again at the end."""

import ipaddress

import pytest

from helpers.tables import each_row
from polyvox.errors import OverloadedError
from polyvox.service.admission.pending_bodies import FREE_BYTES, PendingBodies
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.telemetry.metrics import Metrics

LIMIT = 1_000_000


def test_what_is_held_is_counted_until_it_is_given_back() -> None:
    metrics = Metrics()
    bodies = PendingBodies(LIMIT, metrics)
    first, second = bodies.open(None), bodies.open("192.0.2.1")
    first.hold(300_000)
    second.hold(200_000)
    second.hold(250_000)
    assert metrics.registry.get_sample_value("polyvox_pending_body_bytes") == 550_000
    first.close()
    second.close()
    second.close()
    assert bodies.used == 0


def test_no_address_takes_more_than_half() -> None:
    metrics = Metrics()
    bodies = PendingBodies(LIMIT, metrics)
    greedy = bodies.open("192.0.2.1")
    greedy.hold(400_000)
    with pytest.raises(OverloadedError, match="your address"):
        bodies.open("192.0.2.1").hold(200_000)
    bodies.open("192.0.2.2").hold(200_000)
    bodies.open(None).hold(400_000)
    with pytest.raises(OverloadedError, match="too many large requests"):
        bodies.open("192.0.2.3").hold(200_000)
    refused = metrics.registry.get_sample_value
    assert refused("polyvox_refused_bodies_total", {"limit": "address"}) == 1
    assert refused("polyvox_refused_bodies_total", {"limit": "total"}) == 1
    assert bodies.used == LIMIT


def test_small_bodies_are_never_refused() -> None:
    bodies = PendingBodies(LIMIT, Metrics())
    bodies.open(None).hold(LIMIT)
    small = bodies.open(None)
    small.hold(FREE_BYTES)
    with pytest.raises(OverloadedError):
        small.hold(FREE_BYTES + 1)
    assert small.held == FREE_BYTES


@each_row(
    ("host", "group"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::2%eth0", "2001:db8::/64"),
        ("127.0.0.1", None),
        ("::1", None),
        ("10.1.2.3", None),
        ("", None),
        (None, None),
    ],
)
def test_addresses_are_counted_unless_they_stand_for_many_people(host: str | None, group: str | None) -> None:
    assert ClientAddresses([ipaddress.ip_network("10.0.0.0/8")]).group(host) == group
