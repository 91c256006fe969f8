"""Export and import of voices: a ZIP archive with a description and the recordings it names."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyvox.errors import InvalidRequestError
from polyvox.types import Pcm
from polyvox.voices.fitted import KEY, fitted_style
from polyvox.voices.limits import PromptLimits
from polyvox.voices.records import Registration, Transcription, VoiceDetails, VoiceRecord
from polyvox.voices.storage.recordings import digest_of, read_wav

MAX_VOICES = 1_000

_DESCRIPTION = "voices.json"
_DESCRIPTION_BYTES = 8 * 1_048_576
_RATES = (8_000, 48_000)
_HEADER_BYTES = 1_024
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_EPOCH = (1980, 1, 1, 0, 0, 0)

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Figure = Annotated[float, Field(allow_inf_nan=False)]


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore")

    duration: Figure
    speech_seconds: Figure
    speech_ratio: Figure
    snr_db: Figure
    clipped_ratio: Figure
    level_dbfs: Figure
    score: Figure
    warnings: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=16)]


class _Voice(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    transcript: str
    transcription: Transcription
    language: str
    tags: list[str]
    consent: bool
    consent_note: str
    quality: _Report | None
    fitted: dict[str, Any] | None = None
    sha256: Digest


class _Archive(BaseModel):
    model_config = ConfigDict(extra="ignore")

    format: Literal["polyvox-voices"]
    version: Literal[1]
    voices: Annotated[list[_Voice], Field(max_length=MAX_VOICES)]


def write_archive(path: Path, voices: Iterable[tuple[VoiceRecord, bytes]]) -> int:
    """Write voices and their recordings into a new file; returns how many. The file appears when it is whole."""
    fresh = path.with_name(f".{path.name}.part")
    described: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
            written: set[str] = set()
            for record, audio in voices:
                described[record.id] = _description(record)
                if record.audio_digest not in written:
                    archive.writestr(_entry(_member(record.audio_digest)), audio)
                    written.add(record.audio_digest)
            content = _Archive(format="polyvox-voices", version=1, voices=list(described.values()))
            archive.writestr(_entry(_DESCRIPTION), content.model_dump_json(indent=2))
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return len(described)


def read_archive(path: Path, limits: PromptLimits, owner: str) -> Iterator[Registration]:
    """The voices in a file, one at a time; all content is treated as untrusted.

    Only the members that the description names are opened, by names made from their hashes, and no further than a
    recording may be long.
    """
    with _readable(path), zipfile.ZipFile(path) as archive:
        if len(archive.infolist()) > MAX_VOICES + 1:
            raise InvalidRequestError("The file holds more than an export of voices does.", field="file")
        described = _described(_read_member(archive, _DESCRIPTION, _DESCRIPTION_BYTES))
        for voice in described.voices:
            audio = _read_member(archive, _member(voice.sha256), _most_bytes(limits))
            if digest_of(audio) != voice.sha256:
                raise InvalidRequestError(f"The recording of {voice.name[:64]!r} is not the one that was exported.")
            yield _registration(voice, *read_wav(audio), limits, owner)


def _description(record: VoiceRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "transcript": record.transcript,
        "transcription": record.transcription,
        "language": record.language,
        "tags": list(record.tags),
        "consent": record.consent,
        "consent_note": record.consent_note,
        "quality": {name: value for name, value in record.report.items() if name != KEY} or None,
        "fitted": record.report.get(KEY),
        "sha256": record.audio_digest,
    }


def _registration(voice: _Voice, pcm: Pcm, rate: int, limits: PromptLimits, owner: str) -> Registration:
    details = VoiceDetails.checked(
        name=voice.name,
        transcript=voice.transcript,
        language=voice.language,
        tags=voice.tags,
        consent_note=voice.consent_note,
    )
    assert details.name is not None
    _check_sound(details.name, pcm, rate, limits)
    style = fitted_style({KEY: voice.fitted})
    known = voice.transcription if details.transcript else Transcription.NONE
    return Registration(
        name=details.name,
        owner=owner,
        pcm=pcm,
        sample_rate=rate,
        transcript=details.transcript or "",
        transcription=known,
        language=details.language or "",
        tags=details.tags or (),
        consent=voice.consent,
        consent_note=details.consent_note or "",
        report=({} if voice.quality is None else voice.quality.model_dump())
        | ({} if style is None else {KEY: style.as_report()}),
    )


def _check_sound(name: str, pcm: Pcm, rate: int, limits: PromptLimits) -> None:
    if not _RATES[0] <= rate <= _RATES[1]:
        raise InvalidRequestError(f"The recording of {name!r} has a sample rate of {rate} Hz, which is out of range.")
    if not np.isfinite(pcm).all() or np.abs(pcm).max(initial=0.0) > 1.0:
        raise InvalidRequestError(f"The recording of {name!r} holds samples that are NaN or outside [-1, 1].")
    seconds = len(pcm) / rate
    if not limits.min_seconds <= seconds <= limits.max_seconds:
        raise InvalidRequestError(
            f"The recording of {name!r} has {seconds:.1f} seconds; the settings allow {limits.min_seconds:g} to "
            f"{limits.max_seconds:g}."
        )


def _described(data: bytes) -> _Archive:
    try:
        return _Archive.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidRequestError(f"The export's description is not as expected: {place}: {first['msg']}.") from error


def _read_member(archive: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    """One member, unpacked no further than it may be large, whatever its header claims."""
    found = [info for info in archive.infolist() if info.filename == name]
    if len(found) != 1:
        raise InvalidRequestError(f"The export holds {len(found)} files {name!r} instead of one.")
    if found[0].compress_type not in _METHODS:
        raise InvalidRequestError("The export is packed in a way that is not read here.")
    with archive.open(found[0]) as member:
        data = member.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InvalidRequestError(f"The export holds a file {name!r} that is too large.")
    return data


def _most_bytes(limits: PromptLimits) -> int:
    return int(limits.max_seconds * _RATES[1]) * 4 + _HEADER_BYTES


def _member(digest: str) -> str:
    return f"audio/{digest}.wav"


def _entry(name: str) -> zipfile.ZipInfo:
    """A member without the time of writing, so that the same voices give the same file."""
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise InvalidRequestError(f"{path.name} is not an export of voices, or is damaged.", field="file") from error
