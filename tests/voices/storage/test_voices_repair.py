"""Recordings outlive their database: nothing is swept that another database knew, and a repair brings it back."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.tables import each_row
from helpers.voice_samples import registration
from polyvox.errors import UnavailableError
from polyvox.voices.records import VoiceQuery, VoiceRecord
from polyvox.voices.storage.recordings import RecordingFiles
from polyvox.voices.storage.repair import RepairAction, repair
from polyvox.voices.storage.sidecars import record_in, sidecar_of
from polyvox.voices.storage.store import FileVoiceStore

STRANGER = "of another store"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A store of four voices: two owners have one recording, and one was made by an engine."""
    folder = tmp_path / "voices"
    store = FileVoiceStore(folder)
    embedding = np.linspace(-1, 1, 192, dtype=np.float32)
    store.add(registration("Anna", 0, tags=("calm",), language="en-gb", consent=True, consent_note="Signed."))
    store.add(registration("Anna", 0, owner="key", embedding=embedding, report={"score": 1.0, "warnings": []}))
    store.add(registration("Berta 山田", 1))
    store.update(store.add(registration("Clara", 2)).record.id, {"name": "Dora", "transcript": "Other words."})
    store.close()
    return folder


def voices(folder: Path) -> dict[str, VoiceRecord]:
    store = FileVoiceStore(folder)
    found = {voice.id: replace(voice, embedding=None) for voice in store.page(VoiceQuery(limit=100)).voices}
    for voice in found.values():
        if voice.name != STRANGER:  # whose recording is elsewhere
            store.recording(voice)
    store.close()
    return found


