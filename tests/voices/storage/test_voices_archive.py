"""An export is one file that can be taken elsewhere, and an import believes nothing."""

import io
import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from helpers.voice_samples import RATE, noise, registration
from polyvox.errors import InvalidRequestError
from polyvox.voices.limits import PromptLimits
from polyvox.voices.records import Transcription
from polyvox.voices.storage.archive import MAX_VOICES, read_archive, write_archive
from polyvox.voices.storage.recordings import digest_of, wav_bytes
from polyvox.voices.storage.store import FileVoiceStore

LIMITS = PromptLimits(max_bytes=1_000_000, min_seconds=0.5, max_seconds=2.0)
REPORT = {
    "duration": 1.0,
    "speech_seconds": 0.9,
    "speech_ratio": 0.9,
    "snr_db": 31.5,
    "clipped_ratio": 0.0,
    "level_dbfs": -20.0,
    "score": 0.9,
    "warnings": ["quiet"],
}


@pytest.fixture
def store(tmp_path):
    store = FileVoiceStore(tmp_path / "voices")
    yield store
    store.close()


def exported(store: FileVoiceStore, path: Path, *records) -> Path:
    write_archive(path, [(record, store.audio_file(record)) for record in records])
    return path


def described(**changes):
    """A description of one voice with a recording of one second, and that recording."""
    audio = wav_bytes(noise(1, 1.0), RATE)
    voice = {
        "name": "Anna",
        "transcript": "Words.",
        "transcription": "given",
        "language": "en",
        "tags": [],
        "consent": True,
        "consent_note": "",
        "quality": None,
        "sha256": digest_of(audio),
    }
    return {"format": "polyvox-voices", "version": 1, "voices": [voice | changes]}, audio


