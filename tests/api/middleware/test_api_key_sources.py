"""Keys that come elsewhere than in `Authorization`: where a door says so, and nowhere else."""

import pytest
from fastapi import APIRouter, Request, WebSocket
from starlette.testclient import TestClient, WebSocketDenialResponse

from helpers.fakes import tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.api.dependencies import Owner
from polyvox.api.door import Door
from polyvox.api.doors import DOORS
from polyvox.api.middleware.auth import owner_of
from polyvox.api.middleware.key_sources import KeySources
from polyvox.service.keys.operations import Operation
from polyvox.voices.records import SHARED_OWNER

KEYS = ["first-key", "zweiter+schlüssel/="]
ENCODED = {"first-key": "first-key", "zweiter+schlüssel/=": "zweiter%2Bschl%C3%BCssel%2F%3D"}
SOURCES = KeySources(headers=("xi-api-key", "x-api-key"), queries=("api_key", "token"), protocols=("page-key.",))
PLAIN, KEYED, LIST, SOCKET = "/keys/plain", "/keys/open/here", "/keys/open/list", "/keys/open/socket"

router = APIRouter(prefix="/keys")


@router.get("/plain")
@router.get("/open/here")
@router.get("/open/list")
async def show(request: Request, owner: Owner) -> dict[str, str]:
    return {"owner": owner, "query": request.url.query}


@router.websocket("/plain")
@router.websocket("/open/socket")
async def socket(websocket: WebSocket, owner: Owner) -> None:
    offered = websocket.scope["subprotocols"]
    await websocket.accept(subprotocol=next(iter(offered), None))
    await websocket.send_json({"owner": owner, "query": websocket.url.query, "offered": offered})
    await websocket.close()


DOOR = Door(
    "keyed",
    router,
    lists=[LIST],
    keys={"/keys/open/*": SOURCES},
    operations={"GET /keys/*": Operation.LIST, "WS /keys/*": Operation.SPEAK},
)
WITH_KEYED = (*DOORS, DOOR)


def calling(**settings):
    return called(tone_service(api_keys=KEYS, **settings), doors=WITH_KEYED)


def caller(**settings):
    return TestClient(create_app(tone_service(**settings), doors=WITH_KEYED))


def ways(key):
    """Each place for a key as the parameters of a request."""
    return [
        {"headers": {"Authorization": b"Bearer " + key.encode()}},
        {"headers": {"xi-api-key": key.encode()}},
        {"headers": {"X-API-Key": b" " + key.encode() + b" "}},
        {"params": {"api_key": key}},
        {"params": {"token": key}},
        {"headers": {"Authorization": "Basic Zm9vOmJhcg==", "xi-api-key": key.encode()}},
    ]


@pytest.mark.anyio
@each_row("key", KEYS)
async def test_a_key_is_read_from_each_place_and_names_its_owner(key):
    async with calling() as client:
        answers = [await client.get(KEYED, **way) for way in ways(key)]
    assert [answer.json() for answer in answers] == [{"owner": owner_of(key), "query": ""}] * len(answers)


@pytest.mark.anyio
@each_row("way", [*ways("wrong")[:5], *ways("")[:5], {"params": {"API_KEY": KEYS[0]}}, {}])
async def test_a_wrong_or_empty_key_opens_nothing(way):
    async with calling() as client:
        refused = await client.get(KEYED, **way)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "wrong" not in refused.text


@pytest.mark.anyio
async def test_a_path_takes_keys_only_where_its_door_says_so():
    async with calling() as client:
        answers = [await client.get(PLAIN, **way) for way in ways(KEYS[0])]
        speech = await client.post("/v1/audio/speech", json={"input": "Hello."}, params={"api_key": KEYS[0]})
    assert [answer.status_code for answer in answers] == [200, 401, 401, 401, 401, 401]
    assert speech.status_code == 401


@pytest.mark.anyio
async def test_the_first_of_several_keys_counts():
    bearer = {"Authorization": "Bearer first-key"}
    async with calling() as client:
        other = await client.get(KEYED, headers=bearer | {"xi-api-key": "wrong"}, params={"api_key": "wrong"})
        wrong = await client.get(KEYED, headers={"Authorization": "Bearer wrong", "xi-api-key": "first-key"})
        twice = await client.get(f"{KEYED}?api_key=first-key&api_key=wrong")
    assert [other.status_code, wrong.status_code, twice.status_code] == [200, 401, 200]


