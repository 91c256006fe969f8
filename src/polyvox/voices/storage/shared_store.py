"""The voice store of several machines: records in a database, recordings in an object store.

An upload is noted in the database before its object is written, and becomes a voice in one transaction when the object
is there. A voice that is removed becomes a note of the object to delete in one transaction. A crash at any point can
therefore leave an object too many, which is noted and deleted later, but never a voice without its recording. Keys of
objects are never used twice, so that a late deletion cannot hit a newer voice.

Nothing of a record is cached: every server sees a new, changed or removed voice with its next request.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any

import structlog

from polyvox.errors import ConflictError, ForbiddenError, UnavailableError
from polyvox.types import Pcm
from polyvox.voices.records import (
    AddedVoice,
    Registration,
    RemovedVoice,
    VoicePage,
    VoiceQuery,
    VoiceRecord,
    new_record,
)
from polyvox.voices.storage.contract import Forgotten, NewVoice, ObjectStore, RecordDatabase
from polyvox.voices.storage.recording_copies import RecordingCopies
from polyvox.voices.storage.recordings import digest_of, read_wav, wav_bytes

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

USED_SECONDS = 60.0
"""Resolution of the time of last use; a finer one would cost a write for every request."""
_SWEPT_AT_ONCE = 100
_HEADER_BYTES = 1_024


class SharedVoiceStore:
    """The voices of any number of servers; the contract is `VoiceStore`."""

    def __init__(self, database: RecordDatabase, objects: ObjectStore, copies: RecordingCopies) -> None:
        self._database = database
        self._objects = objects
        self._copies = copies

    def close(self) -> None:
        """Let go of the connections."""
        self._database.close()
        self._objects.close()

    def check(self) -> None:
        """UnavailableError if records or recordings cannot be reached."""
        self._database.check()
        self._objects.check()

    def is_replaced(self) -> bool:
        """Never: a connection leads to whatever database is there."""
        return False

    def warnings(self) -> tuple[str, ...]:
        """None: what is wrong with this store, `check` says."""
        return ()

    def unclaimed(self) -> int:
        """None: an object that no voice names is noted for deletion."""
        return 0

    def add(self, new: Registration, *, replacing: bool = False, limit: int | None = None) -> AddedVoice:
        """Register a voice; when this returns, every server has it."""
        data = wav_bytes(new.pcm, new.sample_rate)
        key, wanted = _new_key(), NewVoice(new.owner, new.name, replacing, limit)
        record = new_record(new, digest_of(data), self._database.begin_upload(key, wanted))
        self._objects.put(key, data)
        try:
            replaced = self._database.insert(key, record, wanted)
        except (ConflictError, ForbiddenError):
            self._give_up(key)
            raise
        # Of any other failure it is not known whether the transaction was kept: the note of the upload tells later.
        self._copies.put(record.audio_digest, data)
        if replaced is not None:
            self._after_removal(replaced)
        return AddedVoice(record, replaced)

    def adopt(self, record: VoiceRecord, audio: bytes) -> VoiceRecord | None:
        """Register a voice of another store under its own id; None if it is there or was deleted here."""
        key = _new_key()
        if self.get(record.id) is not None:
            return None
        self._database.begin_upload(key, NewVoice(record.owner, record.name, replacing=True))
        self._objects.put(key, audio)
        adopted = self._database.adopt(key, record)
        if adopted is None:
            self._give_up(key)
        return adopted

    def get(self, voice_id: str) -> VoiceRecord | None:
        """The voice of this id."""
        return self._database.get(voice_id)

    def find(self, owner: str, name: str) -> VoiceRecord | None:
        """The owner's voice of this name, whatever its case."""
        return self._database.find(owner, name)

    def find_audio(self, owner: str, audio_digest: str) -> VoiceRecord | None:
        """A voice of this owner with this very recording."""
        return self._database.find_audio(owner, audio_digest)

    def page(self, query: VoiceQuery) -> VoicePage:
        """The voices that a query asks for, by age."""
        return self._database.page(query)

    def sounding(self, owner: str) -> list[VoiceRecord]:
        """The owner's voices that have a speaker embedding."""
        return self._database.sounding(owner)

    def pending(self) -> list[VoiceRecord]:
        """The voices whose transcripts were to come and have not."""
        return self._database.pending()

    def update(self, voice_id: str, changes: Mapping[str, Any]) -> VoiceRecord | None:
        """Change what an owner may change; None if the voice is gone."""
        return self._database.update(voice_id, changes)

    def set_transcription(self, voice_id: str, transcript: str | None) -> None:
        """Store the recogniser's transcript, None where it failed; a transcript given meanwhile stays."""
        self._database.set_transcription(voice_id, transcript)

    def touch(self, record: VoiceRecord) -> None:
        """Note that a voice is used, to the minute, by the database's clock."""
        if time.time() - record.used < USED_SECONDS:
            return
        try:
            self._database.touch(record.id, USED_SECONDS)
        except UnavailableError as error:
            log.warning("use of a voice not noted", voice=record.id, reason=error.message)

    def remove(self, voice_id: str) -> RemovedVoice | None:
        """Delete a voice; its object follows at once, or by the next upkeep of any server."""
        removed = self._database.delete(voice_id)
        if removed is not None:
            self._after_removal(removed)
        return removed

    def recording(self, record: VoiceRecord) -> tuple[Pcm, int]:
        """A voice's samples and their rate, checked against the hash."""
        return read_wav(self.audio_file(record))

    def audio_file(self, record: VoiceRecord) -> bytes:
        """A voice's recording as the WAV file it is stored in: the local copy, or a new one."""
        data = self._copies.get(record.audio_digest)
        if data is not None:
            return data
        key = self._database.object_key(record.id)
        data = None if key is None else self._objects.get(key, _size_of(record))
        if data is None or digest_of(data) != record.audio_digest:
            raise UnavailableError("The voice's recording is missing or damaged; register the voice again.")
        self._copies.put(record.audio_digest, data)
        return data

    def forgotten(self, after: int) -> Forgotten:
        """The recordings that owners no longer have since `after`; their local copies are deleted."""
        found = self._database.forgotten(after)
        for digest, _ in found[1]:
            self._copies.drop(digest)
        return found

    def sweep(self, forget_before: float = 0.0) -> int:
        """Delete objects and copies that no voice has, and notes of deletions before that time."""
        self._copies.remove_incoming()
        copied = self._copies.digests()
        for digest in set(copied) - self._database.known_audio(copied):
            self._copies.drop(digest)
        deleted = 0
        while some := self._delete_objects():
            deleted += some
        self._database.prune(forget_before)
        return deleted

    def upkeep(self) -> None:
        """Delete the objects of voices that were removed and of registrations that a crash or a failure ended."""
        self._delete_objects()

    def _delete_objects(self) -> int:
        """Delete as many objects as one caller may wait for; returns how many."""
        keys = self._database.to_delete(_SWEPT_AT_ONCE)
        for key in keys:
            self._objects.delete(key)
        if keys:
            self._database.deleted(keys)
        return len(keys)

    def _after_removal(self, removed: RemovedVoice) -> None:
        """Delete what a removed voice leaves; it is removed even if this fails."""
        if not removed.shared:
            self._copies.drop(removed.record.audio_digest)
        try:
            self._delete_objects()
        except UnavailableError as error:
            log.warning("recording of a removed voice not deleted yet", reason=error.message)

    def _give_up(self, key: str) -> None:
        try:
            self._database.abandon_upload(key)
            self._delete_objects()
        except UnavailableError as error:
            log.warning("recording of a refused registration not deleted yet", reason=error.message)


def _new_key() -> str:
    return secrets.token_hex(16)


def _size_of(record: VoiceRecord) -> int:
    """The most bytes that a recording may have: its samples and a header."""
    return 4 * round(record.duration * record.sample_rate) + _HEADER_BYTES
