"""Jobs on disk: a database of their records, and a folder for each that holds its speech and its files.

Several processes may work on one store. A record changes in transactions that are on the disk when they return; a lock
on a job's folder, which the system releases when its process ends, says who speaks the job.
"""

import json
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import structlog

from polyvox.books.narration.passage_check import CheckCounts
from polyvox.errors import DiskFullError, JobLimitError, RefusalReason, UnavailableError
from polyvox.service.jobs.record import ACTIVE, JobError, JobFile, JobOutput, JobProgress, JobRecord, JobStatus, JobWait
from polyvox.voices.storage.database import connected
from polyvox.voices.storage.folder_lock import FolderLock
from polyvox.voices.storage.reserve import is_full

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

DATABASE = "jobs.sqlite"
_VERSION = 1
_SCHEMA = (
    """CREATE TABLE jobs (
        serial INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        status TEXT NOT NULL,
        expires REAL,
        untold INTEGER NOT NULL,
        record TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX jobs_by_owner ON jobs (owner, serial)",
    "CREATE INDEX jobs_by_status ON jobs (status, serial)",
    f"PRAGMA user_version = {_VERSION}",
)
_ID = re.compile(r"job_[0-9a-f]{32}")
_LOCK = "lock"
_RETRY_SECONDS = 60.0
_HIDDEN = tuple(str(status) for status in JobStatus if status.hidden)

Edit = Callable[[JobRecord], JobRecord]


class JobStore:
    """The jobs in one folder. Calls block; they may come from any thread."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        with _failures():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._db = connected(folder / DATABASE)
            except UnavailableError as error:
                raise UnavailableError(
                    "The disk of the jobs cannot be shared safely; put jobs_folder on a local disk."
                ) from error
            with self._writing():
                self._prepare()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @property
    def free_bytes(self) -> int:
        """Bytes that the disk of the jobs has left."""
        return shutil.disk_usage(self._folder).free

    def folder(self, job_id: str) -> Path:
        """The folder of a job's speech and files; UnavailableError for an id that leads elsewhere."""
        if not _ID.fullmatch(job_id):
            raise UnavailableError("The database of jobs was changed from elsewhere; restore it, or delete it.")
        return self._folder / job_id

    def lock(self, job_id: str) -> FolderLock | None:
        """The right to work on a job's folder; None where somebody has it, or where there is no such folder."""
        path = self.folder(job_id) / _LOCK
        try:
            return FolderLock(path, alone=True)
        except (UnavailableError, FileNotFoundError):
            return None

    def add(self, record: JobRecord, limit: int) -> FolderLock:
        """Store a new job and make its folder, locked; JobLimitError where its owner has as many as one may."""
        with _failures(), self._writing() as db:
            (count,) = db.execute(
                "SELECT count(*) FROM jobs WHERE owner = ? AND status != ?", (record.owner, JobStatus.DELETED)
            ).fetchone()
            if count >= limit:
                raise JobLimitError(
                    f"You keep {limit} jobs, the most that this server allows; delete some.",
                    retry_after=_RETRY_SECONDS,
                    reason=RefusalReason.SHARE,
                )
            db.execute(
                "INSERT INTO jobs (id, owner, status, expires, untold, record) VALUES (?, ?, ?, ?, ?, ?)",
                (record.id, record.owner, *_row(record)),
            )
            # Locked before anybody can see the row, so that nobody takes it for what a killed process left.
            self.folder(record.id).mkdir(mode=0o700)
            return FolderLock(self.folder(record.id) / _LOCK, alone=True)

    def find(self, job_id: str) -> JobRecord | None:
        """A job, hidden ones included."""
        with _failures(), self._lock:
            row = self._db.execute("SELECT record FROM jobs WHERE id = ?", (job_id,)).fetchone()
        return None if row is None else _record_of(row["record"])

    def owned(self, owner: str) -> list[JobRecord]:
        """The jobs of an owner, the newest first."""
        return self._select(f"owner = ? AND status NOT IN ({_marks(_HIDDEN)}) ORDER BY serial DESC", owner, *_HIDDEN)

    def among(self, statuses: Collection[JobStatus]) -> list[JobRecord]:
        """The jobs with these statuses, the oldest first."""
        return self._select(f"status IN ({_marks(statuses)}) ORDER BY serial", *statuses)

    def untold(self) -> list[JobRecord]:
        """The jobs of whose end a webhook has still to be told, the oldest first."""
        return self._select("untold = 1 ORDER BY serial")

    def expired(self) -> list[JobRecord]:
        """The jobs whose time is over."""
        return self._select("expires < ? ORDER BY serial", self._clock())

    def counts(self) -> dict[str, int]:
        """Number of jobs by status, of those that are shown."""
        with _failures(), self._lock:
            found = dict(self._db.execute("SELECT status, count(*) FROM jobs GROUP BY status").fetchall())
        return {str(status): found.get(status, 0) for status in JobStatus if not status.hidden}

    def change(self, job_id: str, among: Collection[JobStatus], edit: Edit) -> JobRecord | None:
        """Edit a job if it is in one of these statuses; the changed record, or None."""
        with _failures(), self._writing() as db:
            row = db.execute("SELECT record FROM jobs WHERE id = ?", (job_id,)).fetchone()
            record = None if row is None else _record_of(row["record"])
            if record is None or record.status not in among:
                return None
            changed = self._dated(record, edit(record))
            values = (*_row(changed), job_id)
            db.execute("UPDATE jobs SET status = ?, expires = ?, untold = ?, record = ? WHERE id = ?", values)
            return changed

    def remove(self, job_id: str) -> bool:
        """Delete what is left of a job that is shown to nobody; False while somebody works on it."""
        lock = self.lock(job_id)
        if lock is None and self.folder(job_id).exists():
            return False
        try:
            # Asked with the lock in hand: one that was being made a moment ago may be queued by now, and its lock free.
            if (record := self.find(job_id)) is not None and not record.status.hidden:
                return False
            with _failures():
                shutil.rmtree(self.folder(job_id), ignore_errors=True)
                if self.folder(job_id).exists():
                    log.warning("folder of a job cannot be deleted", job=job_id)
                    return False
                with self._writing() as db:
                    db.execute("DELETE FROM jobs WHERE id = ?", (job_id,))
        finally:
            if lock is not None:
                lock.close()
        return True

    def _dated(self, before: JobRecord, after: JobRecord) -> JobRecord:
        now = self._clock()
        if after.status in ACTIVE or after.status.hidden:
            return replace(after, updated=now, expires=None)
        if after.status != before.status:
            return replace(after, updated=now, expires=now + after.keep_seconds)
        return replace(after, updated=now)

    def _select(self, condition: str, *values: object) -> list[JobRecord]:
        with _failures(), self._lock:
            rows = self._db.execute(f"SELECT record FROM jobs WHERE {condition}", values).fetchall()  # noqa: S608 - ours
        return [_record_of(row["record"]) for row in rows]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _prepare(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise UnavailableError("The jobs were written by a later version of Polyvox; update this one.")
        if version == 0:
            for statement in _SCHEMA:
                self._db.execute(statement)
        known = {row["id"] for row in self._db.execute("SELECT id FROM jobs")}
        strays = [path for path in self._folder.glob("job_*/") if path.name not in known]
        held = [path.name for path in strays if any(file.name != _LOCK for file in path.iterdir())]
        for path in strays:
            if path.name not in held:  # its process was killed before the row was there
                shutil.rmtree(path, ignore_errors=True)
        if held:
            log.error("the database of jobs does not know these folders; put it back or delete them", jobs=held)


@contextmanager
def _failures() -> Iterator[None]:
    """Turn disk and database errors into typed ones; the log has the cause."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if is_full(error):
            log.error("the disk of the jobs is full", reason=str(error))
            raise DiskFullError("The disk of the jobs is full; delete jobs or free space, then try again.") from error
        log.exception("the store of jobs failed")
        raise UnavailableError("The jobs cannot be read or written; the server's log has the cause.") from error


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


def _row(record: JobRecord) -> tuple[Any, ...]:
    return str(record.status), record.expires, int(record.untold), json.dumps(asdict(record), ensure_ascii=False)


def _record_of(text: str) -> JobRecord:
    values = json.loads(text)
    output = values["output"]
    return JobRecord(
        **values
        | {
            "status": JobStatus(values["status"]),
            "output": JobOutput(tuple(output["books"]), output["chapters"], tuple(output["captions"])),
            "progress": _progress_of(values["progress"]),
            "error": None if values["error"] is None else JobError(**values["error"]),
            "files": tuple(JobFile(**file) for file in values["files"]),
            "voices": tuple(values.get("voices", ())),
            "wait": None if values.get("wait") is None else JobWait(**values["wait"]),
        }
    )


def _progress_of(values: dict[str, Any]) -> JobProgress:
    checks = CheckCounts(**values.get("checks", {}))
    return JobProgress(**values | {"checks": checks})
