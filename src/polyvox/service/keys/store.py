"""The file of keys and of what they have used: SQLite, shared by servers and the command line."""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from polyvox.errors import ConflictError, NotFoundError, UnavailableError
from polyvox.service.keys.record import KeyRecord, Limits, Scope, check_name, digest_of, new_key, owner_of, scopes_of
from polyvox.service.keys.usage import Usage

_BUSY_SECONDS = 5.0
_VERSION = 1
_LIMITS = tuple(Limits.__dataclass_fields__)
_MARK_SUFFIX = ".required"
_MARK_TEXT = """Keys were made here, so servers ask for one, also where the file of keys is lost.
To let everybody in again, stop the servers and delete the file of keys and this one.
"""
_SCHEMA = (
    """CREATE TABLE keys (
        name TEXT PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        owner TEXT NOT NULL UNIQUE,
        scopes TEXT NOT NULL,
        requests_a_minute INTEGER NOT NULL,
        streams INTEGER NOT NULL,
        characters_a_day INTEGER NOT NULL,
        audio_seconds_a_day INTEGER NOT NULL,
        created REAL NOT NULL,
        revoked REAL
    ) STRICT""",
    """CREATE TABLE usage (
        name TEXT NOT NULL,
        day TEXT NOT NULL,
        requests INTEGER NOT NULL,
        characters INTEGER NOT NULL,
        audio_seconds REAL NOT NULL,
        refused INTEGER NOT NULL,
        PRIMARY KEY (name, day)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX usage_by_day ON usage (day)",
    "CREATE TABLE revision (number INTEGER NOT NULL) STRICT",
    "INSERT INTO revision VALUES (random())",
    f"PRAGMA user_version = {_VERSION}",
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made; its secret is told once."""

    secret: str
    record: KeyRecord


class KeyStore:
    """Keys by their digests, and usage by name and day. Methods block for as long as the disk takes.

    Each opens the file anew: it may be made, replaced or mended while the server runs. Nothing but `make` and `create`
    makes it. A mark beside it remembers that there were keys, so that a lost file opens no server.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        return self._path

    @property
    def exists(self) -> bool:
        return self._is_there(self._path)

    @property
    def required(self) -> bool:
        """True if keys are asked for: there are some, or there were, whatever became of the file."""
        return self.revision() is not None or self._is_there(self._mark)

    def require(self) -> None:
        """Ask for keys from now on: a mark beside the file remembers it."""
        try:
            if not self._is_there(self._mark):
                self._mark.write_text(_MARK_TEXT)
        except OSError as error:
            raise self._unusable(error) from error

    def make(self) -> None:
        """Make the file, without keys, where there is none."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise self._unusable(error) from error
        with self._writing() as database:
            if not database.execute("PRAGMA user_version").fetchone()[0]:
                for statement in _SCHEMA:
                    database.execute(statement)

    def create(self, name: str, scopes: Iterable[str], limits: Limits) -> NewKey:
        """Make a key; ConflictError where the name is taken, also by a revoked key, whose usage it would continue."""
        secret = new_key()
        record = KeyRecord(check_name(name), owner_of(secret), scopes_of(scopes), limits, time.time())
        row = [record.name, digest_of(secret.encode()), record.owner, _scope_text(record), *_limit_values(limits)]
        self.make()
        self.require()
        with self._writing() as database:
            if database.execute("SELECT 1 FROM keys WHERE name = ?", (name,)).fetchone():
                raise ConflictError(f"There is a key {name!r} already, perhaps a revoked one; choose another name.")
            database.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", (*row, record.created))
            _bump(database)
        return NewKey(secret, record)

    def change(
        self, name: str, scopes: Iterable[str] | None = None, limits: Mapping[str, int] | None = None
    ) -> KeyRecord:
        """Replace a key's scopes, or some of its limits."""
        with self._writing() as database:
            before = _record(_found(database, name))
            given = Limits(**(asdict(before.limits) | dict(limits or {})))
            after = KeyRecord(
                name, before.owner, before.scopes if scopes is None else scopes_of(scopes), given, before.created
            )
            database.execute(
                "UPDATE keys SET scopes = ?, requests_a_minute = ?, streams = ?, characters_a_day = ?,"
                " audio_seconds_a_day = ? WHERE name = ?",
                (_scope_text(after), *_limit_values(given), name),
            )
            _bump(database)
        return after

    def revoke(self, name: str) -> None:
        """End a key for good. Its row stays: its usage can be read, and a server without other keys stays shut."""
        with self._writing() as database:
            _found(database, name)
            database.execute("UPDATE keys SET revoked = ? WHERE name = ?", (time.time(), name))
            _bump(database)

    def revision(self) -> int | None:
        """A number that changes with the keys; None where there are none, in a file or for want of one."""
        with self._reading() as database:
            if database is None or not database.execute("SELECT EXISTS (SELECT 1 FROM keys)").fetchone()[0]:
                return None
            return int(database.execute("SELECT number FROM revision").fetchone()[0])

    def records(self) -> dict[bytes, KeyRecord]:
        """All keys by their digests, revoked ones too."""
        with self._reading() as database:
            rows = [] if database is None else database.execute("SELECT * FROM keys ORDER BY name").fetchall()
            return {bytes(row["digest"]): _record(row) for row in rows}

    def add_usage(self, usage: Mapping[tuple[str, str], Usage]) -> None:
        """Add to what was used, by name and day; several servers may do so."""
        rows = [(name, day, *each.values) for (name, day), each in usage.items()]
        with self._writing() as database:
            database.executemany(
                "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name, day) DO UPDATE SET"
                " requests = requests + excluded.requests, characters = characters + excluded.characters,"
                " audio_seconds = audio_seconds + excluded.audio_seconds, refused = refused + excluded.refused",
                rows,
            )

    def usage(self, since: str, name: str | None = None) -> dict[tuple[str, str], Usage]:
        """Usage from a day on, of all or of one, by name and day."""
        query, values = "SELECT * FROM usage WHERE day >= ?", [since]
        if name is not None:
            query, values = f"{query} AND name = ?", [since, name]
        with self._reading() as database:
            rows = [] if database is None else database.execute(f"{query} ORDER BY name, day", values).fetchall()
        return {
            (row["name"], row["day"]): Usage(row["requests"], row["characters"], row["audio_seconds"], row["refused"])
            for row in rows
        }

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        if not self.exists:
            yield None
            return
        with self._connected() as database:
            yield database

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        if not self.exists:
            raise NotFoundError(f"There is no file of keys at {self._path}; 'polyvox keys create' makes one.")
        with self._connected() as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection, closed and rolled back on the way out; UnavailableError where the file cannot be used."""
        try:
            uri = f"{self._path.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(uri, timeout=_BUSY_SECONDS, uri=True, isolation_level=None)
            with closing(connection) as database:
                database.row_factory = sqlite3.Row
                version = database.execute("PRAGMA user_version").fetchone()[0]
                if version > _VERSION:
                    raise UnavailableError(f"{self._path} was written by a newer version of Polyvox; update this one.")
                yield database
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:  # a file from elsewhere may hold any values
            raise self._unusable(error) from error

    @property
    def _mark(self) -> Path:
        return self._path.with_name(self._path.name + _MARK_SUFFIX)

    def _is_there(self, path: Path) -> bool:
        """Return whether there is such a file; UnavailableError where that cannot be known: it need not be gone."""
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise self._unusable(error) from error
        return True

    def _unusable(self, error: Exception) -> UnavailableError:
        return UnavailableError(f"The keys in {self._path} cannot be used: {error}.")


def _found(database: sqlite3.Connection, name: str) -> sqlite3.Row:
    row: sqlite3.Row | None = database.execute("SELECT * FROM keys WHERE name = ?", (name,)).fetchone()
    if row is None or row["revoked"] is not None:
        raise NotFoundError(f"There is no key {name!r}; 'polyvox keys list' shows those that there are.")
    return row


def _record(row: sqlite3.Row) -> KeyRecord:
    limits = Limits(**{column: row[column] for column in _LIMITS})
    scopes = frozenset(Scope(scope) for scope in row["scopes"].split())
    return KeyRecord(row["name"], row["owner"], scopes, limits, row["created"], row["revoked"])


def _scope_text(record: KeyRecord) -> str:
    return " ".join(sorted(record.scopes))


def _limit_values(limits: Limits) -> tuple[int, ...]:
    return tuple(getattr(limits, column) for column in _LIMITS)


def _bump(database: sqlite3.Connection) -> None:
    """Give the keys another revision: a random one, which no file that takes this one's place will bear."""
    database.execute("UPDATE revision SET number = random()")
