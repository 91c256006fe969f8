"""Every WebSocket of every door: keys, hosts, origins and the size of messages."""

import re
from collections.abc import Iterable, Iterator

import pytest
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse

from helpers.fakes import tone_service
from polyvox.api.app import create_app
from polyvox.api.doors import DOORS
from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.middleware.size_limit import largest_message
from polyvox.api.paths import PathTable

KEY = "first-key"
LIMIT = 1_024
BEARER = {"Authorization": f"Bearer {KEY}"}


def sockets(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[str]:
    """The paths of WebSockets among routes and in the routers that they include, each with a voice that there is."""
    for route in routes:
        if isinstance(route, WebSocketRoute):
            yield re.sub(r"\{\w+(:\w+)?\}", "low", prefix + route.path)
        elif (included := getattr(route, "original_router", None)) is not None:
            yield from sockets(included.routes, prefix + route.include_context.prefix)


PATHS = sorted({path for door in DOORS for path in sockets(door.router.routes)})
SOURCES = PathTable([row for door in DOORS for row in door.keys.items()], default=KeySources())
EACH = pytest.mark.parametrize("path", PATHS)


def caller(**settings: object) -> TestClient:
    service = tone_service(max_body_bytes=LIMIT, prompt_max_bytes=LIMIT, **settings)
    return TestClient(create_app(service, allowed_hosts=["speech.example", "testserver"]))


@pytest.fixture(scope="module")
def keyed() -> Iterator[TestClient]:
    with caller(api_keys=[KEY]) as client:
        yield client


@pytest.fixture(scope="module")
def keyless() -> Iterator[TestClient]:
    with caller() as client:
        yield client


def denied(client: TestClient, path: str, **options: object) -> WebSocketDenialResponse:
    with pytest.raises(WebSocketDenialResponse) as refusal, client.websocket_connect(path, **options):
        pass
    return refusal.value


def test_all_are_found() -> None:
    assert {"/v1/realtime", "/v1/realtime/speech", "/tts/websocket"} <= set(PATHS)
    assert "/v1/text-to-speech/low/stream-input" in PATHS
    assert "/v1/text-to-speech/low/multi-stream-input" in PATHS


@EACH
def test_none_opens_without_the_key(keyed: TestClient, path: str) -> None:
    sources = SOURCES[path]
    wrong = [{"headers": {"Authorization": "Bearer wrong"}}, {"headers": {"Authorization": KEY}}]
    wrong += [{"headers": {name: "wrong"}} for name in sources.headers]
    wrong += [{"subprotocols": ["polyvox", f"{prefix}wrong"]} for prefix in sources.protocols]
    answers = [denied(keyed, path, **way) for way in ({}, *wrong)]
    answers += [denied(keyed, f"{path}?{name}=wrong") for name in sources.queries]
    assert {answer.status_code for answer in answers} == {401}
    assert all("key" in answer.text.lower() for answer in answers)
    assert not any("wrong" in answer.text for answer in answers)


@EACH
def test_each_opens_with_it_in_every_place_that_its_door_names(keyed: TestClient, path: str) -> None:
    sources = SOURCES[path]
    ways = [(path, {"headers": BEARER})]
    ways += [(path, {"headers": {name: KEY}}) for name in sources.headers]
    ways += [(f"{path}?{name}={KEY}", {}) for name in sources.queries]
    ways += [(path, {"subprotocols": [f"{prefix}{KEY}", "realtime", "polyvox"]}) for prefix in sources.protocols]
    for address, options in ways:
        with keyed.websocket_connect(address, **options) as opened:
            assert opened.accepted_subprotocol in (None, "realtime", "polyvox")
            assert (opened.accepted_subprotocol is not None) == ("subprotocols" in options)


@EACH
def test_none_opens_to_other_hosts_or_pages(keyless: TestClient, path: str) -> None:
    host = denied(keyless, path, headers={"Host": "evil.example"})
    page = denied(keyless, path, headers={"Origin": "https://page.example"})
    with keyless.websocket_connect(path, headers={"Host": "speech.example", "Origin": "http://speech.example"}):
        pass
    assert (host.status_code, page.status_code) == (403, 403)


@EACH
def test_a_message_over_the_limit_ends_each(keyless: TestClient, path: str) -> None:
    """That of sockets which take a recording is larger, by as much as one may have."""
    with keyless.websocket_connect(path) as opened:
        opened.send_text(" " * (largest_message(keyless.app.state.service.settings) + 1))
        ended = next(message for _ in range(10) if (message := opened.receive())["type"] == "websocket.close")
    assert ended["code"] == 1009
