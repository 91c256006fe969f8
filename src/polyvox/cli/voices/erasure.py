"""`polyvox voices erase`: a person's voice and everything that was made of it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from polyvox.cli.voices.registered_voices import export, found, opened, removed
from polyvox.config import Settings
from polyvox.errors import ConflictError
from polyvox.provenance.notary import stored_manifests
from polyvox.service.cache.speech_cache import cache_folder, forget_speech
from polyvox.service.jobs.record import ACTIVE, JobRecord, JobStatus
from polyvox.service.jobs.store import DATABASE as JOBS_DATABASE
from polyvox.service.jobs.store import JobStore
from polyvox.service.voices.consent import consent_record
from polyvox.service.voices.voice_resolver import voice_tag
from polyvox.voices.names import name_key
from polyvox.voices.records import SHARED_OWNER, VoiceQuery, VoiceRecord
from polyvox.voices.storage.archive import MAX_VOICES
from polyvox.voices.storage.contract import VoiceStore
from polyvox.voices.storage.deletion_notes import delete_notes

_PARTS = re.compile(r"\s*(?:\([^()]*\))?\s*(?:[+,]|$)\s*")
"""The separator of the voices of a mix or a pair: a share, and a sign."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The counts of an erasure; `whole` says that not even a note of the deletion is left."""

    voices: tuple[str, ...]
    prepared: int
    speech: int
    jobs: tuple[str, ...]
    consents: int
    manifests: int
    whole: bool


def erase(settings: Settings, reference: str, archive: Path | None = None) -> Erased:
    """Delete a voice, all others of the same recording, and whatever was made of them; first exported, where asked.

    ConflictError, and nothing is deleted, while a job speaks in one of the voices.
    """
    with opened(settings) as store:
        digest = found(store, reference).audio_digest
        records = _same_recording(store, digest)
        jobs = _Jobs(settings)
        try:
            spoken = jobs.speaking(store, records)
            if archive is not None:
                export(store, [record.id for record in records], archive)
            prepared = sum(removed(store, settings, record.id)["prepared"] for record in records)
            jobs.delete(spoken)
        finally:
            jobs.close()
    speech = forget_speech(cache_folder(settings), voice_tag(digest))
    consents = consent_record(settings).forget(digest)
    manifests = stored_manifests(settings).forget([record.id for record in records])
    whole = settings.voice_database is None and delete_notes(settings.data_dir / "voices", digest)
    names = tuple(record.name for record in records)
    return Erased(names, prepared, speech, tuple(job.id for job in spoken), consents, manifests, whole)


def _same_recording(store: VoiceStore, digest: str) -> list[VoiceRecord]:
    """Every owner's voices of a recording: registered, and fitted to it."""
    query, every = VoiceQuery(newest_first=False, limit=MAX_VOICES), []
    while True:
        page = store.page(query)
        every += [record for record in page.voices if record.audio_digest == digest]
        if not page.next:
            return every
        query = replace(query, after=page.next)


class _Jobs:
    """The jobs of this machine, if there are any."""

    def __init__(self, settings: Settings) -> None:
        folder = settings.data_dir / "jobs" if settings.jobs_folder is None else settings.jobs_folder
        self._store = JobStore(folder) if (folder / JOBS_DATABASE).exists() else None

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def speaking(self, store: VoiceStore, records: list[VoiceRecord]) -> list[JobRecord]:
        """The jobs that were spoken in one of the voices; ConflictError for one that still is."""
        if self._store is None:
            return []
        shown = [status for status in JobStatus if not status.hidden]
        spoken = [job for job in self._store.among(shown) if any(_names(job, store, record) for record in records)]
        if active := [job.id for job in spoken if job.status in ACTIVE]:
            raise ConflictError(f"Jobs speak in this voice: {', '.join(active)}; cancel them, then erase it.")
        return spoken

    def delete(self, jobs: list[JobRecord]) -> None:
        for job in jobs:
            assert self._store is not None
            self._store.change(job.id, (job.status,), lambda record: replace(record, status=JobStatus.DELETED))
            self._store.remove(job.id)


def _names(job: JobRecord, store: VoiceStore, record: VoiceRecord) -> bool:
    """Return whether a job names a voice: by its id, or by its name where that means this voice to the job's owner."""
    parts = {part for voice in job.voices for part in _PARTS.split(voice)}
    if record.id in parts:
        return True
    if name_key(record.name) not in {name_key(part) for part in parts if part}:
        return False
    own = store.find(job.owner, record.name)
    return job.owner == record.owner or (record.owner == SHARED_OWNER and (own is None or own.id == record.id))
