"""The voice store: SQLite for the records, content-addressed files for the recordings.

Any number of processes may work on one folder. Everything that changes it happens under SQLite's write lock, the files
included: a recording is on the disk before the record that names it is committed, and is deleted only after no record
names it any more. A crash can therefore leave a file too many, which `sweep` deletes, but never a record without one.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polyvox.errors import ConflictError, ForbiddenError
from polyvox.types import Pcm
from polyvox.voices.database import (
    INSERT,
    UPDATE,
    conditions,
    connected,
    cursor_after,
    failures,
    prepare_schema,
    record_of,
    row_of,
)
from polyvox.voices.names import name_key, new_voice_id
from polyvox.voices.recordings import RecordingFiles, digest_of, read_wav, wav_bytes
from polyvox.voices.records import Registration, Transcription, VoicePage, VoiceQuery, VoiceRecord

USED_SECONDS = 60.0
"""Resolution of the time of last use; a finer one would cost a write for every request."""


@dataclass(frozen=True, slots=True)
class RemovedVoice:
    """A removed voice, and whether its recording stays because another voice shares it."""

    record: VoiceRecord
    shared: bool


@dataclass(frozen=True, slots=True)
class AddedVoice:
    """A newly registered voice, and the one it replaced."""

    record: VoiceRecord
    replaced: RemovedVoice | None


class VoiceStore:
    """The voices in one folder. Methods block and may be called from any thread."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._recordings = RecordingFiles(folder / "audio")
        self._clock = clock
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        with failures():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._writer = connected(folder / "voices.sqlite3")
            self._reader = connected(folder / "voices.sqlite3")
        with self._writing() as db:
            prepare_schema(db)

    def close(self) -> None:
        """Let go of the files."""
        with self._write_lock, self._read_lock:
            self._writer.close()
            self._reader.close()

    def add(self, new: Registration, *, replacing: bool = False, limit: int | None = None) -> AddedVoice:
        """Register a voice; when this returns, it survives a crash.

        A name that its owner has given already is refused, or, with `replacing`, the old voice makes way in one step.
        An owner who has `limit` voices gets no more.
        """
        data = wav_bytes(new.pcm, new.sample_rate)
        record = _new_record(new, digest_of(data), self._clock())
        old = None
        with self._writing() as db:
            if replacing and (old := _named(db, new.owner, new.name)) is not None:
                self._delete(db, old)
            _check_count(db, new.owner, limit)
            _execute_unique(db, INSERT, record)
            self._recordings.write(record.audio_digest, data)
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
            return record

    def set_transcription(self, voice_id: str, transcript: str | None) -> None:
        """Store the recogniser's transcript, None where it failed; a transcript given meanwhile stays."""
        state = Transcription.FAILED if transcript is None else Transcription.HEARD
        with self._writing() as db:
            db.execute(
                "UPDATE voices SET transcript = ?, transcription = ? WHERE id = ? AND transcription = ?",
                (transcript or "", state, voice_id, Transcription.PENDING),
            )

    def touch(self, record: VoiceRecord) -> None:
        """Note that a voice is used, to the minute."""
        now = self._clock()
        if now - record.used < USED_SECONDS:
            return
        with self._writing() as db:
            db.execute("UPDATE voices SET used = ? WHERE id = ? AND used < ?", (now, record.id, now))

    def remove(self, voice_id: str) -> RemovedVoice | None:
        """Delete a voice, and its recording unless another voice has the same one; None if it is gone already."""
        with self._writing() as db:
            record = _one(db, "id = ?", voice_id)
            if record is None:
                return None
            self._delete(db, record)
        return self._removed(record)

    def recording(self, record: VoiceRecord) -> tuple[Pcm, int]:
        """A voice's samples and their rate, checked against the hash."""
        return read_wav(self.audio_file(record))

    def audio_file(self, record: VoiceRecord) -> bytes:
        """A voice's recording as the WAV file it is stored in."""
        with failures():
            return self._recordings.read(record.audio_digest)

    def forgotten(self, after: int) -> tuple[int, list[str]]:
        """The recordings deleted by any process since `after`, and where to go on; start from 0."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT serial, audio_digest FROM forgotten WHERE serial > ? ORDER BY serial", (after,)
            ).fetchall()
        return (rows[-1]["serial"] if rows else after), [row["audio_digest"] for row in rows]

    def sweep(self, forget_before: float = 0.0) -> int:
        """Delete the recordings that no voice names, and notes of deletions before that time; returns how many."""
        with self._reading() as db:
            known = {row["audio_digest"] for row in db.execute("SELECT audio_digest FROM voices")}
        strays = [digest for digest in self._recordings.digests() if digest not in known]
        with self._writing() as db:
            self._recordings.remove_incoming()
            db.execute("DELETE FROM forgotten WHERE at < ?", (forget_before,))
            return sum(self._recordings.remove(digest) for digest in strays if not _is_in_use(db, digest))

    def _every(self, where: str, value: str) -> list[VoiceRecord]:
        with self._reading() as db:
            return [record_of(row) for row in db.execute(f"SELECT * FROM voices WHERE {where}", (value,))]  # noqa: S608

    def _delete(self, db: sqlite3.Connection, record: VoiceRecord) -> None:
        db.execute("DELETE FROM voices WHERE id = ?", (record.id,))
        if not _is_in_use(db, record.audio_digest):
            values = (record.audio_digest, self._clock())
            db.execute("INSERT INTO forgotten (audio_digest, at) VALUES (?, ?)", values)

    def _removed(self, record: VoiceRecord) -> RemovedVoice:
        with self._writing() as db:
            shared = _is_in_use(db, record.audio_digest)
            if not shared:
                self._recordings.remove(record.audio_digest)
        return RemovedVoice(record, shared)

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


def _new_record(new: Registration, audio_digest: str, created: float) -> VoiceRecord:
    return VoiceRecord(
        id=new_voice_id(),
        name=new.name,
        owner=new.owner,
        transcript=new.transcript,
        transcription=new.transcription,
        language=new.language,
        tags=new.tags,
        consent=new.consent,
        consent_note=new.consent_note,
        duration=len(new.pcm) / new.sample_rate,
        sample_rate=new.sample_rate,
        report=new.report,
        audio_digest=audio_digest,
        created=round(created, 6),
        embedding=new.embedding,
    )


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


def _is_in_use(db: sqlite3.Connection, digest: str) -> bool:
    return db.execute("SELECT 1 FROM voices WHERE audio_digest = ? LIMIT 1", (digest,)).fetchone() is not None
