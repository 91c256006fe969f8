"""The store of several servers, on a real PostgreSQL and a real S3 server, keeps what the store in a folder keeps."""

import random
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row
from typer.testing import CliRunner

from helpers.attacked_server import attacked_server
from helpers.quick_server import PROGRAM
from helpers.serving import wait_for
from helpers.shared_services import SharedServices, shared_services
from helpers.store_workers import PROCESSES, SharedTrial, check_all_at_once, run_workers
from helpers.voice_promises import Promises, listed, live_and_die
from helpers.voice_samples import registration
from polyvox.cli.main import app
from polyvox.errors import ConflictError, ForbiddenError, InvalidRequestError, UnavailableError
from polyvox.installation import load_settings
from polyvox.voices.records import Transcription, VoiceQuery
from polyvox.voices.storage.location import location_of
from polyvox.voices.storage.migrations import Migration, migrate, shipped_migrations
from polyvox.voices.storage.shared_store import SharedVoiceStore
from polyvox.voices.storage.store import FileVoiceStore

pytestmark = pytest.mark.slow

KILLS = 6
PATIENCE = 60.0
"""Seconds for what a stopped database keeps from happening at all, unless the server has a limit of its own."""
REGISTRATIONS = 40


@pytest.fixture(scope="module")
def services() -> Iterator[SharedServices]:
    with shared_services() as running:
        yield running


@pytest.fixture
def database(services: SharedServices, request: pytest.FixtureRequest) -> str:
    """A database and a prefix of this test's own."""
    return services.fresh_database(f"t{abs(hash(request.node.name))}")


def opened(services: SharedServices, database: str, folder: Path, **settings) -> SharedVoiceStore:
    return location_of(load_settings(data_dir=folder, **services.settings(database, **settings))).open()


@pytest.fixture
def store(services: SharedServices, database: str, tmp_path: Path) -> Iterator[SharedVoiceStore]:
    store = opened(services, database, tmp_path)
    yield store
    store.close()


@pytest.fixture
def other(services: SharedServices, database: str, tmp_path: Path) -> Iterator[SharedVoiceStore]:
    """The same store, as a server on another machine has it."""
    store = opened(services, database, tmp_path / "other")
    yield store
    store.close()


def test_another_server_has_a_voice_at_once_as_it_was_registered(store, other):
    embedding = np.linspace(-1, 1, 192, dtype=np.float32)
    given = registration(
        "Grüße 山田",
        language="de-at",
        tags=("calm", "news"),
        consent=True,
        consent_note="Signed.",
        report={"snr_db": 31.5, "warnings": ["quiet"]},
        embedding=embedding,
    )
    record = store.add(given).record
    found = other.find("", "GRÜSSE 山田")
    assert np.array_equal(found.embedding, embedding)
    assert replace(found, embedding=None) == replace(record, embedding=None)
    assert np.array_equal(other.recording(found)[0], given.pcm)
    other.update(record.id, {"transcript": "Changed."})
    assert store.get(record.id).transcript == "Changed."
    assert [voice.id for voice in other.sounding("")] == [record.id]
    assert other.find_audio("", record.audio_digest).id == record.id


