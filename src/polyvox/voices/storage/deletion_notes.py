"""Notes of deleted recordings in the folder of voices, by which running servers learn of a deletion."""

from contextlib import closing
from pathlib import Path

from polyvox.errors import UnavailableError
from polyvox.voices.storage.database import connected, failures
from polyvox.voices.storage.folder_lock import FolderLock
from polyvox.voices.storage.recordings import RecordingFiles
from polyvox.voices.storage.store import DATABASE, LOCK, UNCLAIMED


def delete_notes(folder: Path, audio_digest: str) -> bool:
    """Delete the notes of a recording, which hold its hash, and a copy of it that no voice claims.

    False, and nothing is done, while a server or command works on the folder.
    """
    try:
        lock = FolderLock(folder / LOCK, alone=True)
    except UnavailableError:
        return False
    with failures(), closing(lock), closing(connected(folder / DATABASE)) as db:
        db.execute("DELETE FROM forgotten WHERE audio_digest = ?", (audio_digest,))
        RecordingFiles(folder / UNCLAIMED).remove(audio_digest)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True
