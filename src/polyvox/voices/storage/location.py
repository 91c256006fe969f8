"""Places where registered voices are kept: in a folder of this machine, or in a database and a bucket."""

import time
from pathlib import Path
from typing import Protocol

from polyvox.config import Settings
from polyvox.errors import InvalidRequestError
from polyvox.extras import CLUSTER
from polyvox.voices.storage.contract import VoiceStore
from polyvox.voices.storage.store import DATABASE, FileVoiceStore


class StoreLocation(Protocol):
    """A place that may hold a voice store. Methods block."""

    def exists(self) -> bool:
        """Return whether anything was ever registered there."""

    def open(self) -> VoiceStore:
        """The store, created if there is none."""

    def signature(self) -> object:
        """A value that changes when a store that could not be opened is worth another try."""


class FolderLocation:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Return whether the folder was made."""
        return self.folder.exists()

    def open(self) -> VoiceStore:
        """The folder's store."""
        return FileVoiceStore(self.folder)

    def signature(self) -> object:
        """A value that changes when somebody mends a store."""
        found: list[object] = []
        for path in (self.folder, self.folder / DATABASE):
            try:
                state = path.stat()
            except OSError as error:
                found.append(error.errno)
            else:
                found.append((state.st_ino, state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns))
        return tuple(found)


class SharedLocation:
    """A database and a bucket; the driver of each is imported only here."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        CLUSTER.check()
        self.open().close()  # so that a wrong address ends the start, not the first request

    def exists(self) -> bool:
        """Always: another server may have registered voices."""
        return True

    def open(self) -> VoiceStore:
        """The store; it connects when it is first used."""
        from polyvox.voices.storage.postgres_records import PostgresRecords
        from polyvox.voices.storage.recording_copies import RecordingCopies
        from polyvox.voices.storage.s3 import S3Address, S3Objects
        from polyvox.voices.storage.shared_store import SharedVoiceStore

        settings = self._settings
        assert settings.voice_database is not None
        secrets = (settings.voice_objects_access_key, settings.voice_objects_secret_key)
        access_key, secret_key = ("" if secret is None else secret.get_secret_value() for secret in secrets)
        address = S3Address(
            settings.voice_objects or "",
            settings.voice_objects_endpoint or "",
            settings.voice_objects_region or "",
            access_key,
            secret_key,
        )
        objects = S3Objects(address, settings.voice_store_timeout_seconds)
        database = PostgresRecords(settings.voice_database.get_secret_value(), settings.voice_store_timeout_seconds)
        copies = RecordingCopies(settings.data_dir / "recordings", settings.voice_copies_bytes)
        return SharedVoiceStore(database, objects, copies)

    def signature(self) -> object:
        """The time: a try costs one connection."""
        return time.monotonic()


def folder_of(settings: Settings) -> FolderLocation:
    """The folder of this machine, whether it is in use or not."""
    return FolderLocation(settings.data_dir / "voices")


def location_of(settings: Settings) -> StoreLocation:
    """The place where the settings say that voices are kept."""
    if settings.voice_database is None and settings.voice_objects is None:
        return folder_of(settings)
    if settings.voice_database is None or settings.voice_objects is None:
        missing = "voice_database" if settings.voice_database is None else "voice_objects"
        raise InvalidRequestError(
            f"Set {missing} too, or neither of voice_database and voice_objects: records that every server sees are of "
            "no use with recordings that only one has, nor the other way round.",
            field=missing,
        )
    return SharedLocation(settings)