def recordings(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*.wav")}


def start(folder: Path) -> int:
    """What a server does when it starts."""
    store = FileVoiceStore(folder)
    swept = store.sweep()
    store.update_sidecars()
    store.close()
    return swept


def lose(folder: Path) -> None:
    for path in folder.glob("voices.sqlite3*"):
        path.unlink()


def empty(folder: Path) -> None:
    lose(folder)
    (folder / "voices.sqlite3").touch()


def make_new(folder: Path) -> None:
    lose(folder)
    FileVoiceStore(folder).close()  # as `polyvox voices list` would


def swap(folder: Path) -> None:
    other = folder.parent / "other"
    store = FileVoiceStore(other)
    store.add(registration(STRANGER, 9))
    store.close()
    lose(folder)
    shutil.copy(other / "voices.sqlite3", folder / "voices.sqlite3")


def delete_all_rows(folder: Path) -> None:
    db = sqlite3.connect(folder / "voices.sqlite3")
    db.execute("DELETE FROM voices")
    db.commit()
    db.close()


LOSSES = [lose, empty, make_new, swap, delete_all_rows]


@pytest.mark.long
@pytest.mark.parametrize("harm", LOSSES)
def test_a_start_without_the_right_database_deletes_no_recording(folder, harm):
    before = recordings(folder)
    harm(folder)
    assert start(folder) == 0
    assert recordings(folder) == before
    assert start(folder) == 0
    assert recordings(folder) == before
    store = FileVoiceStore(folder)
    assert store.unclaimed() == 3
    assert "polyvox voices repair" in store.warnings()[0]
    store.close()


@pytest.mark.long
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("harm", LOSSES)
def test_a_repair_brings_every_voice_back_as_it_was(folder, harm, started):
    before = voices(folder)
    harm(folder)
    if started:
        start(folder)
    report = repair(folder, None, dry_run=False)
    assert [row.action for row in report.rows] == [RepairAction.RESTORE] * 4
    after = voices(folder)
    assert {voice_id: after[voice_id] for voice_id in before} == before
    assert start(folder) == 0
    assert set(voices(folder)) >= set(before)
    assert repair(folder, None, dry_run=False).rows == ()


def test_the_right_database_finds_its_recordings_again(folder):
    before = voices(folder)
    shutil.copy(folder / "voices.sqlite3", folder / "backup")
    lose(folder)
    start(folder)
    assert not list((folder / "audio").rglob("*.wav"))
    lose(folder)
    (folder / "backup").rename(folder / "voices.sqlite3")
    start(folder)
    assert voices(folder) == before
    assert not list((folder / "unclaimed").rglob("*.*"))


def test_an_older_copy_of_the_database_costs_no_voice_that_came_since(folder):
    shutil.copy(folder / "voices.sqlite3", folder / "backup")
    store = FileVoiceStore(folder)
    late = store.add(registration("late", 5)).record
    store.close()
    lose(folder)
    (folder / "backup").rename(folder / "voices.sqlite3")
    assert start(folder) == 0
    (row,) = repair(folder, None, dry_run=False).rows
    assert row.record == late
    assert late.id in voices(folder)


def test_a_dry_run_changes_nothing(folder):
    lose(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    report = repair(folder, None, dry_run=True)
    assert (report.database, len(report.rows)) == ("missing", 4)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_recordings_without_side_cars_become_voices_only_of_a_named_owner(folder):
    for path in folder.rglob("*.json"):
        path.unlink()
    lose(folder)
    left = repair(folder, None, dry_run=False).rows
    assert {(row.action, row.note[:12]) for row in left} == {(RepairAction.LEAVE, "Its owner is")}
    assert voices(folder) == {}
    restored = repair(folder, "key", dry_run=False).rows
    assert len(restored) == 3
    found = voices(folder).values()
    assert {voice.owner for voice in found} == {"key"}
    assert {voice.name for voice in found} == {f"recovered-{voice.audio_digest[:12]}" for voice in found}
    assert {(voice.duration, voice.sample_rate, voice.consent) for voice in found} == {(0.01, 16_000, False)}
    assert repair(folder, "key", dry_run=False).rows == ()


def test_a_store_of_before_gets_its_side_cars_and_its_id_at_the_first_start(folder):
    before = voices(folder)
    for path in [*folder.rglob("*.json"), folder / "audio" / "store-id"]:
        path.unlink()
    db = sqlite3.connect(folder / "voices.sqlite3")
    db.execute("DROP TABLE store")
    db.execute("ALTER TABLE forgotten DROP COLUMN owner")
    db.execute("ALTER TABLE forgotten DROP COLUMN voice_id")
    db.close()
    assert start(folder) == 0
    assert len(list(folder.rglob("*.json"))) == 4
    assert voices(folder) == before
    stray = folder / "audio" / "ab" / f"{'0' * 62}.wav"
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"left by a crash")
    assert start(folder) == 1
    lose(folder)
    repair(folder, None, dry_run=False)
    assert voices(folder) == before


def _overwrite(path: Path) -> None:
    path.write_bytes(b"something else entirely" * 500)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5_000])


@pytest.mark.parametrize("harm", [_overwrite, _truncate])
def test_a_damaged_database_is_reported_kept_and_replaced_by_a_repair(folder, harm):
    before = voices(folder)
    harm(folder / "voices.sqlite3")
    content = (folder / "voices.sqlite3").read_bytes()
    with pytest.raises(UnavailableError, match="polyvox voices repair"):
        FileVoiceStore(folder)
    assert repair(folder, None, dry_run=True).database == "damaged"
    assert (folder / "voices.sqlite3").read_bytes() == content
    repair(folder, None, dry_run=False)
    assert voices(folder) == before
    (kept,) = folder.glob("damaged-*-voices.sqlite3")
    assert kept.read_bytes() == content


