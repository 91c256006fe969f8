"""The voice store of one machine: SQLite for the records, content-addressed files for the recordings.

Any number of processes may work on one folder. Everything that changes it happens under SQLite's write lock, the files
included: a recording is on the disk before the record that names it is committed, and is deleted only after no record
names it any more. A crash can therefore leave a file too many, which `sweep` deletes, but never a record without one.

The database is not the only copy of what it says: every voice has a side-car beside its recording, written after the
commit. The database and the folder of recordings carry the same id; where the ids differ, `sweep` deletes nothing.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from polyvox.errors import ConflictError, ForbiddenError, UnavailableError
from polyvox.types import Pcm
from polyvox.voices.names import name_key, numbered_name
from polyvox.voices.records import (
    AddedVoice,
    Registration,
    RemovedVoice,
    Transcription,
    VoicePage,
    VoiceQuery,
    VoiceRecord,
    new_record,
)
from polyvox.voices.storage.database import (
    INSERT,
    UPDATE,
    conditions,
    connected,
    cursor_after,
    failures,
    prepare_schema,
    record_of,
    row_of,
    store_id,
)
from polyvox.voices.storage.folder_lock import FolderLock
from polyvox.voices.storage.recordings import RecordingFiles, digest_of, read_wav, wav_bytes
from polyvox.voices.storage.reserve import RESERVE_BYTES, DiskReserve, may_be_full
from polyvox.voices.storage.sidecars import sidecar_of
from polyvox.voices.storage.sweep import find_strays, is_in_use, reclaim, sweep_strays, was_forgotten

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

DATABASE, AUDIO, UNCLAIMED, LOCK = "voices.sqlite3", "audio", "unclaimed", "in-use"
"""Names of the files in the store's folder."""

Result = TypeVar("Result")

USED_SECONDS = 60.0
"""Resolution of the time of last use; a finer one would cost a write for every request."""


