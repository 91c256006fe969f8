"""Keys, their file, the counters of their limits and the account of their use."""

import asyncio
import sqlite3
import stat
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from helpers.fakes import ToneEngine, running, tone_service
from polyvox.errors import (
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    QuotaError,
    RateLimitError,
    ScopeError,
    UnavailableError,
)
from polyvox.service.call_context import CallContext
from polyvox.service.keys import keyring as keyring_module
from polyvox.service.keys.client_names import batch_client, job_client, key_client, owner_in
from polyvox.service.keys.counters import MemoryCounters, Reservation, Resource
from polyvox.service.keys.keyring import Keyring
from polyvox.service.keys.ledger import UsageLedger
from polyvox.service.keys.record import Limits, Scope
from polyvox.service.keys.store import KeyStore
from polyvox.service.keys.usage import DayClock, Usage
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.telemetry.metrics import Metrics
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio

DAY = "2026-11-16"


@pytest.fixture
def store(tmp_path) -> KeyStore:
    return KeyStore(tmp_path / "data" / "keys.sqlite")


def test_a_key_is_stored_as_a_hash_in_a_file_of_its_owner_alone(store):
    made = store.create("anna", ["speak"], Limits(streams=2))
    data = store.path.read_bytes()
    assert made.secret.startswith("pvx_")
    assert len(made.secret) >= 40
    assert made.secret.encode() not in data
    assert made.secret.removeprefix("pvx_").encode() not in data
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_key_is_changed_and_revoked_by_its_name(store):
    store.create("anna", ["speak"], Limits(streams=2, requests_a_minute=5))
    store.change("anna", limits={"streams": 0})
    store.change("anna", scopes=["voices", "admin"])
    (record,) = store.records().values()
    assert record.limits == Limits(requests_a_minute=5)
    assert record.scopes == {Scope.VOICES, Scope.ADMIN}
    store.revoke("anna")
    (record,) = store.records().values()
    assert record.revoked is not None
    for done_before in (lambda: store.revoke("anna"), lambda: store.change("anna"), lambda: store.revoke("nobody")):
        with pytest.raises(NotFoundError):
            done_before()
    with pytest.raises(ConflictError, match="choose another name"):
        store.create("anna", ["speak"], Limits())


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a" * 65,
        "-a",
        "../a",
        "a b",
        'a"}',
        "a\nb",
        "a\x00",
        "é",
        "anonymous",
        "other",
        "api-key-1",
        "'; DROP TABLE keys",
    ],
)
def test_a_name_that_could_do_harm_elsewhere_is_refused(store, name):
    with pytest.raises(InvalidRequestError):
        store.create(name, ["speak"], Limits())
    assert not store.exists


def test_unknown_scopes_and_limits_below_nothing_are_refused(store):
    with pytest.raises(InvalidRequestError, match="is no scope"):
        store.create("anna", ["everything"], Limits())
    with pytest.raises(InvalidRequestError, match="'streams'"):
        Limits(streams=-1)
    with pytest.raises(InvalidRequestError, match="'characters_a_day'"):
        Limits(characters_a_day=2**63)


def test_a_file_that_is_no_database_is_an_error_and_not_an_open_door(store):
    store.path.parent.mkdir()
    store.path.write_bytes(b"no database, but long enough to look like one" * 100)
    with pytest.raises(UnavailableError, match="cannot be used"):
        Keyring([], store)


