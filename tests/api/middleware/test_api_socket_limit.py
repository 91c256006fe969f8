"""How many WebSockets one client may have open."""

import pytest
from fastapi import APIRouter, WebSocket
from starlette.testclient import TestClient, WebSocketDenialResponse

from helpers.fakes import tone_service
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.api.door import Door
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService

LIMIT = 2
PATH = "/socket"
router = APIRouter()


@router.websocket(PATH)
async def wait(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.receive()


def caller(service: SpeechService, address: str) -> TestClient:
    return TestClient(
        create_app(service, doors=[Door("socket", router, operations={f"WS {PATH}": Operation.SPEAK})]),
        client=(address, 5_000),
    )


def limited(**settings: object) -> SpeechService:
    return tone_service(max_sockets_per_client=LIMIT, **settings)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def open_sockets(service: SpeechService) -> float | None:
    return service.metrics.registry.get_sample_value("polyvox_open_sockets")


def test_one_more_than_the_limit_is_refused_until_another_closes() -> None:
    service = limited()
    client = caller(service, "203.0.113.7")
    with client.websocket_connect(PATH):
        with client.websocket_connect(PATH):
            assert open_sockets(service) == LIMIT
            with pytest.raises(WebSocketDenialResponse) as refusal, client.websocket_connect(PATH):
                pass
            assert refusal.value.status_code == 429
            assert refusal.value.headers["retry-after"] == "5"
            assert f"{LIMIT} WebSockets" in refusal.value.json()["error"]["message"]
        with client.websocket_connect(PATH):
            assert open_sockets(service) == LIMIT
    assert open_sockets(service) == 0


def test_each_key_has_its_own_sockets_also_behind_a_proxy() -> None:
    client = caller(limited(api_keys=["one", "two"]), "127.0.0.1")
    with client.websocket_connect(PATH, headers=bearer("one")), client.websocket_connect(PATH, headers=bearer("one")):
        with pytest.raises(WebSocketDenialResponse), client.websocket_connect(PATH, headers=bearer("one")):
            pass
        with client.websocket_connect(PATH, headers=bearer("two")):
            pass


@each_row("address", ["127.0.0.1", "10.1.2.3"])
def test_without_a_key_loopback_and_proxies_are_many_people(address: str) -> None:
    service = limited(trusted_proxies=["10.0.0.0/8"])
    client = caller(service, address)
    with client.websocket_connect(PATH), client.websocket_connect(PATH), client.websocket_connect(PATH):
        assert open_sockets(service) == LIMIT + 1
