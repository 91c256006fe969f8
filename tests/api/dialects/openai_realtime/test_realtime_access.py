"""Who may open a session of OpenAI's Realtime API: keys, ephemeral keys, hosts, origins, sizes."""

import asyncio
import json
import sqlite3

import pytest
from starlette.testclient import WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from websockets.asyncio.client import connect

from helpers.fakes import tone_service
from helpers.openai_realtime_client import SOCKET, connected, message, realtime_app
from helpers.serving import served
from polyvox.api.middleware.ephemeral_keys import EphemeralKeys
from polyvox.errors import AuthenticationError, ScopeError
from polyvox.service.keys.access import KeyAccess, OperatorAccess
from polyvox.service.keys.keyring import Keyring
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore

KEY = "first-key"
BEARER = {"Authorization": f"Bearer {KEY}"}
SECRETS = "/v1/realtime/client_secrets"


@pytest.fixture(scope="module")
def app():
    with realtime_app(tone_service(api_keys=[KEY, "second-key"])) as client:
        yield client


def denied(app, query="", **options):
    with pytest.raises(WebSocketDenialResponse) as refusal, app.websocket_connect(SOCKET + query, **options):
        pass
    return refusal.value


def by_protocol(key, *others):
    return {"subprotocols": ["realtime", f"openai-insecure-api-key.{key}", *others]}


def test_a_key_is_asked_for_and_may_come_as_a_protocol(app):
    for options in ({}, {"headers": {"Authorization": "Bearer wrong"}}, by_protocol("wrong"), by_protocol("ek_wrong")):
        response = denied(app, **options)
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "invalid_api_key"
    for options in ({"headers": BEARER}, by_protocol(KEY)):
        with connected(app, **options) as client:
            assert client.update(instructions="Calm.")["instructions"] == "Calm."
            assert client.socket.accepted_subprotocol == ("realtime" if "subprotocols" in options else None)


def test_the_beta_version_may_come_as_a_protocol(app):
    with connected(app, **by_protocol(KEY, "openai-beta.realtime-v1")) as client:
        assert client.update()["modalities"] == ["audio", "text"]


def test_an_ephemeral_key_opens_sessions_as_they_were_asked_for_and_nothing_else(app):
    asked = {"session": {"type": "realtime", "audio": {"output": {"voice": "high"}}, "instructions": "Calm."}}
    secret = app.post(SECRETS, json=asked, headers=BEARER).json()
    assert secret["value"].startswith("ek_")
    assert secret["session"]["audio"]["output"]["voice"] == "high"
    assert secret["session"]["id"].startswith("sess_")
    for options in (by_protocol(secret["value"]), {"headers": {"Authorization": f"Bearer {secret['value']}"}}):
        with connected(app, **options) as client:
            session = client.update()
            assert session["audio"]["output"]["voice"] == "high"
            assert session["instructions"] == "Calm."
    mine = {"Authorization": f"Bearer {secret['value']}"}
    assert app.post(SECRETS, json={}, headers=mine).status_code == 401
    assert app.post("/v1/audio/speech", json={"input": "Hello."}, headers=mine).status_code == 401


def test_an_ephemeral_key_needs_a_lasting_one_and_sound_terms(app):
    assert app.post(SECRETS, json={}).status_code == 401
    for body, param in (
        ({"expires_after": {"seconds": 9}}, "expires_after.seconds"),
        ({"expires_after": {"seconds": 7_201}}, "expires_after.seconds"),
        ({"session": {"type": "dictation"}}, "session.type"),
        ({"session": {"model": "nothing"}}, "model"),
        ({"session": {"instructions": "a" * 4_001}}, "session.instructions"),
    ):
        response = app.post(SECRETS, json=body, headers=BEARER)
        assert response.status_code in (400, 404)
        assert response.json()["error"]["param"] == param


def test_an_ephemeral_key_expires_and_the_oldest_of_its_owner_make_room():
    now = 0.0
    keys = EphemeralKeys(OperatorAccess(), clock=lambda: now)
    brief = keys.issue("anna", 10, None)
    lasting = keys.issue("bert", 600, "terms")
    now = 9.9
    assert keys.grant(brief.value.encode()).owner == "anna"
    now = 10.0
    assert keys.grant(brief.value.encode()) is None
    others = [keys.issue("anna", 600, None) for _ in range(1_000)]
    newest = keys.issue("anna", 600, None)
    assert keys.grant(newest.value.encode()).owner == "anna"
    assert keys.grant(lasting.value.encode()).terms == "terms"
    assert keys.grant(b"ek_guess") is None
    assert keys.grant(lasting.value.removeprefix("ek_").encode()) is None
    held = repr(vars(keys))
    issued = [secret.value.removeprefix("ek_") for secret in (brief, lasting, *others, newest)]
    assert not [value for value in issued if value in held]


