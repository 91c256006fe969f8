"""Registered voices for the commands: all owners, directly in the folder, also while servers run."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from polyvox.api.middleware.auth import owner_of
from polyvox.api.requests.languages import language_of_pack
from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.errors import ConflictError, InvalidRequestError, NotFoundError
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.local_service import build_service
from polyvox.service.voices.kept_voices import KeptVoices
from polyvox.service.voices.transcriber import Transcriber
from polyvox.service.voices.voices import Registered, Transcribe, VoiceService
from polyvox.types import Pcm
from polyvox.voices.cache import PreparedVoiceFiles
from polyvox.voices.fitted import shown_report
from polyvox.voices.limits import PromptLimits
from polyvox.voices.names import is_voice_id, name_key
from polyvox.voices.recognition.similarity import BUNDLE, SpeakerEncoder
from polyvox.voices.recording.decoder import decode_bounded
from polyvox.voices.records import SHARED_OWNER, Embedding, VoiceDetails, VoiceQuery, VoiceRecord
from polyvox.voices.references import InlineVoice
from polyvox.voices.storage.archive import MAX_VOICES, read_archive, write_archive
from polyvox.voices.storage.contract import VoiceStore
from polyvox.voices.storage.location import StoreLocation, folder_of, location_of
from polyvox.voices.storage.repair import RepairAction, RepairRow, repair
from polyvox.voices.style_packs import MAX_PACK_BYTES, PACKS, PackFiles
from polyvox.voices.styles import pack_reference


@contextmanager
def opened(settings: Settings, *, make: bool = False) -> Iterator[VoiceStore]:
    """Open the store; where there is none it is created with `make`, else NotFoundError."""
    location = location_of(settings)
    if not make and not location.exists():
        raise NotFoundError(
            f"No voice is registered in {settings.data_dir}; add one with: polyvox voices add NAME FILE"
        )
    with closing(location.open()) as store:
        yield store


def listed(settings: Settings, query: VoiceQuery) -> tuple[list[VoiceRecord], int]:
    """The voices of a query, none where nothing was ever registered; and how many recordings no voice names."""
    if not location_of(settings).exists():
        return [], 0
    with opened(settings) as store:
        return list(store.page(query).voices), store.unclaimed()


def repaired(settings: Settings, key: str | None, *, shared: bool, dry_run: bool) -> tuple[str, list[dict[str, Any]]]:
    """Rebuild missing records; returns the state the database was in, and a row for each recording."""
    folder = settings.data_dir / "voices"
    if settings.voice_database is not None:
        raise InvalidRequestError(
            "The settings keep voices in voice_database, which is restored from its own backup; unset it and "
            "voice_objects to repair the folder of this machine.",
            field="voice_database",
        )
    if key is not None and shared:
        raise InvalidRequestError("Give --key or --shared, not both.", field="key")
    if not folder.exists():
        raise NotFoundError(f"No voice was ever registered in {settings.data_dir}; there is nothing to repair.")
    owner = owner_named(key) if key is not None or shared else None
    report = repair(folder, owner, dry_run=dry_run)
    return report.database, [_repair_row(row) for row in report.rows]


def _repair_row(row: RepairRow) -> dict[str, Any]:
    record = row.record
    left = row.action is RepairAction.LEAVE
    return {
        "action": str(row.action),
        "name": "" if record is None else record.name,
        "owner": "" if record is None or left else record.owner or "everyone",
        "length": "" if record is None else f"{record.duration:.1f} s",
        "recording": row.audio_digest[:12],
        "note": row.note,
    }


def found(store: VoiceStore, reference: str) -> VoiceRecord:
    """A voice by its id, or by its name if only one owner has a voice of that name."""
    if is_voice_id(reference):
        record = store.get(reference)
        matches = [] if record is None else [record]
    else:
        every = store.page(VoiceQuery(text=reference, limit=MAX_VOICES)).voices
        matches = [record for record in every if name_key(record.name) == name_key(reference)]
    if not matches:
        raise NotFoundError(f"There is no voice {reference[:80]!r}; `polyvox voices list` shows those you registered.")
    if len(matches) > 1:
        ids = ", ".join(record.id for record in matches)
        raise InvalidRequestError(f"Several keys have a voice {reference!r}; give its id: {ids}.", field="voice")
    return matches[0]


def register(settings: Settings, file: Path, details: VoiceDetails, owner: str, *, replacing: bool) -> Registered:
    """Register a recording as a voice, with all checks that a server makes."""
    data = read_recording(file, settings.prompt_max_bytes)

    async def registered() -> Registered:
        voices = VoiceService.for_service(build_service(settings, Catalog.installed().factories), OperatorAccess())
        try:
            return await voices.register(
                InlineVoice(data), details, owner, transcribe=Transcribe.INLINE, replacing=replacing
            )
        finally:
            await voices.close()

    return asyncio.run(registered())


def import_packs(settings: Settings, folder: Path, owner: str, *, replacing: bool) -> Iterator[tuple[str, str]]:
    """Keep the `.pt` voice packs of a folder; yields each name with the reason why it was left out, if it was."""
    paths = sorted(folder.glob("*.pt")) if folder.is_dir() else [folder]
    if not paths:
        raise NotFoundError(f"There is no .pt file in {folder}.")
    with asyncio.Runner() as runner:
        voices = runner.run(_operators_voices(settings))
        try:
            for path in paths:
                yield path.stem, runner.run(_import_pack(settings, voices, path, owner, replacing=replacing))
        finally:
            runner.run(voices.close())


async def _operators_voices(settings: Settings) -> VoiceService:
    return VoiceService.for_service(build_service(settings, Catalog.installed().factories), OperatorAccess())


async def _import_pack(settings: Settings, voices: VoiceService, path: Path, owner: str, *, replacing: bool) -> str:
    try:
        details = VoiceDetails.checked(name=path.stem, language=language_of_pack(path.stem))
        data = read_recording(path, MAX_PACK_BYTES)
        await KeptVoices(settings, voices).keep_pack(data, details, owner, replacing=replacing)
    except (InvalidRequestError, ConflictError) as error:
        return error.message
    return ""


def removed(store: VoiceStore, settings: Settings, reference: str) -> dict[str, Any]:
    """Delete a voice; returns what was deleted with it. Running servers drop their caches of it within a minute."""
    record = found(store, reference)
    gone = store.remove(record.id)
    prepared = 0
    if gone is not None and not gone.shared:
        prepared = _prepared_files(settings).remove(record.audio_digest, record.owner)
    if gone is not None and (pack := pack_reference(record.report)) is not None:
        PackFiles(settings.data_dir / PACKS).remove(pack.file)
    return {"name": record.name, "audio": gone is not None and not gone.kept, "prepared": prepared}


def export(store: VoiceStore, references: Iterable[str], path: Path) -> int:
    """Write voices to one archive; all of them where none is named."""
    records = [found(store, reference) for reference in references]
    if not records:
        records = list(store.page(VoiceQuery(newest_first=False, limit=MAX_VOICES + 1)).voices)
    if len(records) > MAX_VOICES:
        raise InvalidRequestError(f"One file takes at most {MAX_VOICES} voices; name those to export.")
    return write_archive(path, ((record, store.audio_file(record)) for record in records))


def import_voices(store: VoiceStore, settings: Settings, path: Path, owner: str, *, replacing: bool) -> list[str]:
    """Register the voices of an archive: all of them, or none if one is refused. Returns their names."""
    limits = PromptLimits.of(settings)
    names = [voice.name for voice in read_archive(path, limits, owner)]
    taken = [name for name in names if store.find(owner, name) is not None]
    if taken and not replacing:
        raise ConflictError(
            f"There is a voice {taken[0]!r} already; rename it, or import with --replace.", field="name"
        )
    transcriber = Transcriber(settings)
    for voice in read_archive(path, limits, owner):
        known = replace(voice, embedding=transcriber.embed(voice.pcm, voice.sample_rate))
        store.add(known, replacing=replacing, limit=settings.max_voices)
    return names


def copied(settings: Settings, *, to_folder: bool) -> list[str]:
    """Copy all voices between the folder of this machine and the shared store, with ids and owners; their names.

    What the target has, or had and deleted, is left as it is there, so that an interrupted copy is run again.
    """
    if settings.voice_database is None:
        raise InvalidRequestError("Set voice_database and voice_objects to say where the shared store is.")
    places: tuple[StoreLocation, StoreLocation] = (folder_of(settings), location_of(settings))
    source, target = reversed(places) if to_folder else places
    if not source.exists():
        raise NotFoundError(f"No voice was ever registered in {settings.data_dir}; there is nothing to copy.")
    names = []
    with closing(source.open()) as old, closing(target.open()) as new:
        query = VoiceQuery(newest_first=False, limit=MAX_VOICES)
        while True:
            page = old.page(query)
            for record in page.voices:
                adopted = new.adopt(record, old.audio_file(record)) if new.get(record.id) is None else None
                names += [] if adopted is None else [adopted.name]
            if not page.next:
                return names
            query = replace(query, after=page.next)


def embedding_of(settings: Settings, which: str) -> Embedding:
    """The speaker embedding of a registered voice or of a recording."""
    path = Path(which)
    if path.is_file():
        data = read_recording(path, settings.prompt_max_bytes)
        pcm, rate = asyncio.run(decode_bounded(data, PromptLimits.of(settings)))
        return _embedded(settings, pcm, rate)
    with opened(settings) as store:
        record = found(store, which)
        if record.embedding is not None:
            return record.embedding
        return _embedded(settings, *store.recording(record))


def owner_named(key: str | None) -> str:
    """The owner of a key; without a key, the owner of the voices that everyone may use."""
    return SHARED_OWNER if key is None else owner_of(key)


def described(record: VoiceRecord) -> dict[str, Any]:
    """The fields of a voice that the commands print."""
    return {
        "id": record.id,
        "name": record.name,
        "owner": record.owner or "everyone",
        "transcript": record.transcript,
        "transcription": str(record.transcription),
        "language": record.language,
        "tags": list(record.tags),
        "consent": record.consent,
        "consent_note": record.consent_note,
        "duration": round(record.duration, 3),
        "sample_rate": record.sample_rate,
        "quality": shown_report(record.report),
        "created": int(record.created),
        "used": int(record.used) or None,
    }


def _embedded(settings: Settings, pcm: Pcm, rate: int) -> Embedding:
    return SpeakerEncoder(open_bundle(BUNDLE, settings.models_dir)).embed(pcm, rate)


def _prepared_files(settings: Settings) -> PreparedVoiceFiles:
    return PreparedVoiceFiles(
        settings.data_dir / "prepared",
        max_bytes=settings.prepared_disk_bytes,
        max_age=settings.prepared_disk_seconds,
        observer=lambda kind, event: None,
    )


def read_recording(path: Path, max_bytes: int) -> bytes:
    """Read a file, at most one byte beyond the limit."""
    with path.open("rb") as source:
        return source.read(max_bytes + 1)
