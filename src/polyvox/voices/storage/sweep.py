"""The sweep of files that no voice names: delete what a crash left behind, put everything else aside.

A recording without a side-car was never acknowledged, and one that was deleted has a note in the database. Any other
file was a voice once, and a database that does not know it is a new one, an older one or another store's.
"""

import sqlite3
from dataclasses import dataclass

from polyvox.voices.storage.recordings import RecordingFiles


@dataclass(frozen=True, slots=True)
class Strays:
    """Files that no voice names: recordings by digest, side-cars by digest and voice id."""

    digests: tuple[str, ...]
    sidecars: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Swept:
    """Counts of recordings that were deleted, and that were put aside."""

    deleted: int
    aside: int


def find_strays(db: sqlite3.Connection, audio: RecordingFiles) -> Strays:
    """Files that no voice names at this moment; without the write lock, some of it may be on its way in."""
    rows = db.execute("SELECT id, audio_digest FROM voices").fetchall()
    digests, ids = {row["audio_digest"] for row in rows}, {row["id"] for row in rows}
    return Strays(
        tuple(digest for digest in audio.digests() if digest not in digests),
        tuple(found for found in audio.sidecars() if found[1] not in ids),
    )


def sweep_strays(
    db: sqlite3.Connection, strays: Strays, audio: RecordingFiles, unclaimed: RecordingFiles, *, claimed: bool
) -> Swept:
    """Delete or put aside what still is a stray. Needs the write lock.

    In a folder that this database has not `claimed`, nothing is deleted.
    """
    held: set[str] = set()
    for digest, voice_id in strays.sidecars:
        if _is_known(db, voice_id) or not audio.read_sidecar(digest, voice_id):
            continue
        if claimed and was_forgotten(db, digest, voice_id):
            audio.remove_voice(digest, voice_id, keep_audio=True)
        else:
            audio.move_sidecar(digest, voice_id, unclaimed)
            held.add(digest)
    deleted = aside = 0
    for digest in strays.digests:
        if is_in_use(db, digest) or not audio.has(digest):
            continue
        if claimed and digest not in held:
            deleted += audio.remove(digest)
        else:
            audio.move(digest, unclaimed)
            aside += 1
    return Swept(deleted, aside)


def reclaim(db: sqlite3.Connection, audio: RecordingFiles, unclaimed: RecordingFiles) -> None:
    """Bring back what was put aside and is named by a voice, as after the right database was restored."""
    for digest, voice_id in list(unclaimed.sidecars()):
        if _is_known(db, voice_id):
            unclaimed.move_sidecar(digest, voice_id, audio)
    for digest in list(unclaimed.digests()):
        if is_in_use(db, digest) and not audio.has(digest):
            unclaimed.move(digest, audio)


def is_in_use(db: sqlite3.Connection, digest: str) -> bool:
    """Return whether a voice of any owner has this recording."""
    return db.execute("SELECT 1 FROM voices WHERE audio_digest = ? LIMIT 1", (digest,)).fetchone() is not None


def was_forgotten(db: sqlite3.Connection, digest: str, voice_id: str) -> bool:
    """Return whether a note says that this voice was deleted; notes of earlier releases name the recording alone."""
    select = "SELECT 1 FROM forgotten WHERE audio_digest = ? AND (voice_id = ? OR voice_id IS NULL) LIMIT 1"
    return db.execute(select, (digest, voice_id)).fetchone() is not None


def _is_known(db: sqlite3.Connection, voice_id: str) -> bool:
    return db.execute("SELECT 1 FROM voices WHERE id = ?", (voice_id,)).fetchone() is not None
