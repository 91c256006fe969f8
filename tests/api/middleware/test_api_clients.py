"""Whom a request is counted for."""

import pytest

from helpers.tables import each_row
from polyvox.api.middleware.clients import client_name, client_of, grpc_client, max_wait_of
from polyvox.errors import InvalidRequestError
from polyvox.voices.records import SHARED_OWNER


def scope(address=None, headers=(), **state):
    return {"type": "http", "client": address, "headers": list(headers), "state": state}


def test_it_is_the_key_where_there_is_one():
    assert client_of(scope(("10.0.0.7", 5), owner="abc")) == client_of(scope(("10.0.0.8", 5), owner="abc"))
    assert client_of(scope(("10.0.0.7", 5), owner="abc")) != client_of(scope(("10.0.0.7", 5), owner="abd"))


def test_it_is_the_address_without_a_key():
    assert client_of(scope(("10.0.0.7", 5))) == client_of(scope(("10.0.0.7", 6))) == "10.0.0.7"
    assert client_of(scope(None)) == ""


@each_row(
    ("address", "client"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("unix", "unix"),
    ],
)
def test_an_ipv6_client_is_its_network(address, client):
    assert client_name(SHARED_OWNER, address) == client


@each_row(
    ("peer", "client"),
    [
        ("ipv4:10.0.0.7:5123", "10.0.0.7"),
        ("ipv6:%5B2001:db8::7%5D:5123", "2001:db8::/64"),
        ("ipv6:[2001:db8::7]:5123", "2001:db8::/64"),
        ("unix:/run/x", ""),
    ],
)
def test_a_grpc_client_is_found_in_its_peer(peer, client):
    assert grpc_client(SHARED_OWNER, peer) == client


@each_row(("given", "seconds"), [(b"2.5", 2.5), (b"0", 0.0), (b"60", 5.0), (b"inf", 5.0)])
def test_a_caller_may_ask_for_a_shorter_wait(given, seconds):
    assert max_wait_of(scope(headers=[(b"x-max-wait", given)]), 5.0) == seconds
    assert max_wait_of(scope(), 5.0) == 5.0


@each_row("given", [b"soon", b"-1", b"nan", b""])
def test_a_wait_that_is_no_number_is_refused(given):
    with pytest.raises(InvalidRequestError, match="X-Max-Wait"):
        max_wait_of(scope(headers=[(b"x-max-wait", given)]), 5.0)
