"""WebSockets pass the checks that HTTP requests pass: keys, host, origin, size, and errors in the door's wording."""

import asyncio
import contextlib
import json

import pytest
from fastapi import APIRouter, HTTPException, WebSocket
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from helpers.fakes import tone_service
from helpers.serving import served_by_granian, served_by_uvicorn
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.api.dependencies import Owner, Service
from polyvox.api.door import Door
from polyvox.api.doors import DOORS
from polyvox.api.middleware.auth import owner_of
from polyvox.api.refusals import Refusal
from polyvox.errors import OverloadedError, TextError
from polyvox.service.keys.operations import Operation

KEY = "first-key"
LIMIT = 1_024

router = APIRouter(prefix="/socket")


@router.websocket("/echo")
@router.websocket("/recording")
@router.websocket("/public")
async def echo(websocket: WebSocket, service: Service, owner: Owner) -> None:
    """Say who called, then repeat what comes."""
    await websocket.accept()
    await websocket.send_json({"owner": owner, "model": service.settings.default_model})
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
        await websocket.send_text(message.get("text") or str(len(message["bytes"])))


@router.websocket("/error")
async def fail(websocket: WebSocket, kind: str, late: bool = False) -> None:
    """Fail before or after the handshake."""
    if late:
        await websocket.accept()
    raise {
        "text": TextError("Nothing in the text can be spoken; send words.", field="input"),
        "busy": OverloadedError("The queue is full; try again.", retry_after=2.0),
        "http": HTTPException(410, "It is gone"),
        "defect": RuntimeError("secret"),
    }[kind]


def curt(refusal: Refusal) -> tuple[int, dict[str, object]]:
    return refusal.status, {"curt": refusal.message}


DOOR = Door(
    "socket",
    router,
    recordings=["/socket/recording"],
    public=["/socket/public"],
    wordings={"/socket/curt*": curt},
    operations={"WS /socket/*": Operation.SPEAK},
)