class FileVoiceStore:
    """The voices in one folder. Methods block and may be called from any thread."""

    def __init__(
        self, folder: Path, *, clock: Callable[[], float] = time.time, reserve_bytes: int = RESERVE_BYTES
    ) -> None:
        self._folder = folder
        self._database = folder / DATABASE
        self._recordings = RecordingFiles(folder / AUDIO)
        self._unclaimed = RecordingFiles(folder / UNCLAIMED)
        self._reserve = DiskReserve(folder / "reserve", reserve_bytes)
        self._clock = clock
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._closing = threading.Event()
        self._with_room(self._open)

    def _open(self) -> None:
        with failures(), ExitStack() as opened:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened.enter_context(closing(FolderLock(self._folder / LOCK)))
            self._writer = opened.enter_context(closing(connected(self._database)))
            self._reader = opened.enter_context(closing(connected(self._database)))
            self._identity = _identity_of(self._database)
            with self._writing() as db:
                prepare_schema(db)
                if next(self._recordings.digests(), None) is None and not self._is_claimed(db):
                    self._recordings.claim(store_id(db))
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Let go of the files."""
        self._closing.set()
        with self._write_lock, self._read_lock:
            self._opened.close()

    def check(self) -> None:
        """UnavailableError if the store cannot be read and written."""
        with self._writing() as db:
            db.execute("SELECT 1 FROM voices LIMIT 1").fetchone()

    def is_replaced(self) -> bool:
        """Return whether another database has taken the place of the one that was opened."""
        return _identity_of(self._database) not in (None, self._identity)

    def warnings(self) -> tuple[str, ...]:
        """Problems that the server's operator should mend although the store works."""
        found = []
        if _identity_of(self._database) is None:
            found.append(
                "The voice store's database was deleted while the server runs; restore it from a backup, or stop the "
                "server and run: polyvox voices repair"
            )
        if next(self._unclaimed.digests(), None) is not None:
            found.append(
                "Recordings that the database does not know were put aside in the folder 'unclaimed'; register them "
                "again with: polyvox voices repair"
            )
        if not self._reserve.held and next(self._recordings.digests(), None) is not None:
            found.append("The disk of the voice store is full; free space or delete voices.")
        return tuple(found)

    def unclaimed(self) -> int:
        """Number of recordings that this database does not know and did not leave behind."""
        with self._reading() as db:
            strays = () if self._is_claimed(db) else find_strays(db, self._recordings).digests
        return len({*strays, *self._unclaimed.digests()})

    def add(self, new: Registration, *, replacing: bool = False, limit: int | None = None) -> AddedVoice:
        """Register a voice; when this returns, it survives a crash.

        A name that its owner has given already is refused, or, with `replacing`, the old voice makes way in one step.
        An owner who has `limit` voices gets no more. A write that fails leaves nothing behind.
        """
        data = wav_bytes(new.pcm, new.sample_rate)
        record = new_record(new, digest_of(data), self._clock())
        old = None
        try:
            with self._writing() as db:
                if replacing and (old := _named(db, new.owner, new.name)) is not None:
                    self._delete(db, old)
                _check_count(db, new.owner, limit)
                _execute_unique(db, INSERT, record)
                self._reserve.hold()
                self._recordings.write(record.audio_digest, data)
        except UnavailableError:
            self._discard(record)
            raise
        self._write_sidecar(record.id)
        return AddedVoice(record, None if old is None else self._removed(old))

    def get(self, voice_id: str) -> VoiceRecord | None:
        """The voice of this id."""
        with self._reading() as db:
            return _one(db, "id = ?", voice_id)

    def find(self, owner: str, name: str) -> VoiceRecord | None:
        """The owner's voice of this name, whatever its case."""
        with self._reading() as db:
            return _named(db, owner, name)

    def find_audio(self, owner: str, audio_digest: str) -> VoiceRecord | None:
        """A voice of this owner with this very recording."""
        with self._reading() as db:
            return _one(db, "owner = ? AND audio_digest = ?", owner, audio_digest)

    def page(self, query: VoiceQuery) -> VoicePage:
        """The voices that a query asks for, by age."""
        where, values = conditions(query)
        order = "DESC" if query.newest_first else "ASC"
        select = f"SELECT * FROM voices WHERE {where} ORDER BY created {order}, id {order} LIMIT ?"  # noqa: S608
        with self._reading() as db:
            rows = db.execute(select, (*values, query.limit + 1)).fetchall()
        voices = tuple(record_of(row) for row in rows[: query.limit])
        return VoicePage(voices, cursor_after(voices[-1]) if len(rows) > query.limit else "")

    def sounding(self, owner: str) -> list[VoiceRecord]:
        """The owner's voices of which it is known how they sound."""
        return self._every("owner = ? AND embedding IS NOT NULL", owner)

    def pending(self) -> list[VoiceRecord]:
        """The voices whose transcripts were to come and have not."""
        return self._every("transcription = ?", Transcription.PENDING)

    def update(self, voice_id: str, changes: Mapping[str, Any]) -> VoiceRecord | None:
        """Change what an owner may change; None if the voice is gone."""
        with self._writing() as db:
            record = _one(db, "id = ?", voice_id)
            if record is None:
                return None
            record = replace(record, **changes)
            _execute_unique(db, UPDATE, record)
        self._write_sidecar(voice_id)
        return record

    def set_transcription(self, voice_id: str, transcript: str | None) -> None:
        """Store the recogniser's transcript, None where it failed; a transcript given meanwhile stays."""
        state = Transcription.FAILED if transcript is None else Transcription.HEARD
        with self._writing() as db:
            db.execute(
                "UPDATE voices SET transcript = ?, transcription = ? WHERE id = ? AND transcription = ?",
                (transcript or "", state, voice_id, Transcription.PENDING),
            )
        self._write_sidecar(voice_id)

    def touch(self, record: VoiceRecord) -> None:
        """Note that a voice is used, to the minute; a full disk does not keep it from speaking."""
        now = self._clock()
        if now - record.used < USED_SECONDS:
            return
        try:
            with self._writing() as db:
                db.execute("UPDATE voices SET used = ? WHERE id = ? AND used < ?", (now, record.id, now))
        except UnavailableError as error:
            log.warning("use of a voice not noted", voice=record.id, reason=error.message)

    def remove(self, voice_id: str) -> RemovedVoice | None:
        """Delete a voice, and its recording unless another voice has the same one; None if it is gone already.

        This works on a full disk too, with the room of the reserve.
        """
        record = self._with_room(partial(self._remove_record, voice_id))
        if record is None:
            return None
        removed = self._with_room(partial(self._removed, record))
        self.hold_reserve()
        return removed

    def restore(self, record: VoiceRecord) -> VoiceRecord | None:
        """Register a voice again under its old id; None if it is there or was deleted.

        Its recording lies in the folder or was put aside. A name that its owner has given to another voice meanwhile
        gets a number.
        """
        with self._writing() as db:
            if _one(db, "id = ?", record.id) is not None or was_forgotten(db, record.audio_digest, record.id):
                return None
            record = replace(record, name=_free_name(db, record))
            if self._recordings.content(record.audio_digest) is None:
                self._unclaimed.move(record.audio_digest, self._recordings)
            db.execute(INSERT, row_of(record))
        self._write_sidecar(record.id)
        return record

    def adopt(self, record: VoiceRecord, audio: bytes) -> VoiceRecord | None:
        """Register a voice of another store under its own id; None if it is there or was deleted here."""
        digest = record.audio_digest
        with self._writing():
            fresh = self._recordings.content(digest) is None and not self._unclaimed.has(digest)
            if fresh:
                self._unclaimed.write(digest, audio)
        adopted = self.restore(record)
        if fresh:
            with self._writing():
                self._unclaimed.remove(digest)  # if it was not taken from there
        self.hold_reserve()
        return adopted

    def recording(self, record: VoiceRecord) -> tuple[Pcm, int]:
        """A voice's samples and their rate, checked against the hash."""
        return read_wav(self.audio_file(record))

    def audio_file(self, record: VoiceRecord) -> bytes:
        """A voice's recording as the WAV file it is stored in."""
        with failures():
            return self._recordings.read(record.audio_digest)

    def forgotten(self, after: int) -> tuple[int, list[tuple[str, str | None]]]:
        """The recordings that owners no longer have since `after`, and where to go on; start from 0.

        Each comes with its owner, None for all owners.
        """
        select = """SELECT serial, audio_digest, owner, EXISTS (
            SELECT 1 FROM voices WHERE voices.audio_digest = forgotten.audio_digest AND voices.owner = forgotten.owner
        ) AS held FROM forgotten WHERE serial > ? ORDER BY serial"""
        with self._reading() as db:
            rows = db.execute(select, (after,)).fetchall()
        gone = [(row["audio_digest"], row["owner"]) for row in rows if not row["held"]]
        return (rows[-1]["serial"] if rows else after), gone

    def sweep(self, forget_before: float = 0.0) -> int:
        """Delete what a crash left behind, and notes of deletions before that time; returns how many recordings.

        Recordings that another database knew are put aside.
        """
        with self._reading() as db:
            strays = find_strays(db, self._recordings)
        with self._writing() as db:
            self._recordings.remove_incoming()
            reclaim(db, self._recordings, self._unclaimed)
            claimed = self._is_claimed(db)
            swept = sweep_strays(db, strays, self._recordings, self._unclaimed, claimed=claimed)
            if not claimed:
                self._recordings.claim(store_id(db))
            db.execute("DELETE FROM forgotten WHERE at < ?", (forget_before,))
        if swept.aside:
            log.warning("unknown recordings put aside", count=swept.aside, fix="polyvox voices repair")
        self.hold_reserve()
        return swept.deleted

    def upkeep(self) -> None:
        """Hold the reserve."""
        self.hold_reserve()

    def update_sidecars(self) -> None:
        """Write the side-cars that are missing or out of date; `close` stops it."""
        with self._reading() as db:
            records = [record_of(row) for row in db.execute("SELECT * FROM voices")]
        for record in records:
            if self._closing.is_set():
                return
            if self._recordings.read_sidecar(record.audio_digest, record.id) != sidecar_of(record):
                self._write_sidecar(record.id)

    def hold_reserve(self) -> None:
        """Take the space for deletions again, as soon as there is enough and anything to delete."""
        if not self._reserve.held and next(self._recordings.digests(), None) is not None:
            with self._writing():
                self._reserve.hold_if_possible()

    def _is_claimed(self, db: sqlite3.Connection) -> bool:
        """Return whether the recordings in the folder are those of this database."""
        return self._recordings.store_id() == store_id(db)

    def _write_sidecar(self, voice_id: str) -> None:
        """Write what is stored of a voice beside its recording; one that fails is written at the next start."""
        try:
            with self._writing() as db:
                if (record := _one(db, "id = ?", voice_id)) is not None:
                    self._recordings.write_sidecar(record.audio_digest, voice_id, sidecar_of(record))
        except UnavailableError as error:
            log.warning("side-car of a voice not written", voice=voice_id, reason=error.message)

    def _discard(self, record: VoiceRecord) -> None:
        """Delete what a registration that failed has written; it may be what fills the disk."""
        try:
            with self._writing() as db:
                self._recordings.remove_incoming()
                if not is_in_use(db, record.audio_digest):
                    self._recordings.remove(record.audio_digest)
        except UnavailableError as error:
            log.warning("recording of a failed registration not deleted yet", reason=error.message)

    def _with_room(self, work: Callable[[], Result]) -> Result:
        """Run `work`; if the disk is full, once more with the room of the reserve."""
        try:
            return work()
        except UnavailableError as error:
            if not may_be_full(error.__cause__) or not self._reserve.release():
                raise
        log.warning("reserve of the voice store released: the disk is full")
        return work()

    def _remove_record(self, voice_id: str) -> VoiceRecord | None:
        with self._writing() as db:
            record = _one(db, "id = ?", voice_id)
            if record is not None:
                self._delete(db, record)
            return record

    def _every(self, where: str, value: str) -> list[VoiceRecord]:
        with self._reading() as db:
            return [record_of(row) for row in db.execute(f"SELECT * FROM voices WHERE {where}", (value,))]  # noqa: S608

    def _delete(self, db: sqlite3.Connection, record: VoiceRecord) -> None:
        db.execute("DELETE FROM voices WHERE id = ?", (record.id,))
        values = (record.audio_digest, self._clock(), record.owner, record.id)
        db.execute("INSERT INTO forgotten (audio_digest, at, owner, voice_id) VALUES (?, ?, ?, ?)", values)

    def _removed(self, record: VoiceRecord) -> RemovedVoice:
        with self._writing() as db:
            shared = _one(db, "owner = ? AND audio_digest = ?", record.owner, record.audio_digest) is not None
            kept = is_in_use(db, record.audio_digest)
            self._recordings.remove_voice(record.audio_digest, record.id, keep_audio=kept)
        return RemovedVoice(record, shared, kept)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with failures(), self._read_lock:
            yield self._reader

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The write lock of all processes, and a transaction that is kept only if the block ends well."""
        with failures(), self._write_lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise


def _execute_unique(db: sqlite3.Connection, statement: str, record: VoiceRecord) -> None:
    try:
        db.execute(statement, row_of(record))
    except sqlite3.IntegrityError as error:
        raise ConflictError(
            f"There is a voice named {record.name!r} already; choose another name or remove that voice.", field="name"
        ) from error


def _check_count(db: sqlite3.Connection, owner: str, limit: int | None) -> None:
    if limit is None:
        return
    (count,) = db.execute("SELECT count(*) FROM voices WHERE owner = ?", (owner,)).fetchone()
    if count >= limit:
        raise ForbiddenError(f"There are {count} voices, and this server keeps no more than {limit}; remove one first.")


def _named(db: sqlite3.Connection, owner: str, name: str) -> VoiceRecord | None:
    return _one(db, "owner = ? AND name_key = ?", owner, name_key(name))


def _one(db: sqlite3.Connection, where: str, *values: str) -> VoiceRecord | None:
    row = db.execute(f"SELECT * FROM voices WHERE {where} LIMIT 1", values).fetchone()  # noqa: S608
    return None if row is None else record_of(row)


def _free_name(db: sqlite3.Connection, record: VoiceRecord) -> str:
    """The record's name, or the first of `name (2)`, `name (3)` ... that its owner has not given."""
    number = 1
    while _named(db, record.owner, numbered_name(record.name, number)) is not None:
        number += 1
    return numbered_name(record.name, number)


def _identity_of(path: Path) -> tuple[int, int] | None:
    """The identity that tells one file from another of the same name; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
