"""What is open with a key ends with it: sessions at once, the calls around them soon after."""

import asyncio

import pytest
from structlog.testing import capture_logs

from helpers.fakes import ToneEngine, running, tone_service
from polyvox.errors import AuthenticationError
from polyvox.service.call_context import CallContext
from polyvox.service.keys import open_calls
from polyvox.service.keys.client_names import job_client, key_client
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore, NewKey
from polyvox.service.session import SessionState
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(tmp_path) -> KeyStore:
    return KeyStore(tmp_path / "keys.sqlite")


@pytest.fixture
def anna(store) -> NewKey:
    return store.create("anna", ["speak"], Limits())


def swept(service: SpeechService) -> None:
    """What a running server does every second."""
    service.accounts.keyring.read()
    service.accounts.calls.sweep()


async def speaking(service: SpeechService, client: str):
    session = await service.open(SpeechRequest(Utterance("Hello.", "low")), CallContext(client))
    await anext(session)
    return session


async def test_a_revoked_keys_sessions_are_cancelled_with_the_reason_and_no_others(tmp_path, store, anna):
    bert = store.create("bert", ["speak"], Limits())
    engine = ToneEngine(chunks=1_000, delay=0.001)
    async with running(tone_service(engine, data_dir=tmp_path)) as service:
        clients = (key_client(anna.record.owner), job_client(anna.record.owner), key_client(bert.record.owner))
        sessions = [await speaking(service, client) for client in clients]
        swept(service)
        assert engine.speaking == 3
        store.revoke("anna")
        with capture_logs() as logs:
            swept(service)
        for session in sessions[:2]:
            with pytest.raises(AuthenticationError, match="revoked"):
                await anext(session)
            await asyncio.wait([session.task])
            assert session.state is SessionState.CANCELLED
        assert await anext(sessions[2])
        assert [(line["key"], line["open"]) for line in logs if "key" in line] == [("anna", 2)]
        with pytest.raises(AuthenticationError):
            await speaking(service, key_client(anna.record.owner))
        async with sessions[2]:
            pass


async def test_a_call_has_a_moment_to_end_by_itself_and_is_then_cut(tmp_path, store, anna, monkeypatch):
    monkeypatch.setattr(open_calls, "GRACE_SECONDS", 0.0)
    service = tone_service(data_dir=tmp_path)
    calls = service.accounts.calls

    async def held(owner: str) -> None:
        async with calls.lasting(owner):
            await asyncio.Event().wait()

    mine, everybodys = asyncio.create_task(held(anna.record.owner)), asyncio.create_task(held(""))
    await asyncio.sleep(0)
    swept(service)
    store.revoke("anna")
    swept(service)
    with pytest.raises(AuthenticationError, match="revoked"):
        await mine
    assert not everybodys.done()
    everybodys.cancel()
    await asyncio.wait([everybodys])


async def test_a_deadline_within_a_call_is_not_taken_for_the_end_of_its_key(tmp_path, anna):
    calls = tone_service(data_dir=tmp_path).accounts.calls
    with pytest.raises(TimeoutError):
        async with calls.lasting(anna.record.owner), asyncio.timeout(0):
            await asyncio.Event().wait()


async def test_nothing_is_remembered_of_calls_that_have_ended(tmp_path, anna):
    async with running(tone_service(data_dir=tmp_path)) as service:
        async with service.accounts.calls.lasting(anna.record.owner):
            async with await speaking(service, key_client(anna.record.owner)):
                assert service.accounts.calls.open == 2
            assert service.accounts.calls.open == 1
        assert service.accounts.calls.open == 0
