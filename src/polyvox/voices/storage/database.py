"""The SQLite schema of the voice store, and conversions between rows and records."""

import json
import re
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import structlog

from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.voices.names import name_key
from polyvox.voices.records import Transcription, VoiceQuery, VoiceRecord
from polyvox.voices.storage.reserve import is_full

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

BUSY_SECONDS = 30.0
"""Timeout of the write lock."""

_SCHEMA_VERSION = 1
_SCHEMA = (
    """CREATE TABLE voices (
        id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        name_key TEXT NOT NULL,
        transcript TEXT NOT NULL,
        transcription TEXT NOT NULL,
        language TEXT NOT NULL,
        tags TEXT NOT NULL,
        consent INTEGER NOT NULL,
        consent_note TEXT NOT NULL,
        duration REAL NOT NULL,
        sample_rate INTEGER NOT NULL,
        report TEXT NOT NULL,
        audio_digest TEXT NOT NULL,
        created REAL NOT NULL,
        used REAL NOT NULL,
        embedding BLOB,
        UNIQUE (owner, name_key)
    ) STRICT""",
    "CREATE INDEX voices_by_audio ON voices (audio_digest)",
    "CREATE INDEX voices_by_age ON voices (created, id)",
    """CREATE TABLE forgotten (
        serial INTEGER PRIMARY KEY AUTOINCREMENT,
        audio_digest TEXT NOT NULL,
        at REAL NOT NULL,
        owner TEXT,
        voice_id TEXT
    ) STRICT""",
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
)
# Additions that earlier releases of the same version read past; what they write has NULL there.
_FORGOTTEN_COLUMNS = ("owner", "voice_id")
_COLUMNS = (*(column.name for column in fields(VoiceRecord)), "name_key")
_EDITABLE = ("name", "name_key", "transcript", "transcription", "language", "tags", "consent", "consent_note")

INSERT = f"INSERT INTO voices ({', '.join(_COLUMNS)}) VALUES (:{', :'.join(_COLUMNS)})"  # noqa: S608 - of constants
"""Stores a new voice, from a row of `row_of`."""
UPDATE = f"UPDATE voices SET {', '.join(f'{column} = :{column}' for column in _EDITABLE)} WHERE id = :id"  # noqa: S608
"""Stores what an owner may change of a voice, from a row of `row_of`."""

_CURSOR = re.compile(r"(\d{1,12}\.\d{1,9})~(voice_[0-9a-f]{32})")
_POLL_SECONDS = 0.02


def connected(path: Path) -> sqlite3.Connection:
    """A connection whose commits are on the disk when they return, and which overwrites what it deletes."""
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    _switch_to_wal(db)
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA secure_delete = ON")
    return db