@pytest.mark.anyio
async def test_the_refusal_says_where_a_key_may_go_at_this_path():
    async with calling() as client:
        here, elsewhere = await client.get(KEYED), await client.get(PLAIN)
    assert error_of(elsewhere)["message"] == "This server asks for a key: send it as 'Authorization: Bearer KEY'."
    assert error_of(here)["message"] == (
        "This server asks for a key: send it as 'Authorization: Bearer KEY', in the header 'xi-api-key', "
        "in the header 'x-api-key', as '?api_key=KEY' or as '?token=KEY'."
    )


@pytest.mark.anyio
async def test_what_else_is_in_the_query_stays_and_a_plus_of_base64_need_not_be_encoded():
    async with calling() as client:
        answer = await client.get(f"{KEYED}?a=%2B+1&api_key=zweiter+schl%C3%BCssel/=&b")
        encoded_name = await client.get(f"{KEYED}?api%5Fkey=first-key&a=1")
    assert answer.json() == {"owner": owner_of(KEYS[1]), "query": "a=%2B+1&b"}
    assert encoded_name.json() == {"owner": owner_of(KEYS[0]), "query": "a=1"}


@pytest.mark.anyio
async def test_a_public_list_needs_no_key_but_one_that_is_sent_must_be_right():
    async with calling(public_lists=True) as client:
        answers = [await client.get(LIST, **way) for way in ({}, *ways(KEYS[0]), *ways("wrong"))]
        assert (await client.get(KEYED)).status_code == 401
    assert [answer.status_code for answer in answers] == [200] + [200] * 6 + [401] * 6


@each_row("key", KEYS)
def test_a_web_page_opens_a_socket_with_a_key_in_the_query_or_as_a_protocol(key):
    with caller(api_keys=KEYS) as client:
        with client.websocket_connect(f"{SOCKET}?a=1&api_key={ENCODED[key]}") as opened:
            assert opened.receive_json() == {"owner": owner_of(key), "query": "a=1", "offered": []}
            assert opened.accepted_subprotocol is None
        protocols = [f"page-key.{ENCODED[key]}", "polyvox"]
        with client.websocket_connect(SOCKET, subprotocols=protocols) as opened:
            assert opened.receive_json() == {"owner": owner_of(key), "query": "", "offered": ["polyvox"]}
            assert opened.accepted_subprotocol == "polyvox"


@each_row(
    ("path", "protocols"),
    [
        (SOCKET, []),
        (SOCKET, ["polyvox"]),
        (SOCKET, ["page-key.", "polyvox"]),
        (SOCKET, ["page-key.wrong", "polyvox"]),
        (SOCKET, ["first-key"]),
        ("/keys/plain?api_key=first-key", ["page-key.first-key"]),
    ],
)
def test_a_socket_without_the_key_is_refused_in_the_handshake(path, protocols):
    with caller(api_keys=KEYS) as client, pytest.raises(WebSocketDenialResponse) as refusal:
        client.websocket_connect(path, subprotocols=protocols).__enter__()
    assert refusal.value.status_code == 401
    message = error_of(refusal.value)["message"]
    assert ("as the WebSocket protocol 'page-key.KEY' besides another." in message) == (path == SOCKET)


def test_a_key_that_nobody_asked_for_is_taken_away_too():
    with caller() as client:
        shown = client.get(KEYED, params={"api_key": "any", "a": "1"}).json()
        with client.websocket_connect(SOCKET, subprotocols=["page-key.any", "polyvox"]) as opened:
            assert opened.receive_json() == {"owner": SHARED_OWNER, "query": "", "offered": ["polyvox"]}
    assert shown == {"owner": SHARED_OWNER, "query": "a=1"}


def test_doors_that_share_a_path_keep_their_own_places():
    other = Door("other", APIRouter(), keys={"/keys/open/*": KeySources(headers=("x-other",))})
    app = create_app(tone_service(api_keys=KEYS), doors=(*WITH_KEYED, other))
    with TestClient(app) as client:
        answers = [client.get(KEYED, headers={name: KEYS[0]}) for name in ("x-other", "xi-api-key", "x-none")]
    assert [answer.status_code for answer in answers] == [200, 200, 401]