class WithoutDenial:
    """A server that cannot answer a handshake with a response."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        await self._app({name: value for name, value in scope.items() if name != "extensions"}, receive, send)


def client(*, allowed_hosts=None, denial=True, **settings):
    app = create_app(tone_service(**settings), doors=(*DOORS, DOOR), allowed_hosts=allowed_hosts)
    return TestClient(app if denial else WithoutDenial(app))


def denied(caller, path, **options):
    with pytest.raises(WebSocketDenialResponse) as refusal, caller.websocket_connect(path, **options):
        pass
    return refusal.value


def closed(caller, path, **options):
    """The code and reason with which a socket is closed, at the handshake or at the next message."""
    with pytest.raises(WebSocketDisconnect) as end, caller.websocket_connect(path, **options) as socket:
        socket.receive_text()
    return end.value.code, end.value.reason


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def test_a_handshake_without_a_key_is_refused_like_a_request():
    caller = client(api_keys=[KEY])
    for headers in ({}, bearer("wrong"), {"Authorization": KEY}):
        response = denied(caller, "/socket/echo", headers=headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert response.json()["error"]["code"] == "invalid_api_key"


def test_a_key_opens_a_socket_and_names_its_owner():
    with client(api_keys=[KEY]).websocket_connect("/socket/echo", headers=bearer(KEY)) as socket:
        assert socket.receive_json() == {"owner": owner_of(KEY), "model": "tone"}
        socket.send_text("hello")
        assert socket.receive_text() == "hello"


def test_a_public_path_needs_no_key():
    with client(api_keys=[KEY]).websocket_connect("/socket/public") as socket:
        assert socket.receive_json()["model"] == "tone"


def test_a_server_that_cannot_answer_a_handshake_closes_it():
    code, reason = closed(client(api_keys=[KEY], denial=False), "/socket/echo")
    assert code == 1008
    assert "key" in reason


@each_row("host", ["evil.example", "localhost.evil.example:8880"])
def test_a_handshake_to_an_unknown_host_is_refused(host):
    response = denied(client(allowed_hosts=["speech.example"]), "/socket/echo", headers={"Host": host})
    assert response.status_code == 403
    assert "allowed_hosts" in response.json()["error"]["message"]


@each_row("host", ["127.0.0.1:8880", "localhost", "speech.example"])
def test_a_handshake_to_a_known_host_is_accepted(host):
    with client(allowed_hosts=["speech.example"]).websocket_connect("/socket/echo", headers={"Host": host}) as socket:
        assert socket.receive_json()


@each_row("origin", ["https://page.example", "null", "http://testserver.example", "http://testserver:81"])
def test_a_page_of_another_origin_opens_no_socket(origin):
    response = denied(client(), "/socket/echo", headers={"Origin": origin})
    assert response.status_code == 403
    assert "cors_origins" in response.json()["error"]["message"]


@each_row(
    ("origin", "allowed"),
    [("http://testserver", []), ("https://page.example", ["https://page.example"]), ("https://page.example", ["*"])],
)
def test_a_page_of_its_own_or_an_allowed_origin_does(origin, allowed):
    caller = client(cors_origins=allowed)
    with caller.websocket_connect("/socket/echo", headers={"Origin": origin}) as socket:
        assert socket.receive_json()


def test_a_message_at_the_limit_passes_and_one_over_it_closes_the_socket():
    with client(max_body_bytes=LIMIT).websocket_connect("/socket/echo") as socket:
        socket.receive_json()
        socket.send_text("é" * (LIMIT // 2))
        assert socket.receive_text() == "é" * (LIMIT // 2)
        socket.send_bytes(b" " * LIMIT)
        assert socket.receive_text() == str(LIMIT)
        socket.send_text("é" * (LIMIT // 2) + "e")
        with pytest.raises(WebSocketDisconnect) as end:
            socket.receive_text()
    assert end.value.code == 1009
    assert str(LIMIT) in end.value.reason


def test_a_path_that_takes_recordings_has_room_for_one():
    with client(max_body_bytes=LIMIT, prompt_max_bytes=3 * LIMIT).websocket_connect("/socket/recording") as socket:
        socket.receive_json()
        socket.send_bytes(b" " * (5 * LIMIT))
        assert socket.receive_text() == str(5 * LIMIT)
        socket.send_bytes(b" " * (5 * LIMIT + 1))
        with pytest.raises(WebSocketDisconnect) as end:
            socket.receive_text()
    assert end.value.code == 1009


@each_row("path", ["/socket/nothing", "/v1/audio/speech", "/nothing"])
def test_an_unknown_path_is_answered_with_a_sentence(path):
    response = denied(client(), path)
    assert response.status_code == 404
    assert response.json()["error"] == {
        "message": f"There is nothing at {path}; /docs lists what there is.",
        "type": "invalid_request_error",
        "param": None,
        "code": "not_found",
    }


def test_a_refusal_is_in_the_wording_of_its_door():
    assert denied(client(), "/socket/curtly").json() == {
        "curt": "There is nothing at /socket/curtly; /docs lists what there is."
    }


@each_row(
    ("kind", "status", "code"), [("text", 400, 1008), ("busy", 429, 1013), ("http", 410, 1008), ("defect", 500, 1011)]
)
def test_an_error_denies_the_handshake_or_closes_the_socket(kind, status, code):
    with capture_logs():
        response = denied(client(), f"/socket/error?kind={kind}")
        without_denial = closed(client(denial=False), f"/socket/error?kind={kind}")
        late = closed(client(), f"/socket/error?kind={kind}&late=true")
    assert response.status_code == status
    assert without_denial[0] == late[0] == code
    assert "secret" not in response.text + late[1]


def test_a_defect_is_in_the_log_under_its_reference():
    with capture_logs() as logs:
        _, reason = closed(client(), "/socket/error?kind=defect&late=true")
    (record,) = [entry for entry in logs if entry["event"] == "request failed"]
    assert record["session"] in reason


def test_a_parameter_that_is_missing_is_named():
    response = denied(client(), "/socket/error")
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "kind"


async def refused_status(url, **headers):
    with pytest.raises(InvalidStatus) as refusal:
        await connect(url, additional_headers=headers, proxy=None)
    response = refusal.value.response
    return response.status_code, json.loads(response.body)["error"]["code"]


async def talk(url):
    """What a real client meets: refusals with a body, an answer, and an end when it sends too much."""
    refusals = [
        await refused_status(f"{url}/socket/echo"),
        await refused_status(f"{url}/socket/echo", **bearer(KEY), Origin="https://page.example"),
        await refused_status(f"{url}/nothing", **bearer(KEY)),
    ]
    async with connect(f"{url}/socket/echo", additional_headers=bearer(KEY), proxy=None) as socket:
        await socket.recv()
        await socket.send("hello")
        answer = await socket.recv()
        await socket.send("x" * (LIMIT + 1))
        with contextlib.suppress(ConnectionClosed):
            await socket.recv()
        return refusals, answer, socket.close_code


@each_row("serve", [served_by_uvicorn, served_by_granian])
def test_a_real_client_of_a_real_server_meets_the_same_checks(serve):
    service = tone_service(api_keys=[KEY], max_body_bytes=LIMIT)
    with serve(service, doors=(*DOORS, DOOR)) as url:
        refusals, answer, code = asyncio.run(talk(url.replace("http://", "ws://")))
    assert refusals == [(401, "invalid_api_key"), (403, "forbidden"), (404, "not_found")]
    assert answer == "hello"
    assert code == 1009
