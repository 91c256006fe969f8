"""The record of consents: who said of which recording that its speaker has agreed, and when."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from polyvox.private_files import make_private_folder
from polyvox.voices.storage.database import connected, failures

DATABASE = "consents.sqlite"
MAX_PROMPTS = 100_000
"""Entries of recordings that came with requests for speech; beyond them the oldest go."""

_SCHEMA = """CREATE TABLE IF NOT EXISTS consents (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    owner TEXT NOT NULL,
    client TEXT NOT NULL,
    recording TEXT NOT NULL,
    voice TEXT NOT NULL,
    stated INTEGER NOT NULL,
    note TEXT NOT NULL,
    UNIQUE (owner, client, recording, voice, stated, note)
) STRICT"""


@dataclass(frozen=True, slots=True)
class ConsentEntry:
    """A use of a recording: by which owner (a key's id, empty where there are no keys) and client, for which voice.

    `voice` is the id of a registered voice, empty for a recording that came with a request for speech. Of a registered
    voice it is also entered that nothing was `stated`. The same use is entered once, at its first time.
    """

    at: float
    owner: str
    client: str
    recording: str
    voice: str
    stated: bool
    note: str


class ConsentRecord:
    """The entries in one file, which is made with the first. Methods block and may be called from any thread."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time, max_prompts: int = MAX_PROMPTS) -> None:
        self._path = folder / DATABASE
        self._clock = clock
        self._max_prompts = max_prompts
        self._lock = threading.Lock()

    def add(self, owner: str, client: str, recording: str, voice: str = "", note: str | None = None) -> None:
        """Enter a use of a recording; `note` is the statement, None where there was none."""
        entry = ConsentEntry(self._clock(), owner, client, recording, voice, note is not None, note or "")
        columns = ", ".join(field.name for field in fields(ConsentEntry))
        insert = f"INSERT OR IGNORE INTO consents ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - of constants
        oldest = """DELETE FROM consents WHERE serial IN (
            SELECT serial FROM consents WHERE voice = '' ORDER BY serial DESC LIMIT -1 OFFSET ?)"""
        with self._opened() as db:
            db.execute(insert, astuple(entry))
            db.execute(oldest, (self._max_prompts,))

    def entries(self, recording: str | None = None) -> list[ConsentEntry]:
        """The entries of a recording, or all of them, the oldest first."""
        if not self._path.exists():
            return []
        columns = ", ".join(field.name for field in fields(ConsentEntry))
        select = f"SELECT {columns} FROM consents WHERE ? IS NULL OR recording = ? ORDER BY serial"  # noqa: S608
        with self._opened() as db:
            rows = db.execute(select, (recording, recording)).fetchall()
        return [ConsentEntry(**{**dict(row), "stated": bool(row["stated"])}) for row in rows]

    def forget(self, recording: str) -> int:
        """Delete the entries of a recording; how many those were."""
        if not self._path.exists():
            return 0
        with self._opened() as db:
            gone = db.execute("DELETE FROM consents WHERE recording = ?", (recording,)).rowcount
        with self._opened() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with failures(), self._lock:
            make_private_folder(self._path.parent)
            with closing(connected(self._path)) as db:
                db.execute(_SCHEMA)
                yield db
