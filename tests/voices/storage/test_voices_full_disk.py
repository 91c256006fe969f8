"""A full disk costs the registration that filled it, and nothing else: no litter, and deletion always works."""

from pathlib import Path

import pytest

from helpers.failing_disk import FailingDisk
from helpers.voice_samples import registration
from polyvox.errors import UnavailableError
from polyvox.voices.records import VoiceQuery
from polyvox.voices.storage.store import FileVoiceStore


@pytest.fixture
def store(tmp_path):
    store = FileVoiceStore(tmp_path / "voices", reserve_bytes=10_000)
    yield store
    store.close()


def files(folder: Path) -> set[str]:
    return {path.name for path in (folder / "voices" / "audio").rglob("*") if path.is_file()}


def test_a_registration_that_finds_no_room_at_any_write_leaves_nothing(tmp_path, store, monkeypatch):
    kept = store.add(registration("kept")).record
    before, working = files(tmp_path), 0
    while True:
        with FailingDisk(store, working).in_place(monkeypatch) as disk:
            try:
                added = store.add(registration("new", seed=1)).record
                break
            except UnavailableError:
                assert disk.failed
        assert files(tmp_path) == before, working
        assert store.find("", "new") is None
        working += 1
    assert working >= 6  # the row, the file, its sync, its folder, its name, the commit
    assert disk.failed  # the side-car found no room, which costs no voice ...
    store.update_sidecars()
    assert f"{added.audio_digest[2:]}.{added.id}.json" in files(tmp_path)  # ... and is made up for
    store.recording(kept)


def test_a_deletion_that_finds_no_room_at_any_write_takes_the_reserve(tmp_path, monkeypatch):
    for working in range(6):
        folder = tmp_path / str(working)
        store = FileVoiceStore(folder / "voices", reserve_bytes=10_000)
        record = store.add(registration("old")).record
        with FailingDisk(store, working).in_place(monkeypatch):
            removed = store.remove(record.id)
        assert removed is not None
        assert store.get(record.id) is None
        assert files(folder) == {"store-id"}
        store.close()


def test_the_reserve_is_taken_again_as_soon_as_there_is_room(tmp_path, store, monkeypatch):
    reserve = tmp_path / "voices" / "reserve"
    assert not reserve.exists()
    records = [store.add(registration(str(seed), seed)).record for seed in range(2)]
    assert reserve.stat().st_size == 10_000
    with FailingDisk(store, 0).in_place(monkeypatch):
        store.remove(records[0].id)
    assert reserve.stat().st_size == 10_000
    reserve.unlink()
    assert "full" in store.warnings()[0]
    store.hold_reserve()
    assert store.warnings() == ()


def test_a_voice_speaks_although_its_use_cannot_be_noted(store, monkeypatch):
    record = store.add(registration("Anna")).record
    with FailingDisk(store, 0).in_place(monkeypatch) as disk:
        store.touch(record)
    assert disk.failed


def test_no_voice_is_taken_that_the_reserve_has_no_room_beside(tmp_path, store, monkeypatch):
    monkeypatch.setattr("os.urandom", _no_space)
    with pytest.raises(UnavailableError, match="full"):
        store.add(registration("Anna"))
    assert store.page(VoiceQuery()).voices == ()
    assert not (tmp_path / "voices" / "reserve").exists()


def _no_space(size: int) -> bytes:
    raise OSError(28, "No space left on device")