def test_a_file_of_a_newer_version_is_left_alone(store):
    store.create("anna", ["speak"], Limits())
    with sqlite3.connect(store.path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(UnavailableError, match="newer version"):
        store.create("bert", ["speak"], Limits())


async def test_a_running_server_follows_what_becomes_of_keys(store, monkeypatch):
    monkeypatch.setattr(keyring_module, "FOLLOW_SECONDS", 0.01)
    keyring = Keyring([], store)
    assert not keyring.asks
    keyring.follow()
    made = store.create("anna", ["speak"], Limits())
    await _until(lambda: keyring.asks)
    assert keyring.find(made.secret.encode()).name == "anna"
    store.change("anna", limits={"streams": 3})
    await _until(lambda: keyring.find(made.secret.encode()).limits.streams == 3)
    store.revoke("anna")
    await _until(lambda: not keyring.active())
    with pytest.raises(AuthenticationError):
        keyring.find(made.secret.encode())
    assert keyring.asks  # to revoke the last key opens nothing
    await keyring.close()


def _emptied(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM keys")


def _replaced(path: Path) -> None:
    path.unlink()
    KeyStore(path).make()


def _unreadable_rows(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE keys SET scopes = 'everything'")
        database.execute("UPDATE revision SET number = 7")


def _no_revision(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM revision")


def _out_of_reach(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


LOSSES = {
    "deleted": Path.unlink,
    "emptied": _emptied,
    "replaced by a file without keys": _replaced,
    "truncated": lambda path: path.write_bytes(b""),
    "overwritten": lambda path: path.write_bytes(b"broken" * 1_000),
    "rows from elsewhere": _unreadable_rows,
    "without its revision": _no_revision,
    "out of reach": _out_of_reach,
}


async def test_a_file_that_lost_its_keys_is_an_alarm_and_opens_no_server(store, monkeypatch):
    monkeypatch.setattr(keyring_module, "FOLLOW_SECONDS", 0.01)
    known = store.create("anna", ["speak"], Limits()).secret.encode()
    good = store.path.read_bytes()
    keyring = Keyring([], store)
    keyring.follow()
    for name, lose in LOSSES.items():
        lose(store.path)
        await _until(lambda: bool(keyring.problem))
        assert keyring.asks, name
        assert keyring.find(known).name == "anna", name
        with pytest.raises(AuthenticationError):
            keyring.find(b"")
        try:  # a server that starts now knows no key: it does not start, or lets nobody in
            started = Keyring([], store)
        except UnavailableError:
            pass
        else:
            assert started.asks, name
            assert started.problem, name
            with pytest.raises(AuthenticationError):
                started.find(known)
        store.path.unlink(missing_ok=True)
        store.path.write_bytes(good)
        await _until(lambda: not keyring.problem)
        assert keyring.find(known).name == "anna", name
    await keyring.close()


def test_the_keys_of_a_new_file_are_accepted_and_those_of_the_old_one_are_not(store):
    old = store.create("anna", ["speak"], Limits()).secret.encode()
    keyring = Keyring([], store)
    for name in ("bert", "carl"):
        store.path.unlink()
        keyring.read()
        assert keyring.problem
        new = store.create(name, ["speak"], Limits()).secret.encode()
        with capture_logs() as logs:
            keyring.read()
        assert [entry["log_level"] for entry in logs] == ["error", "info"]
        assert not keyring.problem
        assert keyring.find(new).name == name
        with pytest.raises(AuthenticationError):
            keyring.find(old)
        old = new


def test_keys_that_were_made_before_there_were_marks_are_remembered_from_the_first_look(store):
    store.create("anna", ["speak"], Limits())
    (mark,) = store.path.parent.glob("*.required")
    mark.unlink()
    Keyring([], store)
    store.path.unlink()
    assert store.required
    mark.unlink()
    assert not Keyring([], store).asks  # who deletes both wants an open server


def test_a_mark_that_cannot_be_written_keeps_no_key_out(store):
    made = store.create("anna", ["speak"], Limits())
    (mark,) = store.path.parent.glob("*.required")
    mark.unlink()
    mark.symlink_to(store.path.parent / "no folder" / "mark")
    keyring = Keyring([], store)
    assert keyring.find(made.secret.encode()).name == "anna"
    store.path.unlink()
    keyring.read()
    assert keyring.asks
    assert keyring.problem


def test_to_change_or_revoke_a_key_makes_no_file(store):
    for refused in (lambda: store.change("anna"), lambda: store.revoke("anna"), lambda: store.add_usage({})):
        with pytest.raises(NotFoundError, match="keys create"):
            refused()
    assert not store.path.parent.exists()


def test_ten_thousand_keys_are_looked_up_as_fast_as_one(store):
    few = Keyring(["only"], store)
    many = Keyring([f"key {place}" for place in range(10_000)], store)

    def seconds(keyring: Keyring, key: bytes) -> float:
        times = []
        for _ in range(200):
            began = time.perf_counter()
            keyring.find(key)
            times.append(time.perf_counter() - began)
        return min(times)

    assert seconds(many, b"key 9999") < 10 * seconds(few, b"only")


async def test_a_minutes_requests_may_come_at_once_and_come_back_one_by_one():
    now = 100.0
    counters = MemoryCounters(clock=lambda: now)
    levels = [await counters.request("anna", 3) for _ in range(4)]
    assert [level.remaining for level in levels] == [2, 1, 0, 0]
    assert [level.refused for level in levels] == [False, False, False, True]
    assert levels[3].retry_after == pytest.approx(20.0)
    assert levels[2].reset == pytest.approx(60.0)
    assert not (await counters.request("bert", 3)).refused
    now = 121.0
    assert not (await counters.request("anna", 3)).refused
    assert (await counters.request("anna", 3)).refused


def asked(stream: str = "", characters: int = 0, day: str = DAY, used: int = 0, **limits: int) -> Reservation:
    return Reservation("anna", Limits(**limits), stream, characters, day, 3_600.0, used_characters=used)


async def test_streams_at_once_are_counted_and_freed():
    counters = MemoryCounters()
    assert not any(level.refused for level in await counters.reserve(asked("a", streams=1)))
    (level,) = await counters.reserve(asked("b", streams=1))
    assert (level.resource, level.refused) == (Resource.STREAMS, True)
    counters.release("anna", "a")
    counters.release("anna", "a")
    assert not any(level.refused for level in await counters.reserve(asked("b", streams=1)))


async def test_a_quota_is_taken_at_once_given_back_and_new_the_next_day():
    counters = MemoryCounters()
    (level,) = await counters.reserve(asked(characters=60, characters_a_day=100))
    assert level.remaining == 40
    (level,) = await counters.reserve(asked(characters=60, characters_a_day=100))
    assert (level.refused, level.remaining, level.retry_after) == (True, 40, 3_600.0)
    counters.spend("anna", DAY, -60, 0.0)
    assert not (await counters.reserve(asked(characters=60, characters_a_day=100)))[0].refused
    assert not (await counters.reserve(asked(characters=60, characters_a_day=100, day="2026-11-17")))[0].refused
    assert (await counters.reserve(asked(characters=60, characters_a_day=100)))[0].refused  # nor back on the day before
    counters.spend("anna", "2026-11-17", 0, 50.0)
    assert (await counters.reserve(asked(audio_seconds_a_day=50, day="2026-11-17")))[0].refused


async def test_what_other_servers_used_counts_too():
    (level,) = await MemoryCounters().reserve(asked(characters=10, characters_a_day=100, used=95))
    assert level.refused


def test_to_set_the_clock_moves_no_day():
    wall, steady = 1_800_000_000.0, 50.0
    clock = DayClock(lambda: wall, lambda: steady)
    today = clock.today
    wall += 3 * 86_400
    assert clock.today == today
    wall -= 9 * 86_400
    assert clock.today == today
    steady += clock.seconds_left + 1.0
    assert clock.today == clock.days_ago(0) > today
    assert clock.days_ago(1) == today


async def test_usage_outlives_the_process_and_adds_up_over_servers(store):
    store.make()
    one, other = (UsageLedger(store, DayClock()) for _ in range(2))
    one.add("anna", requests=1, characters=10, audio_seconds=0.5)
    other.add("anna", requests=1, characters=5, refused=1)
    await one.write()
    await other.write()
    assert other.today("anna") == Usage(2, 15, 0.5, 1)
    assert one.today("anna").characters == 10
    one.add("anna", characters=1)
    await one.write()
    assert one.today("anna").characters == 16
    later = UsageLedger(store, DayClock())
    await later.write()
    assert later.today("anna") == Usage(2, 16, 0.5, 1)
    assert list((await later.since(1, "anna")).values()) == [Usage(2, 16, 0.5, 1)]
    assert await later.since(1, "bert") == {}


async def test_usage_that_cannot_be_written_is_written_later(store):
    ledger = UsageLedger(store, DayClock())
    store.path.parent.write_bytes(b"a file in the way")
    ledger.add("anna", characters=7)
    await ledger.write()
    assert ledger.today("anna").characters == 7
    store.path.parent.unlink()
    await ledger.write()
    assert not store.exists  # a ledger makes no file: one without keys would be taken for the keys
    store.make()
    await ledger.write()
    assert ledger.today("anna").characters == 7
    assert sum(usage.characters for usage in store.usage("").values()) == 7


def test_metrics_tell_a_bounded_number_of_keys_apart():
    metrics = Metrics()
    for place in range(1_010):
        metrics.key_used(f"key-{place}", requests=1)
    text = metrics.render().decode()
    assert 'polyvox_key_requests_total{key="other"} 10.0' in text
    assert text.count("polyvox_key_requests_total{") == 1_001


def test_names_of_clients_tell_their_owner():
    assert [owner_in(client) for client in (key_client("o"), job_client("o"), batch_client(key_client("o")))] == [
        "o"
    ] * 3
    assert owner_in(batch_client("10.0.0.7")) is None


REQUEST = SpeechRequest(Utterance("x" * 10, "low"), door="test")


async def heard(service, call: CallContext) -> float:
    async with await service.open(REQUEST, call) as session:
        return sum([chunk.duration async for chunk in session])


async def test_the_service_holds_all_doors_against_the_limits_of_a_key(tmp_path):
    store = KeyStore(tmp_path / "keys.sqlite")
    made = store.create("anna", ["speak"], Limits(2, 1, 25, 1))
    mute = store.create("mute", ["voices"], Limits())
    anna, silent = key_client(made.record.owner), key_client(mute.record.owner)
    gate = asyncio.Event()
    async with running(tone_service(ToneEngine(gate=gate), data_dir=tmp_path)) as service:
        with pytest.raises(ScopeError, match="lacks the scope 'speak'"):
            await service.open(REQUEST, CallContext(silent))
        first = await service.open(REQUEST, CallContext(anna))
        with pytest.raises(RateLimitError, match="1 streams at once") as refused:
            await service.open(REQUEST, CallContext(anna))
        assert (refused.value.resource, refused.value.limit, refused.value.remaining) == ("streams", 1, 0)
        with pytest.raises(RateLimitError, match="2 requests a minute") as refused:
            await service.open(REQUEST, CallContext(anna))
        assert refused.value.retry_after == pytest.approx(30.0, abs=1.0)
        gate.set()
        async with first as session:
            assert [level.resource for level in session.quota_lease.levels] == [
                "requests", "streams", "characters", "audio-seconds"
            ]  # fmt: skip
            seconds = sum([chunk.duration async for chunk in session])
        used = service.accounts.ledger.today("anna")
        assert used == Usage(3, 10, pytest.approx(seconds), 2)
        # A batch is counted as a request when it is sent.
        background = CallContext(batch_client(anna), background=True)
        assert await heard(service, background) == pytest.approx(seconds)
        with pytest.raises(QuotaError, match="of which 5 are left"):
            await service.open(REQUEST, background)
        text = service.metrics.render().decode()
        assert 'polyvox_key_characters_total{key="anna"} 20.0' in text
        assert 'polyvox_key_refused_total{key="anna",limit="characters"} 1.0' in text
    assert made.secret not in text
    (usage,) = store.usage("", "anna").values()
    assert (usage.requests, usage.characters, usage.refused) == (3, 20, 3)


async def test_what_is_refused_or_never_heard_is_not_charged(tmp_path):
    store = KeyStore(tmp_path / "keys.sqlite")
    client = key_client(store.create("anna", ["speak"], Limits(streams=5, characters_a_day=100)).record.owner)
    gate = asyncio.Event()
    engine = ToneEngine(gate=gate)
    async with running(tone_service(engine, data_dir=tmp_path, max_sessions=1, max_queue=0)) as service:
        held = await service.open(REQUEST, CallContext(client))
        with pytest.raises(OverloadedError, match="at its limit of 1"):
            await service.open(REQUEST, CallContext(client))
        assert service.accounts.ledger.today("anna").characters == 10
        async with held:
            held.cancel()
        assert service.accounts.ledger.today("anna").characters == 0
        gate.set()
        for _ in range(6):  # the places of those before are free
            await heard(service, CallContext(client))
        engine.fail_at = 0
        with pytest.raises(Exception, match="failed"):
            await heard(service, CallContext(client))
        assert service.accounts.ledger.today("anna").characters == 60


async def test_audio_is_charged_as_far_as_the_client_takes_it(tmp_path):
    store = KeyStore(tmp_path / "keys.sqlite")
    client = key_client(store.create("anna", ["speak"], Limits(audio_seconds_a_day=60)).record.owner)
    async with running(tone_service(ToneEngine(chunks=10), data_dir=tmp_path)) as service:
        async with await service.open(REQUEST, CallContext(client)) as session:
            taken = await anext(session)
        assert service.accounts.ledger.today("anna").audio_seconds == pytest.approx(taken.duration)
        assert service.accounts.ledger.today("anna").characters == 10


async def test_a_revoked_key_speaks_no_more_on_a_connection_that_it_has_open(tmp_path, monkeypatch):
    monkeypatch.setattr(keyring_module, "FOLLOW_SECONDS", 0.01)
    store = KeyStore(tmp_path / "keys.sqlite")
    client = key_client(store.create("anna", ["speak"], Limits()).record.owner)
    async with running(tone_service(data_dir=tmp_path)) as service:
        await heard(service, CallContext(client))
        store.revoke("anna")
        await _until(lambda: not service.accounts.keyring.active())
        with pytest.raises(AuthenticationError, match="was revoked"):
            await service.open(REQUEST, CallContext(client))


async def test_a_key_of_a_file_that_was_replaced_speaks_no_more_on_a_connection_that_it_has_open(tmp_path):
    store = KeyStore(tmp_path / "keys.sqlite")
    client = key_client(store.create("anna", ["speak"], Limits(streams=1)).record.owner)
    async with running(tone_service(data_dir=tmp_path)) as service:
        store.path.unlink()
        service.accounts.keyring.read()
        await heard(service, CallContext(client))
        store.create("bert", ["speak"], Limits())
        service.accounts.keyring.read()
        with pytest.raises(AuthenticationError, match="unknown by now"):
            await service.open(REQUEST, CallContext(client))


async def test_addresses_without_a_key_have_limits_of_their_own():
    service = tone_service(max_requests_a_minute_per_address=1, max_characters_a_day_per_address=15)
    async with running(service):
        for address in ("10.0.0.7", "10.0.0.8", "2001:db8::/64"):
            await heard(service, CallContext(address))
            with pytest.raises(RateLimitError, match="One address may send 1 requests"):
                await service.open(REQUEST, CallContext(address))
            with pytest.raises(QuotaError, match="of which 5 are left"):
                await service.open(REQUEST, CallContext(address, background=True))
        for _ in range(3):  # many people's address, and the server's own requests
            await heard(service, CallContext("127.0.0.1"))
            await heard(service, CallContext())
        assert service.accounts.ledger.today("anonymous").requests == 9


async def _until(condition) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - a thread changes it
            await asyncio.sleep(0.01)
