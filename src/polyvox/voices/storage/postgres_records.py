"""Records of voices in PostgreSQL, for any number of servers.

Names are unique by the database. The voices of one owner are counted under a lock of that owner, and notes of deletions
get their numbers under a lock of their own, so that a reader who has seen one has seen all before it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np
from psycopg.errors import UniqueViolation

from polyvox.errors import ConflictError, ForbiddenError, UnavailableError
from polyvox.voices.names import name_key, numbered_name
from polyvox.voices.records import RemovedVoice, Transcription, VoicePage, VoiceQuery, VoiceRecord
from polyvox.voices.storage.contract import Forgotten, NewVoice
from polyvox.voices.storage.database import cursor_after, cursor_position
from polyvox.voices.storage.migrations import migrate, shipped_migrations
from polyvox.voices.storage.postgres import Db, PostgresConnections

UPLOAD_SECONDS = 900.0
"""After this time an upload that has not become a voice is abandoned; one takes seconds."""
_LAST_DELETION_SECONDS = 86_400.0
"""Time until the object of an abandoned upload is deleted once more: its writer may have been suspended meanwhile."""

_FORGET_LOCK = 0x706F6C79_766F7802
_OWNER_LOCK = 0x706F6C79_766F7803
_SWEEP_LOCK = 0x706F6C79_766F7804

_COLUMNS = tuple(column.name for column in fields(VoiceRecord))
_STORED = (*_COLUMNS, "name_key", "object_key")
_EDITABLE = ("name", "name_key", "transcript", "transcription", "language", "tags", "consent", "consent_note")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM polyvox_voices"  # noqa: S608 - of constants
_INSERT = (
    f"INSERT INTO polyvox_voices ({', '.join(_STORED)}) "  # noqa: S608 - of constants
    f"VALUES ({', '.join(f'%({column})s' for column in _STORED)})"
)
_UPDATE = (
    f"UPDATE polyvox_voices SET {', '.join(f'{column} = %({column})s' for column in _EDITABLE)} "  # noqa: S608
    "WHERE id = %(id)s"
)


class PostgresRecords:
    """The records in one database; the contract is `RecordDatabase`."""

    def __init__(self, url: str, timeout: float) -> None:
        self._connections = PostgresConnections(url, timeout, lambda db: migrate(db, shipped_migrations()))

    def close(self) -> None:
        self._connections.close()

    def check(self) -> None:
        with self._connections.writing() as db:
            db.execute("SELECT 1 FROM polyvox_voices LIMIT 1")
            row = db.execute("SELECT pg_is_in_recovery() AS replica").fetchone()
        if row is not None and row["replica"]:
            raise UnavailableError("The voice database is a read-only replica; point voice_database to the primary.")

    def get(self, voice_id: str) -> VoiceRecord | None:
        return self._one("id = %s", voice_id)

    def find(self, owner: str, name: str) -> VoiceRecord | None:
        return self._one("owner = %s AND name_key = %s", owner, name_key(name))

    def find_audio(self, owner: str, audio_digest: str) -> VoiceRecord | None:
        return self._one("owner = %s AND audio_digest = %s", owner, audio_digest)

    def object_key(self, voice_id: str) -> str | None:
        with self._connections.reading() as db:
            row = db.execute("SELECT object_key FROM polyvox_voices WHERE id = %s", (voice_id,)).fetchone()
        return None if row is None else row["object_key"]

    def page(self, query: VoiceQuery) -> VoicePage:
        if not all(_is_storable(text) for text in (query.text, query.tag, query.language)):
            return VoicePage((), "")
        where, values = _conditions(query)
        order = "DESC" if query.newest_first else "ASC"
        select = f"{_SELECT} WHERE {where} ORDER BY created {order}, id {order} LIMIT %s"
        with self._connections.reading() as db:
            rows = db.execute(select.encode(), (*values, query.limit + 1)).fetchall()
        voices = tuple(_record(row) for row in rows[: query.limit])
        return VoicePage(voices, cursor_after(voices[-1]) if len(rows) > query.limit else "")

    def sounding(self, owner: str) -> list[VoiceRecord]:
        return self._every("owner = %s AND embedding IS NOT NULL", owner)

    def pending(self) -> list[VoiceRecord]:
        return self._every("transcription = %s", Transcription.PENDING.value)

    def begin_upload(self, key: str, new: NewVoice) -> float:
        with self._connections.writing() as db:
            if not new.replacing and _first(db, "owner = %s AND name_key = %s", new.owner, name_key(new.name)):
                raise _taken(new.name)
            if not new.replacing:
                _check_count(db, new)
            db.execute("INSERT INTO polyvox_uploads (object_key) VALUES (%s)", (key,))
            row = db.execute("SELECT extract(epoch FROM clock_timestamp())::float8 AS now").fetchone()
        assert row is not None
        now: float = row["now"]
        return now

    def insert(self, key: str, record: VoiceRecord, new: NewVoice) -> RemovedVoice | None:
        with self._connections.writing() as db:
            _lock_owner(db, record.owner)
            _claim_upload(db, key)
            old = None
            if new.replacing:
                found = _first(db, "owner = %s AND name_key = %s", record.owner, name_key(record.name))
                old = None if found is None else _deleted(db, found.id)
            _check_count(db, new)
            with _unique(record.name):
                db.execute(_INSERT.encode(), _row(record) | {"object_key": key})
            return None if old is None else _removed(db, old)

    def adopt(self, key: str, record: VoiceRecord) -> VoiceRecord | None:
        with self._connections.writing() as db:
            _lock_owner(db, record.owner)
            forgotten = db.execute("SELECT 1 FROM polyvox_forgotten WHERE voice_id = %s LIMIT 1", (record.id,))
            if forgotten.fetchone() is not None or _first(db, "id = %s", record.id) is not None:
                return None
            _claim_upload(db, key)
            record = replace(record, name=_free_name(db, record))
            db.execute(_INSERT.encode(), _row(record) | {"object_key": key})
        return record

    def abandon_upload(self, key: str) -> None:
        with self._connections.writing() as db:
            db.execute("UPDATE polyvox_uploads SET abandoned = TRUE WHERE object_key = %s", (key,))

    def update(self, voice_id: str, changes: Mapping[str, Any]) -> VoiceRecord | None:
        with self._connections.writing() as db:
            record = _first(db, "id = %s FOR UPDATE", voice_id)
            if record is None:
                return None
            record = replace(record, **changes)
            with _unique(record.name):
                db.execute(_UPDATE.encode(), _row(record))
        return record

    def set_transcription(self, voice_id: str, transcript: str | None) -> None:
        state = Transcription.FAILED if transcript is None else Transcription.HEARD
        with self._connections.writing() as db:
            db.execute(
                "UPDATE polyvox_voices SET transcript = %s, transcription = %s WHERE id = %s AND transcription = %s",
                (transcript or "", state.value, voice_id, Transcription.PENDING.value),
            )

    def touch(self, voice_id: str, seconds: float) -> None:
        with self._connections.writing() as db:
            db.execute(
                """UPDATE polyvox_voices SET used = extract(epoch FROM clock_timestamp())
                WHERE id = %s AND used < extract(epoch FROM clock_timestamp()) - %s""",
                (voice_id, seconds),
            )

    def delete(self, voice_id: str) -> RemovedVoice | None:
        with self._connections.writing() as db:
            record = _deleted(db, voice_id)
            return None if record is None else _removed(db, record)

    def forgotten(self, after: int) -> Forgotten:
        with self._connections.reading() as db:
            rows = db.execute(
                """SELECT serial, audio_digest, owner, EXISTS (
                    SELECT 1 FROM polyvox_voices voices
                    WHERE voices.audio_digest = gone.audio_digest AND voices.owner = gone.owner
                ) AS held FROM polyvox_forgotten gone WHERE serial > %s ORDER BY serial""",
                (after,),
            ).fetchall()
        gone = [(row["audio_digest"], row["owner"]) for row in rows if not row["held"]]
        return (rows[-1]["serial"] if rows else after), gone

    def to_delete(self, limit: int) -> list[str]:
        with self._connections.writing() as db:
            _lock_sweep(db)
            db.execute(
                """UPDATE polyvox_uploads SET abandoned = TRUE
                WHERE NOT abandoned AND started < clock_timestamp() - make_interval(secs => %s)""",
                (UPLOAD_SECONDS,),
            )
            rows = db.execute(
                """SELECT object_key FROM polyvox_forgotten WHERE NOT object_deleted
                UNION ALL SELECT object_key FROM polyvox_uploads
                WHERE abandoned AND (NOT deleted OR started < clock_timestamp() - make_interval(secs => %s))
                LIMIT %s""",
                (_LAST_DELETION_SECONDS, limit),
            ).fetchall()
        return [row["object_key"] for row in rows]

    def deleted(self, keys: list[str]) -> None:
        with self._connections.writing() as db:
            _lock_sweep(db)
            db.execute("UPDATE polyvox_forgotten SET object_deleted = TRUE WHERE object_key = ANY(%s)", (keys,))
            db.execute(
                """DELETE FROM polyvox_uploads WHERE abandoned AND object_key = ANY(%s)
                AND started < clock_timestamp() - make_interval(secs => %s)""",
                (keys, _LAST_DELETION_SECONDS),
            )
            db.execute("UPDATE polyvox_uploads SET deleted = TRUE WHERE abandoned AND object_key = ANY(%s)", (keys,))

    def known_audio(self, digests: list[str]) -> set[str]:
        select = "SELECT DISTINCT audio_digest FROM polyvox_voices WHERE audio_digest = ANY(%s)"
        with self._connections.reading() as db:
            return {row["audio_digest"] for row in db.execute(select, (digests,))}

    def prune(self, forget_before: float) -> None:
        with self._connections.writing() as db:
            _lock_sweep(db)
            db.execute("DELETE FROM polyvox_forgotten WHERE object_deleted AND at < to_timestamp(%s)", (forget_before,))

    def _one(self, where: str, *values: str) -> VoiceRecord | None:
        if not all(_is_storable(value) for value in values):
            return None
        with self._connections.reading() as db:
            return _first(db, where, *values)

    def _every(self, where: str, value: str) -> list[VoiceRecord]:
        with self._connections.reading() as db:
            return [_record(row) for row in db.execute(f"{_SELECT} WHERE {where}".encode(), (value,))]


def _first(db: Db, where: str, *values: str) -> VoiceRecord | None:
    row = db.execute(f"{_SELECT} WHERE {where}".encode(), values).fetchone()
    return None if row is None else _record(row)


def _lock_owner(db: Db, owner: str) -> None:
    """Let one registration of an owner count and insert at a time, on all servers."""
    db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))", (owner, _OWNER_LOCK))


def _lock_sweep(db: Db) -> None:
    """Let one server at a time change many notes: two could lock the same ones in different orders."""
    db.execute("SELECT pg_advisory_xact_lock(%s)", (_SWEEP_LOCK,))


def _claim_upload(db: Db, key: str) -> None:
    """From here on the object belongs to a voice; refused if it was given up for deletion meanwhile."""
    done = db.execute("DELETE FROM polyvox_uploads WHERE object_key = %s AND NOT abandoned", (key,))
    if done.rowcount != 1:
        raise UnavailableError("Storing the recording took too long; send it again.", retry=True, retry_after=1.0)


def _deleted(db: Db, voice_id: str) -> VoiceRecord | None:
    """Delete a record, and note that its object has to follow."""
    delete = f"DELETE FROM polyvox_voices WHERE id = %s RETURNING {', '.join(_COLUMNS)}, object_key"  # noqa: S608
    row = db.execute(delete.encode(), (voice_id,)).fetchone()
    if row is None:
        return None
    db.execute("SELECT pg_advisory_xact_lock(%s)", (_FORGET_LOCK,))
    db.execute(
        "INSERT INTO polyvox_forgotten (voice_id, owner, audio_digest, object_key) VALUES (%s, %s, %s, %s)",
        (row["id"], row["owner"], row["audio_digest"], row["object_key"]),
    )
    return _record(row)


def _removed(db: Db, record: VoiceRecord) -> RemovedVoice:
    """Every voice has an object of its own, so that none is kept."""
    shared = _first(db, "owner = %s AND audio_digest = %s", record.owner, record.audio_digest) is not None
    return RemovedVoice(record, shared, kept=False)


def _check_count(db: Db, new: NewVoice) -> None:
    if new.limit is None:
        return
    row = db.execute("SELECT count(*) AS count FROM polyvox_voices WHERE owner = %s", (new.owner,)).fetchone()
    count = 0 if row is None else row["count"]
    if count >= new.limit:
        raise ForbiddenError(
            f"There are {count} voices, and this server keeps no more than {new.limit}; remove one first."
        )


def _free_name(db: Db, record: VoiceRecord) -> str:
    number = 1
    while _first(db, "owner = %s AND name_key = %s", record.owner, name_key(numbered_name(record.name, number))):
        number += 1
    return numbered_name(record.name, number)


@contextmanager
def _unique(name: str) -> Iterator[None]:
    try:
        yield
    except UniqueViolation as error:
        raise _taken(name) from error


def _taken(name: str) -> ConflictError:
    return ConflictError(
        f"There is a voice named {name!r} already; choose another name or remove that voice.", field="name"
    )


def _row(record: VoiceRecord) -> dict[str, Any]:
    row = {column: getattr(record, column) for column in _COLUMNS}
    return row | {
        "name_key": name_key(record.name),
        "transcription": record.transcription.value,
        "tags": list(record.tags),
        "report": json.dumps(dict(record.report)),
        "embedding": None if record.embedding is None else record.embedding.astype("<f4").tobytes(),
    }


def _record(row: Mapping[str, Any]) -> VoiceRecord:
    values = {column: row[column] for column in _COLUMNS}
    embedding = values["embedding"]
    return VoiceRecord(
        **values
        | {
            "transcription": Transcription(values["transcription"]),
            "tags": tuple(values["tags"]),
            "report": json.loads(values["report"]),
            "embedding": None if embedding is None else np.frombuffer(embedding, "<f4").astype(np.float32),
        }
    )


def _conditions(query: VoiceQuery) -> tuple[str, list[Any]]:
    """A query as an SQL condition and its values."""
    found: list[tuple[str, list[Any]]] = []
    if query.owners is not None:
        found.append(("owner = ANY(%s)", [list(query.owners)]))
    if query.text:
        found.append(("strpos(name_key, %s) > 0", [name_key(query.text)]))
    if query.tag:
        found.append(("%s = ANY(tags)", [query.tag.lower()]))
    if query.language:
        language = query.language.lower()
        found.append(("(language = %s OR starts_with(language, %s))", [language, f"{language}-"]))
    if query.consent is not None:
        found.append(("consent = %s", [query.consent]))
    if query.after:
        order = "<" if query.newest_first else ">"
        found.append((f"(created, id) {order} (%s, %s)", list(cursor_position(query.after))))
    where = " AND ".join(condition for condition, _ in found) or "TRUE"
    return where, [value for _, values in found for value in values]


def _is_storable(text: str) -> bool:
    """Return whether PostgreSQL can hold a text at all; what it cannot hold matches nothing."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