def prepare_schema(db: sqlite3.Connection) -> None:
    """Make what tables are missing; refuse a database that is damaged or not ours. Needs the write lock."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > _SCHEMA_VERSION:
        raise UnavailableError("The voice store was written by a later version of Polyvox; update this one.")
    check_integrity(db)
    if version == 0:
        if db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
            raise UnavailableError("The voice store's database is of another program; give data_dir another folder.")
        for statement in _SCHEMA:
            db.execute(statement)
    known = {row["name"] for row in db.execute("PRAGMA table_info(forgotten)")}
    for column in _FORGOTTEN_COLUMNS:
        if column not in known:
            db.execute(f"ALTER TABLE forgotten ADD COLUMN {column} TEXT")
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'store'").fetchone() is None:
        db.execute("CREATE TABLE store (id TEXT NOT NULL) STRICT")
        db.execute("INSERT INTO store (id) VALUES (?)", (secrets.token_hex(16),))


def check_integrity(db: sqlite3.Connection) -> None:
    """`sqlite3.DatabaseError` for a database whose pages do not fit together."""
    (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        error = sqlite3.DatabaseError(found)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def store_id(db: sqlite3.Connection) -> str:
    """The id of the store that this database belongs to."""
    found: str = db.execute("SELECT id FROM store").fetchone()[0]
    return found


def row_of(record: VoiceRecord) -> dict[str, Any]:
    """A record as values for SQLite."""
    row = {column.name: getattr(record, column.name) for column in fields(VoiceRecord)}
    return row | {
        "name_key": name_key(record.name),
        "tags": json.dumps(record.tags),
        "report": json.dumps(dict(record.report)),
        "embedding": None if record.embedding is None else record.embedding.astype("<f4").tobytes(),
    }


def record_of(row: sqlite3.Row) -> VoiceRecord:
    """The inverse of `row_of`."""
    values = {column.name: row[column.name] for column in fields(VoiceRecord)}
    embedding = values["embedding"]
    return VoiceRecord(
        **values
        | {
            "transcription": Transcription(values["transcription"]),
            "tags": tuple(json.loads(values["tags"])),
            "consent": bool(values["consent"]),
            "report": json.loads(values["report"]),
            "embedding": None if embedding is None else np.frombuffer(embedding, "<f4").astype(np.float32),
        }
    )


def conditions(query: VoiceQuery) -> tuple[str, list[Any]]:
    """A query as an SQL condition and its values."""
    found: list[tuple[str, list[Any]]] = []
    if query.owners is not None:
        found.append((f"owner IN ({', '.join('?' * len(query.owners))})", list(query.owners)))
    if query.text:
        found.append(("instr(name_key, ?) > 0", [name_key(query.text)]))
    if query.tag:
        found.append(("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", [query.tag.lower()]))
    if query.language:
        found.append(("(language = ? OR substr(language, 1, ?) = ?)", _language_or_region(query.language)))
    if query.consent is not None:
        found.append(("consent = ?", [query.consent]))
    if query.after:
        order = "<" if query.newest_first else ">"
        found.append((f"(created, id) {order} (?, ?)", list(cursor_position(query.after))))
    where = " AND ".join(condition for condition, _ in found) or "TRUE"
    return where, [value for _, values in found for value in values]


def cursor_after(record: VoiceRecord) -> str:
    """The page cursor behind this voice; it stays valid when the voice is deleted."""
    return f"{record.created:.6f}~{record.id}"


@contextmanager
def failures() -> Iterator[None]:
    """Turn disk and database errors into UnavailableError; the log has the cause."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if _is_busy(error):
            raise UnavailableError("The voice store is busy with other writers; try again in a moment.") from error
        # A full disk and a damaged file are known causes, to which a traceback would add nothing.
        if is_full(error) or is_damaged(error):
            log.error("voice store failed", reason=str(error))
        else:
            log.exception("voice store failed")
        raise UnavailableError(_reason(error)) from error


def is_damaged(error: BaseException | None) -> bool:
    """Return whether an error means that the file is no SQLite database, or one that is torn."""
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return isinstance(error, sqlite3.Error) and _code(error) & 0xFF in codes


def _reason(error: Exception) -> str:
    if is_damaged(error):
        return "The voice store's database is damaged; run on the server: polyvox voices repair"
    if is_full(error):
        return "The disk of the voice store is full; free space or delete voices, then try again."
    return "The voice store cannot be read or written; the server's log has the cause."


def _switch_to_wal(db: sqlite3.Connection) -> None:
    """WAL is a property of the file; SQLite does not wait its turn for the switch, so this does."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > until:
                raise
            time.sleep(_POLL_SECONDS)
            continue
        if mode != "wal":
            raise UnavailableError("The disk of the voice store cannot be shared safely; put data_dir on a local disk.")
        return


def _is_busy(error: Exception) -> bool:
    """Return whether another process was in the way; the code's upper bits only say how."""
    return isinstance(error, sqlite3.OperationalError) and _code(error) & 0xFF == sqlite3.SQLITE_BUSY


def _code(error: sqlite3.Error) -> int:
    """SQLite's extended code; 0 for errors of the Python module's own."""
    return getattr(error, "sqlite_errorcode", 0)


def _language_or_region(language: str) -> list[Any]:
    start = f"{language.lower()}-"
    return [language.lower(), len(start), start]


def cursor_position(cursor: str) -> tuple[float, str]:
    """The age and id in a page cursor."""
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise InvalidRequestError("'after' must be the 'next' of the page before.", field="after")
    return float(match[1]), match[2]