def test_an_ephemeral_key_ends_with_the_key_that_it_was_made_with(tmp_path):
    store = KeyStore(tmp_path / "keys.sqlite")
    keyring = Keyring([], store)
    keys = EphemeralKeys(KeyAccess(keyring))
    owners = {name: store.create(name, ["speak"], Limits()).record.owner for name in ("anna", "bert", "cleo")}
    keyring.read()
    lent = {name: keys.issue(owner, 60, name).value.encode() for name, owner in owners.items()}
    assert all(keys.grant(key) is not None for key in lent.values())
    store.revoke("anna")
    store.change("bert", scopes=["voices"])
    with sqlite3.connect(store.path) as database:
        database.execute("DELETE FROM keys WHERE name = 'cleo'")
    keyring.read()
    for name, error in (("anna", AuthenticationError), ("bert", ScopeError), ("cleo", AuthenticationError)):
        with pytest.raises(error):
            keys.grant(lent[name])
        with pytest.raises(error):
            keys.issue(owners[name], 60, name)


def test_an_ephemeral_key_from_a_time_without_keys_ends_with_the_first_key(tmp_path):
    service = tone_service(data_dir=tmp_path)
    with realtime_app(service) as app:
        secret = app.post(SECRETS, json={}).json()["value"]
        with connected(app, **by_protocol(secret)):
            pass
        KeyStore(tmp_path / "keys.sqlite").create("anna", ["speak"], Limits())
        service.accounts.keyring.read()
        assert denied(app, **by_protocol(secret)).status_code == 401


def test_a_server_without_keys_hands_out_ephemeral_ones_too():
    with realtime_app(tone_service()) as app:
        secret = app.post(SECRETS, json={"session": {"audio": {"output": {"voice": "high"}}}}).json()
        with connected(app, **by_protocol(secret["value"])) as client:
            assert client.update()["audio"]["output"]["voice"] == "high"
        with connected(app, **by_protocol("anything")) as client:
            assert client.update()["audio"]["output"]["voice"] == "low"


@pytest.mark.parametrize(
    ("query", "status", "param"),
    [
        ("?model=nothing", 404, "model"),
        ("?intent=dictation", 400, "intent"),
        (f"?model={'m' * 201}", 400, "model"),
    ],
)
def test_a_session_that_cannot_be_is_refused_at_the_handshake(app, query, status, param):
    response = denied(app, query, headers=BEARER)
    assert response.status_code == status
    assert response.json()["error"]["param"] == param


def test_hosts_and_origins_are_checked():
    with realtime_app(tone_service(), allowed_hosts=["speech.example"]) as app:
        assert denied(app, headers={"Host": "evil.example"}).status_code == 403
        assert denied(app, headers={"Host": "speech.example", "Origin": "https://page.example"}).status_code == 403
        with connected(app, headers={"Host": "speech.example", "Origin": "http://speech.example"}):
            pass


def test_a_message_over_the_limit_ends_the_socket():
    with realtime_app(tone_service(max_body_bytes=1_024)) as app, connected(app) as client:
        client.say("a" * 800)
        client.send("conversation.item.create", item=message("a" * 1_024))
        with pytest.raises(WebSocketDisconnect) as end:
            client.next()
    assert end.value.code == 1009


async def exchange(url, *messages):
    """The answers of a real server to some messages, after the session has begun."""
    async with connect(f"{url.replace('http', 'ws')}/v1/realtime?model=gpt-realtime", proxy=None) as socket:
        await socket.recv()
        answers = []
        for each in messages:
            await socket.send(each)
            answers.append(json.loads(await socket.recv()))
        return answers


def test_half_of_a_character_is_no_end_of_a_real_socket():
    half = '{"type": "conversation.item.create", "event_id": "\\ud800", "item": {"content": [{"type": "\\ud800"}]}}'
    with served(tone_service()) as url:
        first, second = asyncio.run(exchange(url, half, '{"type": "nothing"}'))
    assert (first["type"], second["type"]) == ("error", "error")
