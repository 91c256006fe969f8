"""The store keeps what it acknowledged, says what it removed, and holds to one writer at a time."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.tables import each_row
from helpers.voice_samples import RATE, noise, registration
from polyvox.errors import ConflictError, ForbiddenError, InvalidRequestError, UnavailableError
from polyvox.voices.records import Transcription, VoiceDetails, VoiceQuery
from polyvox.voices.storage.recordings import digest_of, read_wav, wav_bytes
from polyvox.voices.storage.store import FileVoiceStore


@pytest.fixture
def store(tmp_path):
    store = FileVoiceStore(tmp_path / "voices")
    yield store
    store.close()


def audio_files(folder: Path) -> list[Path]:
    return sorted((folder / "voices" / "audio").rglob("*.wav"))


def names(page):
    return [voice.name for voice in page.voices]


def test_a_voice_comes_back_as_it_was_registered_after_a_restart(tmp_path, store):
    embedding = np.linspace(-1, 1, 192, dtype=np.float32)
    given = registration(
        "Grüße 山田",
        language="de",
        tags=("calm", "news"),
        consent=True,
        consent_note="Signed.",
        report={"snr_db": 31.5, "warnings": ["quiet"]},
        embedding=embedding,
    )
    record = store.add(given).record
    store.close()
    reopened = FileVoiceStore(tmp_path / "voices")
    found = reopened.get(record.id)
    assert found is not None
    assert np.array_equal(found.embedding, embedding)
    assert replace(found, embedding=None) == replace(record, embedding=None)
    assert (found.name, found.language, found.tags, found.consent) == ("Grüße 山田", "de", ("calm", "news"), True)
    assert found.report == {"snr_db": 31.5, "warnings": ["quiet"]}
    assert found.duration == pytest.approx(0.01)
    pcm, rate = reopened.recording(found)
    assert rate == RATE
    assert np.array_equal(pcm, given.pcm)
    reopened.close()


def test_a_path_is_made_of_the_content_alone(tmp_path, store):
    record = store.add(registration("..voice")).record
    (path,) = audio_files(tmp_path)
    assert path.relative_to(tmp_path / "voices" / "audio").as_posix() == (
        f"{record.audio_digest[:2]}/{record.audio_digest[2:]}.wav"
    )
    assert (tmp_path / "voices").stat().st_mode & 0o077 == 0


def test_names_are_one_owners_own_and_ignore_case(store):
    store.add(registration("Anna"))
    with pytest.raises(ConflictError, match="ANNA") as taken:
        store.add(registration("ANNA", seed=1))
    assert taken.value.field == "name"
    store.add(registration("Anna", seed=1, owner="key"))
    assert store.find("", "aNNa").owner == ""
    assert store.find("key", "anna").owner == "key"
    assert store.find("other", "Anna") is None


def test_a_refused_registration_leaves_nothing(tmp_path, store):
    store.add(registration("Anna"))
    with pytest.raises(ConflictError):
        store.add(registration("anna", seed=1))
    assert len(audio_files(tmp_path)) == 1
    assert len(store.page(VoiceQuery()).voices) == 1


def test_replacing_a_voice_removes_the_old_one_in_the_same_step(tmp_path, store):
    old = store.add(registration("Anna")).record
    added = store.add(registration("anna", seed=1), replacing=True)
    assert added.replaced.record.id == old.id
    assert added.replaced.shared is False
    assert store.get(old.id) is None
    assert len(audio_files(tmp_path)) == 1


def test_replacing_a_voice_with_its_own_recording_keeps_the_recording(store):
    store.add(registration("Anna"))
    added = store.add(registration("Anna"), replacing=True)
    assert added.replaced.shared is True
    store.recording(added.record)


def test_an_owner_with_enough_voices_gets_no_more(store):
    store.add(registration("one"), limit=1)
    with pytest.raises(ForbiddenError, match="1 voices"):
        store.add(registration("two", 1), limit=1)
    store.add(registration("one", 2), replacing=True, limit=1)
    store.add(registration("two", 1, owner="other"), limit=1)


def test_removing_takes_the_recording_unless_another_voice_has_it(tmp_path, store):
    one, other = store.add(registration("one")).record, store.add(registration("other")).record
    assert one.audio_digest == other.audio_digest
    assert len(audio_files(tmp_path)) == 1
    assert store.remove(one.id).shared is True
    store.recording(other)
    assert store.remove(other.id).shared is False
    assert audio_files(tmp_path) == []
    assert store.remove(other.id) is None


def test_what_was_removed_is_not_left_in_the_database(tmp_path, store):
    record = store.add(registration("Anna", transcript="a most unusual sentence")).record
    store.remove(record.id)
    store.close()
    content = b"".join(path.read_bytes() for path in (tmp_path / "voices").glob("voices.sqlite3*"))
    assert b"most unusual" not in content


def test_other_processes_learn_which_recordings_are_gone(store):
    records = [store.add(registration(str(seed), seed)).record for seed in range(3)]
    assert store.forgotten(0) == (0, [])
    store.remove(records[0].id)
    serial, digests = store.forgotten(0)
    assert digests == [(records[0].audio_digest, "")]
    store.remove(records[1].id)
    assert store.forgotten(serial)[1] == [(records[1].audio_digest, "")]


def test_old_notes_of_deletions_are_dropped_but_never_counted_again(tmp_path):
    now = 1000.0
    store = FileVoiceStore(tmp_path / "voices", clock=lambda: now)
    store.remove(store.add(registration("one")).record.id)
    serial, _ = store.forgotten(0)
    store.sweep(forget_before=now + 1)
    assert store.forgotten(0) == (0, [])
    store.remove(store.add(registration("two", 1)).record.id)
    assert store.forgotten(serial)[0] > serial
    store.close()


def test_changes_are_kept_and_the_rest_stays(store):
    record = store.add(registration("Anna")).record
    details = VoiceDetails.checked(name="Berta", transcript="Something else.", tags=["Calm"], consent=True)
    changed = store.update(record.id, details.given)
    assert (changed.name, changed.tags, changed.consent) == ("Berta", ("calm",), True)
    assert store.get(record.id) == changed
    assert changed.created == record.created
    assert store.find("", "berta").id == record.id
    assert store.find("", "anna") is None
    assert store.update("voice_" + "0" * 32, {}) is None


def test_a_rename_to_a_taken_name_is_refused_and_to_ones_own_is_not(store):
    store.add(registration("Anna"))
    berta = store.add(registration("Berta", 1)).record
    with pytest.raises(ConflictError):
        store.update(berta.id, {"name": "ANNA"})
    assert store.get(berta.id).name == "Berta"
    assert store.update(berta.id, {"name": "BERTA"}).name == "BERTA"


def test_a_recognised_transcript_does_not_overwrite_one_that_was_given(store):
    voices = [
        store.add(registration(str(seed), seed, transcript="", transcription=Transcription.PENDING)).record
        for seed in range(3)
    ]
    assert len(store.pending()) == 3
    store.update(voices[0].id, {"transcript": "Mine.", "transcription": Transcription.GIVEN})
    store.set_transcription(voices[0].id, "Theirs.")
    store.set_transcription(voices[1].id, "Theirs.")
    store.set_transcription(voices[2].id, None)
    assert [(store.get(voice.id).transcript, store.get(voice.id).transcription) for voice in voices] == [
        ("Mine.", Transcription.GIVEN),
        ("Theirs.", Transcription.HEARD),
        ("", Transcription.FAILED),
    ]
    assert store.pending() == []


def test_the_time_of_use_is_noted_to_the_minute(tmp_path):
    now = 1000.0
    store = FileVoiceStore(tmp_path / "voices", clock=lambda: now)
    voice = store.add(registration("Anna")).record
    assert voice.used == 0.0
    store.touch(voice)
    now = 1030.0
    store.touch(store.get(voice.id))
    assert store.get(voice.id).used == 1000.0
    now = 1061.0
    store.touch(store.get(voice.id))
    assert store.get(voice.id).used == 1061.0
    store.close()


def test_pages_go_through_everything_once_even_while_voices_vanish(store):
    for seed in range(7):
        store.add(registration(f"v{seed}", seed))
    first = store.page(VoiceQuery(limit=3))
    assert names(first) == ["v6", "v5", "v4"]
    store.remove(first.voices[-1].id)
    second = store.page(VoiceQuery(limit=3, after=first.next))
    last = store.page(VoiceQuery(limit=3, after=second.next))
    assert names(second) + names(last) == ["v3", "v2", "v1", "v0"]
    assert last.next == ""
    assert names(store.page(VoiceQuery(limit=2, newest_first=False))) == ["v0", "v1"]


@pytest.mark.parametrize("cursor", ["x", "1.0", "1.0~voice_", "1.0~voice_" + "g" * 32, "' OR 1=1 --"])
def test_a_cursor_of_ones_own_making_is_refused(store, cursor):
    with pytest.raises(InvalidRequestError, match="after"):
        store.page(VoiceQuery(after=cursor))


def test_filters(store):
    store.add(registration("Anna Calm", 1, language="en-gb", tags=("calm",), owner="a"))
    store.add(registration("Berta", 2, language="en", tags=("news", "calm"), consent=True, owner="b"))
    store.add(registration("Céline", 3, language="fr", owner=""))
    assert names(store.page(VoiceQuery(owners=("a", "")))) == ["Céline", "Anna Calm"]
    assert names(store.page(VoiceQuery(tag="Calm"))) == ["Berta", "Anna Calm"]
    assert names(store.page(VoiceQuery(language="EN"))) == ["Berta", "Anna Calm"]
    assert names(store.page(VoiceQuery(language="en-gb"))) == ["Anna Calm"]
    assert names(store.page(VoiceQuery(language="e"))) == []
    assert names(store.page(VoiceQuery(consent=True))) == ["Berta"]
    assert names(store.page(VoiceQuery(consent=False, tag="calm"))) == ["Anna Calm"]
    assert names(store.page(VoiceQuery(text="CÉL"))) == ["Céline"]
    assert names(store.page(VoiceQuery(text="%"))) == []
    assert names(store.page(VoiceQuery(owners=()))) == []


def test_voices_are_found_by_recording_and_by_sound(store):
    sounding = store.add(registration("Anna", embedding=np.ones(3, np.float32))).record
    store.add(registration("Berta", 1))
    store.add(registration("Anna", 2, owner="other", embedding=np.ones(3, np.float32)))
    assert [voice.id for voice in store.sounding("")] == [sounding.id]
    assert store.find_audio("", digest_of(wav_bytes(noise(0), RATE))).id == sounding.id
    assert store.find_audio("", "0" * 64) is None


def test_a_sweep_removes_what_no_voice_names_and_nothing_else(tmp_path, store):
    kept = store.add(registration("kept")).record
    audio = tmp_path / "voices" / "audio"
    stray = audio / "ab" / f"{'0' * 62}.wav"
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"left by a crash")
    (audio / "incoming").write_bytes(b"half")
    foreign = audio / "ab" / "notes.txt"
    foreign.write_text("not ours")
    assert store.sweep() == 1
    assert not stray.exists()
    assert not (audio / "incoming").exists()
    assert foreign.exists()
    store.recording(kept)


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"RIFF")])
def test_a_damaged_recording_is_not_handed_out(tmp_path, store, damage):
    record = store.add(registration("Anna")).record
    damage(audio_files(tmp_path)[0])
    with pytest.raises(UnavailableError, match="register the voice again"):
        store.recording(record)


def test_registering_the_recording_again_repairs_it(tmp_path, store):
    record = store.add(registration("Anna")).record
    audio_files(tmp_path)[0].write_bytes(b"RIFF")
    store.add(registration("Berta"))
    store.recording(record)


def test_a_store_of_a_later_version_is_left_alone(tmp_path):
    FileVoiceStore(tmp_path / "voices").close()
    db = sqlite3.connect(tmp_path / "voices" / "voices.sqlite3")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(UnavailableError, match="later version"):
        FileVoiceStore(tmp_path / "voices")


def test_a_file_that_is_no_database_is_reported_without_its_path(tmp_path):
    (tmp_path / "voices").mkdir()
    (tmp_path / "voices" / "voices.sqlite3").write_bytes(b"something else entirely" * 100)
    with pytest.raises(UnavailableError) as refused:
        FileVoiceStore(tmp_path / "voices")
    assert str(tmp_path) not in refused.value.message


def test_a_disk_that_fails_while_a_recording_is_written_loses_the_new_voice_only(tmp_path, store, monkeypatch):
    kept = store.add(registration("kept")).record
    with monkeypatch.context() as broken:
        broken.setattr("polyvox.voices.storage.recordings.sync_file", _no_space)
        with pytest.raises(UnavailableError):
            store.add(registration("lost", 1))
    assert store.find("", "lost") is None
    store.recording(kept)
    store.add(registration("lost", 1))
    store.sweep()
    assert len(audio_files(tmp_path)) == 2


def _no_space(path: Path) -> None:
    raise OSError(28, "No space left on device")


def test_recordings_are_read_back_sample_for_sample():
    pcm = noise(7, 0.5)
    back, rate = read_wav(wav_bytes(pcm, 24_000))
    assert rate == 24_000
    assert np.array_equal(back, pcm)


@each_row("data", [b"", b"RIFF", wav_bytes(noise(0), RATE).replace(b"fact", b"fakt")])
def test_other_files_are_not_recordings_of_the_store(data):
    with pytest.raises(ValueError, match="not a recording"):
        read_wav(data)


def test_the_preview_plays_in_ordinary_players():
    from polyvox.audio.decode import decode

    pcm, rate = decode(wav_bytes(noise(3, 0.2), RATE), max_seconds=1.0, max_samples=RATE)
    assert rate == RATE
    assert np.allclose(pcm, noise(3, 0.2))
