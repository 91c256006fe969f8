"""The call context that every request and WebSocket gets."""

from typing import Any

import pytest
from starlette.types import Message

from polyvox.api.dependencies import call_of
from polyvox.api.dialects.grpc.call import host_of
from polyvox.api.middleware.call_contexts import CallContexts
from polyvox.api.refusals import Refusals
from polyvox.service.call_context import CallContext
from polyvox.service.keys.client_names import client_name
from polyvox.voices.records import SHARED_OWNER

pytestmark = pytest.mark.anyio


async def passed(address: object = None, **options: Any) -> tuple[CallContext | None, list[Message]]:
    """The context of a request that was let through, and what was sent in its place otherwise."""
    given: dict[str, str] = options.pop("headers", {})
    headers = [(name.lower().encode(), value.encode()) for name, value in given.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "client": address, "headers": headers, "state": options}
    found: list[CallContext] = []
    sent: list[Message] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.append(call_of(scope))

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await CallContexts(app, max_wait=5.0, refusals=Refusals(()))(scope, receive, send)
    return (found[0] if found else None), sent


async def client_of(address: object = None, **state: str) -> str:
    call, _ = await passed(address, **state)
    assert call is not None
    return call.client


async def test_the_client_is_the_key_where_there_is_one() -> None:
    anna = await client_of(("10.0.0.7", 5), owner="abc")
    assert anna == await client_of(("10.0.0.8", 5), owner="abc")
    assert anna != await client_of(("10.0.0.7", 5), owner="abd")


async def test_the_client_is_the_address_without_a_key() -> None:
    assert await client_of(("10.0.0.7", 5)) == await client_of(("10.0.0.7", 6)) == "10.0.0.7"
    assert await client_of(None) == ""


async def test_a_caller_says_what_is_its_own_in_headers() -> None:
    headers = {"X-Request-Id": "order-5", "Cache-Control": "max-age=0, No-Cache", "X-Max-Wait": "2.5"}
    asked, _ = await passed(("10.0.0.7", 5), owner="abc", headers=headers)
    assert asked == CallContext("key abc", "abc", request_id="order-5", max_wait=2.5, use_cache=False)
    assert (await passed(("10.0.0.7", 5)))[0] == CallContext("10.0.0.7", SHARED_OWNER, max_wait=5.0)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        ("ipv4:10.0.0.7:5123", "10.0.0.7"),
        ("ipv6:%5B2001:db8::7%5D:5123", "2001:db8::/64"),
        ("ipv6:[2001:db8::7]:5123", "2001:db8::/64"),
        ("unix:/run/x", ""),
    ],
)
def test_a_grpc_client_is_found_in_its_peer(peer, client):
    assert client_name(SHARED_OWNER, host_of(peer)) == client


async def test_a_caller_may_ask_for_a_shorter_wait() -> None:
    for given, seconds in {"2.5": 2.5, "0": 0.0, "60": 5.0, "inf": 5.0}.items():
        call, _ = await passed(headers={"X-Max-Wait": given})
        assert call is not None
        assert call.max_wait == seconds, given


async def test_a_wait_that_is_no_number_is_refused() -> None:
    for given in ("soon", "-1", "nan", ""):
        call, sent = await passed(headers={"X-Max-Wait": given})
        assert (call, sent[0]["status"]) == (None, 400), given
        assert b"X-Max-Wait" in sent[1]["body"]