def test_of_two_servers_that_want_a_name_one_gets_it_and_the_other_is_told(services, database, store, other):
    results: list[object] = []

    def contend(voices: SharedVoiceStore, seed: int) -> None:
        try:
            results.append(voices.add(registration("contested", seed)).record)
        except ConflictError as error:
            results.append(error)

    threads = [threading.Thread(target=contend, args=(voices, seed)) for seed, voices in enumerate((store, other) * 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [result for result in results if not isinstance(result, ConflictError)]
    assert [voice.id for voice in store.page(VoiceQuery()).voices] == [winner.id]
    store.upkeep()
    assert len(services.bucket.objects(database)) == 1


def test_a_rename_to_a_taken_name_and_one_voice_too_many_are_refused(store, other):
    first = store.add(registration("one"), limit=2).record
    store.add(registration("two", 1), limit=2)
    with pytest.raises(ConflictError, match="'TWO'"):
        other.update(first.id, {"name": "TWO"})
    with pytest.raises(ForbiddenError, match="no more than 2"):
        other.add(registration("three"), limit=2)
    replaced = other.add(registration("two", 7), replacing=True, limit=2).replaced
    assert (replaced.record.name, replaced.shared, replaced.kept) == ("two", False, False)
    other.add(registration("two", owner="another"), limit=2)


def test_a_removed_voice_takes_its_object_and_every_copy(services, database, store, other):
    record, same = (store.add(registration(name, 1)).record for name in ("one", "same"))
    other.recording(record)
    assert len(services.bucket.objects(database)) == 2
    assert store.remove(same.id).shared
    assert not store.remove(record.id).shared
    assert store.remove(record.id) is None
    assert services.bucket.objects(database) == set()
    position, gone = other.forgotten(0)
    assert set(gone) == {(record.audio_digest, "")}
    assert other.forgotten(position) == (position, [])
    with pytest.raises(UnavailableError, match="register the voice again"):
        other.recording(record)
    other.sweep(time.time() + 60)
    assert other.forgotten(0) == (0, [])


def test_pages_and_filters_are_those_of_the_store_in_a_folder(store, tmp_path):
    folder = FileVoiceStore(tmp_path / "voices")
    chance = random.Random(3)
    for number in range(24):
        given = registration(
            chance.choice(("Anna", "ÅSA", "Bo ", "50%_")).strip() + f" {number}",
            number,
            owner=chance.choice(("", "a", "b")),
            language=chance.choice(("", "en", "en-gb", "eng")),
            tags=chance.choice(((), ("calm",), ("calm", "news"))),
            consent=bool(number % 2),
        )
        folder.adopt(store.add(given).record, store.audio_file(store.find(given.owner, given.name)))
    queries = [
        VoiceQuery(limit=5),
        VoiceQuery(newest_first=False, limit=7, owners=("a", "")),
        VoiceQuery(text="åsa"),
        VoiceQuery(text="0%_"),
        VoiceQuery(tag="NEWS"),
        VoiceQuery(language="EN", consent=True),
        VoiceQuery(owners=()),
        VoiceQuery(text="a\0b"),
    ]
    for query in queries:
        for _ in range(9):
            page = store.page(query)
            assert page == folder.page(query), query
            query = replace(query, after=page.next)
            if not page.next:
                break
    assert store.find("", "a\0b") is None
    assert store.page(VoiceQuery(text="\ud800")).voices == ()
    with pytest.raises(InvalidRequestError, match="after"):
        store.page(VoiceQuery(after="1; DROP TABLE polyvox_voices"))
    folder.close()


def test_a_recognised_transcript_does_not_overwrite_one_that_was_given(store, other):
    record = store.add(registration("one", transcript="", transcription=Transcription.PENDING)).record
    assert [voice.id for voice in other.pending()] == [record.id]
    other.set_transcription(record.id, "Heard.")
    store.set_transcription(record.id, None)
    found = store.get(record.id)
    assert (found.transcript, found.transcription) == ("Heard.", Transcription.HEARD)
    store.touch(found)
    assert abs(store.get(record.id).used - time.time()) < 60


def test_local_copies_spare_the_bucket_and_damaged_ones_do_not_matter(store, other, tmp_path):
    record = store.add(registration("one")).record
    other.recording(record)
    (copy,) = (tmp_path / "other" / "recordings").glob("*.wav")
    copy.write_bytes(b"damaged")
    other.recording(record)
    assert copy.stat().st_size > 100


def test_a_schema_grows_by_steps_keeps_its_voices_and_refuses_one_of_a_later_release(services, database, tmp_path):
    url = services.settings(database)["voice_database"]
    older, later = shipped_migrations(), Migration(9_000, "later", "ALTER TABLE polyvox_voices ADD COLUMN mood TEXT")
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as db:
        migrate(db, older)
        store = opened(services, database, tmp_path)
        record = store.add(registration("one")).record
        broken = Migration(9_000, "broken", "ALTER TABLE polyvox_voices ADD COLUMN mood TEXT; SELECT 1/0")
        with pytest.raises(psycopg.errors.DivisionByZero):
            migrate(db, (*older, broken))
        threads = [threading.Thread(target=grow, args=(url, (*older, later))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        steps = db.execute("SELECT version FROM polyvox_migrations ORDER BY version").fetchall()
        assert [row["version"] for row in steps] == [*(step.version for step in older), 9_000]
        assert db.execute("SELECT mood FROM polyvox_voices").fetchall() == [{"mood": None}]
    assert store.get(record.id).name == "one"  # a server of before goes on
    store.close()
    with pytest.raises(UnavailableError, match="later version"):
        opened(services, database, tmp_path).check()


def grow(url: str, steps: tuple[Migration, ...]) -> None:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as db:
        migrate(db, steps)


def test_a_key_that_the_bucket_refuses_and_a_bucket_that_is_missing_are_named(services, database, tmp_path):
    for wrong, words in (
        ({"voice_objects_secret_key": "wrong"}, "refuses this server's key"),
        ({"voice_objects": "s3://not-there/voices"}, "does not exist"),
    ):
        store = opened(services, database, tmp_path, **wrong)
        with pytest.raises(UnavailableError, match=words):
            store.add(registration("one"))
        with pytest.raises(UnavailableError):
            store.check()
        assert store.page(VoiceQuery()).voices == ()
        store.close()


def test_voices_are_copied_from_the_folder_and_back_with_ids_and_owners(services, database, tmp_path, monkeypatch):
    for name, value in services.settings(database).items():
        monkeypatch.setenv(f"POLYVOX_{name.upper()}", value)
    folder = FileVoiceStore(tmp_path / "voices")
    for number in range(3):
        folder.add(registration(f"voice {number}", number % 2, owner="" if number else "a"))
    before = folder.page(VoiceQuery()).voices
    folder.close()
    runner = CliRunner()
    for count in (3, 0):
        result = runner.invoke(app, ["voices", "copy", "shared", "--data-dir", str(tmp_path)])
        assert result.output.startswith(f"Copied {count} voices"), result.output
    shared = opened(services, database, tmp_path)
    assert shared.page(VoiceQuery()).voices == before
    for record in before:
        shared.recording(record)
    shared.close()
    result = runner.invoke(app, ["voices", "copy", "folder", "--data-dir", str(tmp_path / "new")])
    assert result.output.startswith("Copied 3 voices"), result.output
    folder = FileVoiceStore(tmp_path / "new" / "voices")
    assert folder.page(VoiceQuery()).voices == before
    assert folder.warnings() == ()
    folder.close()
    listing = runner.invoke(app, ["voices", "list", "--data-dir", str(tmp_path)])
    assert "voice 2" in listing.output
    assert "its own backup" in " ".join(runner.invoke(app, ["voices", "repair"]).stderr.split())


def test_killed_at_any_moment_nothing_acknowledged_is_lost_and_nothing_half_is_seen(
    services, database, tmp_path, scale
):
    report = run_workers(f"moments={KILLS * scale}", tmp_path, services.settings(database))
    assert report["killed"]


def test_killed_at_lines_of_its_code_it_loses_nothing_that_it_acknowledged(services, database, tmp_path, scale):
    step = 1 if scale > 1 else 499
    report = run_workers(f"lines={step}", tmp_path, services.settings(database))
    assert report["code"] == 0
    assert report["lines"] > 800


def test_registrations_from_eight_processes(services, database, tmp_path):
    settings = services.settings(database)
    report = run_workers(f"at-once={REGISTRATIONS}", tmp_path, settings)
    assert report["codes"] == [0] * PROCESSES
    check_all_at_once(SharedTrial(tmp_path, settings), REGISTRATIONS)


def test_servers_share_voices_and_answer_503_while_the_database_is_gone(services, database, tmp_path, scale):
    """One server is killed while it registers; another, on a different folder, has all that it acknowledged."""
    settings = services.settings(database, voice_store_timeout_seconds=3)
    chance, promises = random.Random(9), Promises()
    (tmp_path / "kept").mkdir()
    with attacked_server(tmp_path / "kept", program=PROGRAM, **settings) as door:
        for _ in range(scale):
            with attacked_server(tmp_path, program=PROGRAM, **settings) as server:
                live_and_die(server, promises, chance)
            promises.check(door)
        assert promises.kept
        services.postgres.signal(signal.SIGSTOP)  # worse than dead: it takes what is sent and never answers
        try:
            check_refused(door)
        finally:
            services.postgres.signal(signal.SIGCONT)
        recovered(door, promises)
        services.postgres.kill()
        check_refused(door)
        services.postgres.start()
        services.postgres.wait()
        recovered(door, promises)


def check_refused(door) -> None:
    """Requests for voices are refused, not kept waiting, with the time to try again; readiness tells why."""
    for _ in range(2):
        answer = httpx.get(f"{door.url}/v1/voices", timeout=PATIENCE)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1"), answer.text
    wait_for(lambda: "voices" in httpx.get(f"{door.url}/ready", timeout=PATIENCE).json().get("warnings", {}), PATIENCE)


def recovered(door, promises: Promises) -> None:
    wait_for(lambda: httpx.get(f"{door.url}/v1/voices", timeout=PATIENCE).status_code == 200, PATIENCE)
    assert promises.kept.keys() <= listed(door).keys()
