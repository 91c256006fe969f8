"""The contracts of the voice store: what services call, and what a store for several machines is made of.

`FileVoiceStore` keeps one folder, with files and SQLite under one lock. `SharedVoiceStore` keeps its records in a
`RecordDatabase` and its recordings in an `ObjectStore`, neither of which knows the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from polyvox.types import Pcm
from polyvox.voices.records import AddedVoice, Registration, RemovedVoice, VoicePage, VoiceQuery, VoiceRecord

Forgotten = tuple[int, list[tuple[str, str | None]]]
"""The place at which to go on, and recordings that owners no longer have: digest and owner, None for all owners."""


class VoiceReader(Protocol):
    """Look-ups of records. Methods block and may be called from any thread."""

    def get(self, voice_id: str) -> VoiceRecord | None:
        """The voice of this id."""

    def find(self, owner: str, name: str) -> VoiceRecord | None:
        """The owner's voice of this name, whatever its case."""

    def find_audio(self, owner: str, audio_digest: str) -> VoiceRecord | None:
        """A voice of this owner with this very recording."""

    def page(self, query: VoiceQuery) -> VoicePage:
        """The voices that a query asks for, by age."""

    def sounding(self, owner: str) -> list[VoiceRecord]:
        """The owner's voices that have a speaker embedding."""

    def pending(self) -> list[VoiceRecord]:
        """The voices whose transcripts were to come and have not."""

    def update(self, voice_id: str, changes: Mapping[str, Any]) -> VoiceRecord | None:
        """Change what an owner may change; None if the voice is gone."""

    def set_transcription(self, voice_id: str, transcript: str | None) -> None:
        """Store the recogniser's transcript, None where it failed; a transcript given meanwhile stays."""

    def forgotten(self, after: int) -> Forgotten:
        """The recordings that owners no longer have since `after`; start from 0."""

    def close(self) -> None:
        """Let go of files and connections."""


class VoiceStore(VoiceReader, Protocol):
    """Registered voices with their recordings."""

    def check(self) -> None:
        """UnavailableError if the store cannot be read and written."""

    def is_replaced(self) -> bool:
        """Return whether another database has taken the place of the one that was opened."""

    def warnings(self) -> tuple[str, ...]:
        """Problems that the server's operator should mend although the store works."""

    def unclaimed(self) -> int:
        """Number of recordings that no voice names and no crash left behind."""

    def add(self, new: Registration, *, replacing: bool = False, limit: int | None = None) -> AddedVoice:
        """Register a voice; when this returns, it survives a crash.

        ConflictError for a name that its owner has given already, unless `replacing`; ForbiddenError for an owner who
        has `limit` voices.
        """

    def adopt(self, record: VoiceRecord, audio: bytes) -> VoiceRecord | None:
        """Register a voice of another store under its own id; None if it is there or was deleted here.

        A name that its owner has given to another voice gets a number.
        """

    def remove(self, voice_id: str) -> RemovedVoice | None:
        """Delete a voice with its recording; None if it is gone already."""

    def touch(self, record: VoiceRecord) -> None:
        """Note that a voice is used, to the minute; a failure does not keep it from speaking."""

    def recording(self, record: VoiceRecord) -> tuple[Pcm, int]:
        """A voice's samples and their rate, checked against the hash."""

    def audio_file(self, record: VoiceRecord) -> bytes:
        """A voice's recording as the WAV file it is stored in."""

    def sweep(self, forget_before: float = 0.0) -> int:
        """Delete what a crash left behind, and notes of deletions before that time; returns how many recordings."""

    def upkeep(self) -> None:
        """Do what is due now and then while a server runs."""


@runtime_checkable
class SupportsSidecars(Protocol):
    """A store that keeps a copy of each record beside its recording."""

    def update_sidecars(self) -> None:
        """Write the side-cars that are missing or out of date; `close` stops it."""


@dataclass(frozen=True, slots=True)
class NewVoice:
    """A registration before it is accepted or refused: the name, its owner, and how many voices one may have."""

    owner: str
    name: str
    replacing: bool = False
    limit: int | None = None


class RecordDatabase(VoiceReader, Protocol):
    """Records of voices, and notes of the objects that must be deleted. Every method is one transaction."""

    def check(self) -> None:
        """UnavailableError if the database cannot be read and written."""

    def begin_upload(self, key: str, new: NewVoice) -> float:
        """Note that an object is about to be written; returns the time. Refuses what `insert` would refuse."""

    def insert(self, key: str, record: VoiceRecord, new: NewVoice) -> RemovedVoice | None:
        """Turn an upload into a voice; the voice it replaces becomes an object to delete, and is returned."""

    def adopt(self, key: str, record: VoiceRecord) -> VoiceRecord | None:
        """Turn an upload into a voice of a given id, under a name that is free; None if it is or was there."""

    def abandon_upload(self, key: str) -> None:
        """Leave the object of an upload to be deleted."""

    def object_key(self, voice_id: str) -> str | None:
        """The key of a voice's object."""

    def delete(self, voice_id: str) -> RemovedVoice | None:
        """Turn a voice into an object to delete; None if it is gone already."""

    def touch(self, voice_id: str, seconds: float) -> None:
        """Note that a voice is used, unless it was within these seconds."""

    def to_delete(self, limit: int) -> list[str]:
        """Keys of objects that have to be deleted: of removed voices, and of uploads that never became voices."""

    def deleted(self, keys: list[str]) -> None:
        """Note that these objects are deleted."""

    def known_audio(self, digests: list[str]) -> set[str]:
        """Those recordings that a voice has."""

    def prune(self, forget_before: float) -> None:
        """Drop notes of deletions before that time whose objects are deleted."""


class ObjectStore(Protocol):
    """Recordings by a key that is never used twice. What `put` returned from is durable and visible to every reader."""

    def check(self) -> None:
        """UnavailableError if objects cannot be reached."""

    def put(self, key: str, data: bytes) -> None:
        """Store an object whole, or not at all."""

    def get(self, key: str, max_bytes: int) -> bytes | None:
        """An object's content; None if there is none, or it is longer."""

    def delete(self, key: str) -> None:
        """Delete an object, if there is one."""

    def close(self) -> None:
        """Let go of connections."""
