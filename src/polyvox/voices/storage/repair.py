"""Repair of a voice store: records rebuilt from recordings, side-cars, and what a damaged database still tells."""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from polyvox.voices.names import new_voice_id
from polyvox.voices.records import Transcription, VoiceRecord
from polyvox.voices.storage.database import check_integrity, failures, is_damaged, record_of, store_id
from polyvox.voices.storage.folder_lock import FolderLock
from polyvox.voices.storage.recordings import RecordingFiles, read_wav
from polyvox.voices.storage.sidecars import record_in
from polyvox.voices.storage.store import AUDIO, DATABASE, LOCK, UNCLAIMED, FileVoiceStore

_NAME_CHARS = 12
_COMPANIONS = ("", "-wal", "-shm")


class RepairAction(StrEnum):
    """The fate of a recording that no voice names."""

    RESTORE = "restore"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class RepairRow:
    """One recording: what is done with it, as which voice, and why."""

    action: RepairAction
    audio_digest: str
    record: VoiceRecord | None
    note: str


@dataclass(frozen=True, slots=True)
class RepairReport:
    """Actions that a repair takes, or would take: with the database, in words, and with each recording."""

    database: str
    rows: tuple[RepairRow, ...]


@dataclass(frozen=True, slots=True)
class _Database:
    """The readable part of a database: the voices it has and had, and whether the recordings are its own."""

    state: str = "sound"
    ids: frozenset[str] = frozenset()
    digests: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    salvaged: tuple[VoiceRecord, ...] = field(default=())
    id: str = ""


def repair(folder: Path, unknown_owner: str | None, *, dry_run: bool) -> RepairReport:
    """Rebuild what records are missing in a store's folder; no voice is deleted, and a second run finds no work.

    A recording without a side-car becomes a voice of `unknown_owner`; with None it is left aside. A database that is
    missing or damaged is made anew, which needs the folder alone; otherwise servers may run meanwhile.
    """
    with failures():
        database = _read_database(folder / DATABASE)
        rows = tuple(_plan(folder, database, unknown_owner))
        if not dry_run:
            if database.state != "sound":
                _put_aside(folder)
            rows = tuple(_carry_out(folder, rows))
        return RepairReport(database.state, rows)


def _read_database(path: Path) -> _Database:
    if not path.exists() or path.stat().st_size == 0:
        return _Database("missing")
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        try:
            check_integrity(db)
            tables = {row["name"] for row in db.execute("SELECT name FROM sqlite_master")}
            voices = db.execute("SELECT id, audio_digest FROM voices").fetchall() if "voices" in tables else []
            forgotten = list(db.execute("SELECT * FROM forgotten")) if "forgotten" in tables else []
            return _Database(
                ids=frozenset(row["id"] for row in voices),
                digests=frozenset(row["audio_digest"] for row in voices),
                forgotten=frozenset(row["voice_id"] for row in forgotten if "voice_id" in row.keys()),  # noqa: SIM118
                id=store_id(db) if "store" in tables else "",
            )
        except sqlite3.DatabaseError as error:
            if not is_damaged(error):
                raise
            return _Database("damaged", salvaged=tuple(_salvaged(db)))


def _salvaged(db: sqlite3.Connection) -> Iterator[VoiceRecord]:
    """The records of a damaged database, up to the place where it cannot be read any more."""
    try:
        for row in db.execute("SELECT * FROM voices"):
            yield record_of(row)
    except (sqlite3.Error, ValueError, KeyError, IndexError):
        return


def _plan(folder: Path, database: _Database, unknown_owner: str | None) -> Iterator[RepairRow]:
    audio, unclaimed = RecordingFiles(folder / AUDIO), RecordingFiles(folder / UNCLAIMED)
    swept = database.id != "" and audio.store_id() == database.id
    known = _known_records((audio, unclaimed), database.salvaged)
    for digest in sorted({*audio.digests(), *unclaimed.digests()}):
        records = known.get(digest, {})
        wanted = [record for voice_id, record in records.items() if voice_id not in database.ids | database.forgotten]
        leftover = digest in database.digests or records or (swept and audio.has(digest))
        if not wanted and leftover:
            continue
        content = audio.content(digest) or unclaimed.content(digest)
        if content is None:
            yield RepairRow(RepairAction.LEAVE, digest, None, "The recording is damaged.")
        elif wanted:
            for record in wanted:
                yield RepairRow(RepairAction.RESTORE, digest, record, "")
        else:
            yield _nameless(digest, content, _written(digest, audio, unclaimed), unknown_owner)


def _known_records(
    folders: Iterable[RecordingFiles], salvaged: Iterable[VoiceRecord]
) -> dict[str, dict[str, VoiceRecord]]:
    """Known records of each recording's voices, by digest and id; a side-car goes before a damaged database."""
    found: dict[str, dict[str, VoiceRecord]] = {}
    for record in salvaged:
        found.setdefault(record.audio_digest, {})[record.id] = record
    for files in folders:
        for digest, voice_id in files.sidecars():
            described = record_in(files.read_sidecar(digest, voice_id), digest, voice_id)
            if described is not None:
                found.setdefault(digest, {})[voice_id] = described
    return found


def _nameless(digest: str, content: bytes, written: float, owner: str | None) -> RepairRow:
    """A recording of which nothing is known but its sound."""
    try:
        pcm, rate = read_wav(content)
    except ValueError:
        return RepairRow(RepairAction.LEAVE, digest, None, "The file is not a recording of this store.")
    record = VoiceRecord(
        id=new_voice_id(),
        name=f"recovered-{digest[:_NAME_CHARS]}",
        owner=owner or "",
        transcript="",
        transcription=Transcription.NONE,
        language="",
        tags=(),
        consent=False,
        consent_note="",
        duration=len(pcm) / rate,
        sample_rate=rate,
        report={},
        audio_digest=digest,
        created=round(written, 6),
    )
    if owner is None:
        return RepairRow(RepairAction.LEAVE, digest, record, "Its owner is not known; give --key KEY or --shared.")
    return RepairRow(RepairAction.RESTORE, digest, record, "Nothing is known but its sound.")


def _written(digest: str, audio: RecordingFiles, unclaimed: RecordingFiles) -> float:
    return (audio if audio.has(digest) else unclaimed).modified(digest)


def _put_aside(folder: Path) -> None:
    """Make way for a new database; what is left of the old one is kept under another name."""
    with closing(FolderLock(folder / LOCK, alone=True)):
        now = time.time_ns()
        for companion in _COMPANIONS:
            path = folder / f"{DATABASE}{companion}"
            if path.exists():
                path.rename(folder / f"damaged-{now}-{path.name}")


def _carry_out(folder: Path, rows: Iterable[RepairRow]) -> Iterator[RepairRow]:
    with closing(FileVoiceStore(folder)) as store:
        for row in rows:
            if row.action is not RepairAction.RESTORE or row.record is None:
                yield row
            elif (restored := store.restore(row.record)) is not None:
                note = row.note if restored.name == row.record.name else f"Its name {row.record.name!r} was taken."
                yield replace(row, record=restored, note=note)
        store.sweep()
        store.update_sidecars()