@pytest.mark.long
def test_what_a_damaged_database_still_tells_is_used(folder):
    store = FileVoiceStore(folder)
    for seed in range(10, 60):
        store.add(registration(f"voice {seed}", seed, transcript="word " * 300))
    store.close()
    before = voices(folder)
    for path in folder.rglob("*.json"):
        path.unlink()
    data = bytearray((folder / "voices.sqlite3").read_bytes())
    data[-4_096:] = b"\xff" * 4_096
    (folder / "voices.sqlite3").write_bytes(data)
    report = repair(folder, None, dry_run=False)
    assert report.database == "damaged"
    after = voices(folder)
    assert len(after) > 10
    assert all(before[voice_id] == voice for voice_id, voice in after.items())


def test_a_database_in_use_is_not_replaced(folder):
    server = FileVoiceStore(folder)
    lose(folder)
    with pytest.raises(UnavailableError, match="stop it"):
        repair(folder, None, dry_run=False)
    assert "deleted while the server runs" in server.warnings()[0]
    server.close()
    assert len(repair(folder, None, dry_run=False).rows) == 4


def test_a_repair_beside_a_running_server(folder):
    lose(folder)
    server = FileVoiceStore(folder)
    server.sweep()
    server.add(registration("Anna", 7))
    repair(folder, None, dry_run=False)
    found = {(voice.owner, voice.name) for voice in server.page(VoiceQuery(limit=100)).voices}
    assert found == {("", "Anna"), ("", "Anna (2)"), ("key", "Anna"), ("", "Berta 山田"), ("", "Dora")}
    server.close()


def test_a_deleted_voice_does_not_come_back(folder):
    store = FileVoiceStore(folder)
    gone = store.find("", "Dora")
    sidecar = folder / "audio" / gone.audio_digest[:2] / f"{gone.audio_digest[2:]}.{gone.id}.json"
    recording = sidecar.with_name(f"{gone.audio_digest[2:]}.wav")
    left = sidecar.read_bytes(), recording.read_bytes()
    store.remove(gone.id)
    store.close()
    assert not sidecar.exists()
    sidecar.write_bytes(left[0])  # as if the server had been killed before it deleted the files
    recording.write_bytes(left[1])
    assert repair(folder, "key", dry_run=True).rows == ()
    assert start(folder) == 1
    assert not sidecar.exists()


def test_a_damaged_recording_is_left_and_named(folder):
    path = next(iter((folder / "audio").rglob("*.wav")))
    path.write_bytes(b"RIFF")
    lose(folder)
    left = [row for row in repair(folder, None, dry_run=False).rows if row.action is RepairAction.LEAVE]
    assert [(row.audio_digest, row.note) for row in left] == [
        (path.parent.name + path.stem, "The recording is damaged.")
    ]
    assert len(recordings(folder)) == 3


@each_row(
    "data",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b" " * 300_000,
        b'{"format": "polyvox-voice", "version": 2}',
    ],
)
def test_a_side_car_that_is_none_is_not_read(data):
    assert record_in(data, "0" * 64, "voice_" + "0" * 32) is None


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        {"name": "../up"},
        {"name": "a\u202eb"},
        {"owner": "x" * 1_000},
        {"id": "voice_" + "1" * 32},
        {"duration": float("inf")},
        {"transcript": "x" * 100_000},
        {"report": {"fitted": {"offset": "no"}}},
    ],
)
def test_a_side_car_cannot_bring_in_what_a_caller_could_not(folder, change):
    record = next(iter(voices(folder).values()))
    assert record_in(sidecar_of(record), record.audio_digest, record.id) == record
    assert record_in(sidecar_of(replace(record, **change)), record.audio_digest, record.id) is None


def test_files_of_other_names_are_left_alone(tmp_path):
    files = RecordingFiles(tmp_path)
    (tmp_path / "ab").mkdir()
    for name in ("notes.txt", f"{'0' * 62}.voice_x.json", f"{'0' * 10}.wav", f"{'0' * 10}.voice_{'0' * 32}.json"):
        (tmp_path / "ab" / name).touch()
    assert list(files.digests()) == list(files.sidecars()) == []
    with pytest.raises(ValueError, match="side-car"):
        files.read_sidecar("0" * 64, "../up")
