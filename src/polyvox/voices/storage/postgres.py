"""Connections to PostgreSQL that never keep a caller waiting for longer than a timeout."""

import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import structlog
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row

from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.voices.storage.breaker import Breaker, UnreachableError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_IDLE_SECONDS = 1.0
"""A connection that rested for longer is tried before it is used: the server may have been restarted meanwhile."""
_MAX_IDLE = 8

_BEGIN_WRITE = """SELECT set_config('statement_timeout', %(milliseconds)s, true),
    set_config('idle_in_transaction_session_timeout', %(milliseconds)s, true),
    CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END"""

Db = Connection[DictRow]


class PostgresConnections:
    """The connections of one process; `prepare` is called with the first.

    As many are open as threads are at work. No session state and no prepared statements are used, so that a pooler such
    as PgBouncer may stand between.
    """

    def __init__(self, url: str, timeout: float, prepare: Callable[[Db], None]) -> None:
        self._parameters = _parameters(url, timeout)
        self._timeout = timeout
        self._prepare = prepare
        self._prepared = False
        self._breaker = Breaker()
        self._lock = threading.Lock()
        self._idle: list[tuple[Db, float]] = []
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Db]:
        """A connection on which every statement is a transaction of its own."""
        with self._breaker.call(), _failures():
            db = self._taken()
            kept = False
            try:
                with _deadline(db, self._timeout):
                    yield db
                kept = True
            finally:
                self._give_back(db, kept=kept)

    @contextmanager
    def writing(self) -> Iterator[Db]:
        """A transaction that is kept only if the block ends well; it is on the server's disk when this returns."""
        with self._breaker.call(), _failures():
            db = self._taken()
            try:
                with _deadline(db, self._timeout), db.transaction():
                    db.execute(_BEGIN_WRITE, {"milliseconds": str(math.ceil(1_000 * self._timeout))})
                    yield db
            finally:
                self._give_back(db, kept=not db.closed and db.info.transaction_status is TransactionStatus.IDLE)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for db, _ in idle:
            db.close()

    def _taken(self) -> Db:
        while True:
            with self._lock:
                found = self._idle.pop() if self._idle else None
            if found is None:
                return self._connected()
            db, since = found
            if time.monotonic() - since < _IDLE_SECONDS or self._is_alive(db):
                return db

    def _is_alive(self, db: Db) -> bool:
        """Return whether a connection still works; a server that does not answer is not asked again on another."""
        began = time.monotonic()
        try:
            with _deadline(db, self._timeout):
                db.execute("SELECT 1")
        except psycopg.Error:
            db.close()
            if time.monotonic() - began >= self._timeout:
                raise
            return False
        return True

    def _connected(self) -> Db:
        db: Db = psycopg.connect(**self._parameters, autocommit=True, row_factory=dict_row, prepare_threshold=None)
        if not self._prepared:
            try:
                with _deadline(db, max(self._timeout, 60.0)):
                    self._prepare(db)
            except BaseException:
                db.close()
                raise
            self._prepared = True
        return db

    def _give_back(self, db: Db, *, kept: bool) -> None:
        with self._lock:
            if kept and not self._closed and len(self._idle) < _MAX_IDLE:
                self._idle.append((db, time.monotonic()))
                return
        db.close()


def _parameters(url: str, timeout: float) -> dict[str, Any]:
    """The URL's parameters over defaults by which a dead network is noticed."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        # The driver's own words may quote the URL, and with it the password.
        raise InvalidRequestError(
            "The setting voice_database is no PostgreSQL URL; write postgresql://user:password@host:5432/database.",
            field="voice_database",
        ) from error
    return {
        "connect_timeout": max(2, math.ceil(timeout)),
        "application_name": "polyvox",
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": math.ceil(1_000 * timeout),
        **given,
    }


@contextmanager
def _deadline(db: Db, seconds: float) -> Iterator[None]:
    """Cut the connection if the block takes longer: a server that stands still would never answer."""
    timer = threading.Timer(seconds + 0.5, _cut, (db,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _cut(db: Db) -> None:
    # A connection that is closed already raises.
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(db.fileno())) as wire:
        wire.shutdown(socket.SHUT_RDWR)


@contextmanager
def _failures() -> Iterator[None]:
    """Turn the driver's errors into UnavailableError; the log has the cause."""
    try:
        yield
    except psycopg.Error as error:
        log.error("voice database failed", reason=str(error).strip(), kind=type(error).__name__)
        raise _unavailable(error) from error


def _unavailable(error: psycopg.Error) -> UnavailableError:
    """One that opens the breaker, unless the database has answered and may answer the next caller otherwise."""
    if isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.QueryCanceled):
        return UnavailableError("The voice database is busy; try again in a moment.", retry=True, retry_after=1.0)
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return UnavailableError(
            "The voice database takes no writes at the moment; try again later.", retry=True, retry_after=5.0
        )
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return UnavailableError(
            "The voice database refuses this server's user; its operator must grant rights on the polyvox tables."
        )
    return UnreachableError("The voice database cannot be reached; try again in a moment.")