def written(path: Path, description: object, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("voices.json", description if isinstance(description, bytes) else json.dumps(description))
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_what_is_exported_can_be_imported_elsewhere(tmp_path, store):
    given = registration(
        "Grüße 山田",
        pcm=noise(1, 1.0),
        owner="somebody",
        language="de",
        tags=("calm", "news"),
        consent=True,
        consent_note="Signed.",
        report=REPORT,
        embedding=np.ones(192, np.float32),
    )
    record = store.add(given).record
    (back,) = read_archive(exported(store, tmp_path / "out.zip", record), LIMITS, "another")
    assert np.array_equal(back.pcm, given.pcm)
    assert back.sample_rate == RATE
    assert (back.name, back.owner, back.transcript) == (given.name, "another", given.transcript)
    assert (back.language, back.tags, back.consent, back.consent_note) == ("de", ("calm", "news"), True, "Signed.")
    assert back.transcription is Transcription.GIVEN
    assert back.report == REPORT
    elsewhere = FileVoiceStore(tmp_path / "elsewhere")
    assert elsewhere.add(back).record.audio_digest == record.audio_digest
    elsewhere.close()


def test_an_export_tells_neither_whose_the_voice_is_nor_where_it_lay(tmp_path, store):
    record = store.add(registration("Anna", pcm=noise(1, 1.0), owner="fingerprint")).record
    path = exported(store, tmp_path / "out.zip", record)
    with zipfile.ZipFile(path) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
        assert sorted(archive.namelist()) == [f"audio/{record.audio_digest}.wav", "voices.json"]
    assert b"fingerprint" not in content
    assert str(tmp_path).encode() not in content
    assert record.id.encode() not in content


def test_several_voices_and_a_shared_recording(tmp_path, store):
    records = [store.add(registration(name, pcm=noise(1, 1.0))).record for name in ("one", "two")]
    path = exported(store, tmp_path / "out.zip", *records)
    assert [voice.name for voice in read_archive(path, LIMITS, "")] == ["one", "two"]
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 2


def test_the_same_voices_give_the_same_file(tmp_path, store):
    record = store.add(registration("Anna", pcm=noise(1, 1.0))).record
    one, other = (exported(store, tmp_path / name, record).read_bytes() for name in ("1.zip", "2.zip"))
    assert one == other


def test_an_export_that_fails_leaves_the_old_file_and_no_other(tmp_path, store):
    record = store.add(registration("Anna", pcm=noise(1, 1.0))).record
    path = tmp_path / "out.zip"
    path.write_bytes(b"old")

    def failing():
        yield record, store.audio_file(record)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        write_archive(path, failing())
    assert path.read_bytes() == b"old"
    assert {entry.name for entry in tmp_path.iterdir()} == {"out.zip", "voices"}


def test_only_the_named_members_are_read(tmp_path):
    description, audio = described()
    name = f"audio/{description['voices'][0]['sha256']}.wav"
    others = {"../../evil": b"x", "/etc/passwd": b"x", "other.bin": b"\0" * 50_000_000}
    (voice,) = read_archive(written(tmp_path / "in.zip", description, {name: audio} | others), LIMITS, "")
    assert voice.name == "Anna"
    assert {entry.name for entry in tmp_path.iterdir()} == {"in.zip"}


def hostile_samples(pcm: np.ndarray, rate: int = RATE) -> tuple[dict, bytes]:
    audio = wav_bytes(pcm.astype(np.float32), rate)
    return described(sha256=digest_of(audio))[0], audio


@pytest.mark.long
@pytest.mark.parametrize(
    ("description", "audio", "reason"),
    [
        (*hostile_samples(np.zeros(100)), "0.0 seconds"),
        (*hostile_samples(np.zeros(3 * RATE)), "3.0 seconds"),
        (*hostile_samples(np.full(RATE, np.nan)), "NaN"),
        (*hostile_samples(np.full(RATE, 1e30)), "NaN"),
        (*hostile_samples(np.zeros(RATE), rate=1), "sample rate of 1 Hz"),
        (*hostile_samples(np.zeros(RATE), rate=4_000_000), "out of range"),
        (*hostile_samples(np.zeros(10_000_000)), "too large"),
        (described(sha256=digest_of(b"RIFF" * 100))[0], b"RIFF" * 100, "damaged"),
        (described(sha256="0" * 64)[0], b"x", "not the one that was exported"),
        (described(sha256="../../etc")[0], b"x", "sha256"),
        (described(name="../up")[0], described()[1], "slash"),
        (described(name="x" * 10_000)[0], described()[1], "64 characters"),
        (described(name="\u202eabc")[0], described()[1], "U\\+202E"),
        (described(tags=["x"] * 50)[0], described()[1], "tags"),
        (described(transcript="x" * 3_000)[0], described()[1], "transcript"),
        (described(transcription="sung")[0], described()[1], "transcription"),
        (described(quality={"score": "high"})[0], described()[1], "quality"),
        (described()[0] | {"version": 2}, described()[1], "version"),
        (described()[0] | {"format": "other"}, described()[1], "format"),
        ({"format": "polyvox-voices", "version": 1, "voices": [{}] * (MAX_VOICES + 1)}, b"", "voices"),
        (b"[" * 100_000, b"", "description"),
        (b"\xff\xfe", b"", "description"),
        (b" " * (9 * 1_048_576), b"", "too large"),
    ],
)
def test_an_import_believes_nothing(tmp_path, description, audio, reason):
    digest = description["voices"][0].get("sha256", "x") if isinstance(description, dict) else "x"
    path = written(tmp_path / "in.zip", description, {f"audio/{digest}.wav": audio})
    with pytest.raises(InvalidRequestError, match=reason):
        list(read_archive(path, LIMITS, ""))


def test_a_recording_that_is_missing_or_there_twice(tmp_path):
    description, audio = described()
    name = f"audio/{description['voices'][0]['sha256']}.wav"
    with pytest.raises(InvalidRequestError, match="0 files"):
        list(read_archive(written(tmp_path / "none.zip", description, {}), LIMITS, ""))
    path = written(tmp_path / "two.zip", description, {name: audio})
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(name, audio)
    with pytest.raises(InvalidRequestError, match="2 files"):
        list(read_archive(path, LIMITS, ""))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_not_read(tmp_path, method):
    description, audio = described()
    name = f"audio/{description['voices'][0]['sha256']}.wav"
    with pytest.raises(InvalidRequestError, match="packed"):
        list(read_archive(written(tmp_path / "in.zip", description, {name: audio}, method), LIMITS, ""))


def test_more_members_than_voices_are_refused_at_once(tmp_path):
    path = written(tmp_path / "in.zip", described()[0], {f"file{number}": b"" for number in range(MAX_VOICES + 1)})
    with pytest.raises(InvalidRequestError, match="more than"):
        list(read_archive(path, LIMITS, ""))


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 3
    return data[:middle] + bytes(byte ^ 0xFF for byte in data[middle : middle + 200]) + data[middle + 200 :]


def encrypted(data: bytes) -> bytes:
    """The same with the flag for encryption set in every head."""
    changed = bytearray(data)
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(magic)
        while place >= 0:
            changed[place + offset] |= 1
            place = changed.find(magic, place + 1)
    return bytes(changed)


@pytest.mark.parametrize("damage", [cut, flipped, encrypted, lambda data: b"", lambda data: b"PK\x05\x06" + bytes(18)])
def test_a_damaged_file_is_refused(tmp_path, damage):
    description, audio = described()
    path = written(tmp_path / "in.zip", description, {f"audio/{description['voices'][0]['sha256']}.wav": audio})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InvalidRequestError):
        list(read_archive(path, LIMITS, ""))


@pytest.mark.long
def test_a_bomb_costs_no_more_than_a_recording(tmp_path):
    description, _ = described()
    name = f"audio/{description['voices'][0]['sha256']}.wav"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("voices.json", json.dumps(description))
        with archive.open(name, "w") as member:
            for _ in range(200):
                member.write(bytes(1_048_576))
    path = tmp_path / "bomb.zip"
    path.write_bytes(packed.getvalue())
    assert path.stat().st_size < 300_000
    with pytest.raises(InvalidRequestError, match="too large"):
        list(read_archive(path, LIMITS, ""))
