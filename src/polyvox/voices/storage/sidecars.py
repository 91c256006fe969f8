"""Side-cars: what the database knows of a voice, beside its recording, for the day the database is lost."""

import base64
import json
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyvox.errors import InvalidRequestError
from polyvox.voices.fitted import fitted_style
from polyvox.voices.names import is_voice_id
from polyvox.voices.records import Transcription, VoiceDetails, VoiceRecord

MAX_BYTES = 262_144
"""A side-car is a few kilobytes; nothing larger is read."""

Figure = Annotated[float, Field(allow_inf_nan=False, ge=0.0)]


class _Sidecar(BaseModel):
    model_config = ConfigDict(extra="ignore")

    format: Literal["polyvox-voice"]
    version: Literal[1]
    id: str
    owner: Annotated[str, Field(max_length=128)]
    name: str
    transcript: str
    transcription: Transcription
    language: str
    tags: list[str]
    consent: bool
    consent_note: str
    duration: Figure
    sample_rate: Annotated[int, Field(gt=0)]
    report: dict[str, Any]
    audio_digest: str
    created: Figure
    embedding: str | None


def sidecar_of(record: VoiceRecord) -> bytes:
    """A record as a side-car, all but the time of its last use."""
    embedding = None if record.embedding is None else record.embedding.astype("<f4").tobytes()
    content = {
        "format": "polyvox-voice",
        "version": 1,
        "id": record.id,
        "owner": record.owner,
        "name": record.name,
        "transcript": record.transcript,
        "transcription": str(record.transcription),
        "language": record.language,
        "tags": list(record.tags),
        "consent": record.consent,
        "consent_note": record.consent_note,
        "duration": record.duration,
        "sample_rate": record.sample_rate,
        "report": dict(record.report),
        "audio_digest": record.audio_digest,
        "created": record.created,
        "embedding": None if embedding is None else base64.b64encode(embedding).decode(),
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


def record_in(data: bytes, audio_digest: str, voice_id: str) -> VoiceRecord | None:
    """The record in a side-car of this recording and voice; None if it is damaged or of another voice."""
    if len(data) > MAX_BYTES:
        return None
    try:
        found = _Sidecar.model_validate_json(data)
        if (found.id, found.audio_digest) != (voice_id, audio_digest) or not is_voice_id(found.id):
            return None
        details = VoiceDetails.checked(
            name=found.name,
            transcript=found.transcript,
            language=found.language,
            tags=found.tags,
            consent_note=found.consent_note,
        )
        fitted_style(found.report)
        embedding = None if found.embedding is None else base64.b64decode(found.embedding, validate=True)
        vector = None if embedding is None else np.frombuffer(embedding, "<f4").astype(np.float32)
    except (ValidationError, InvalidRequestError, ValueError):
        return None
    return VoiceRecord(
        id=found.id,
        owner=found.owner,
        transcription=found.transcription,
        consent=found.consent,
        duration=found.duration,
        sample_rate=found.sample_rate,
        report=found.report,
        audio_digest=found.audio_digest,
        created=found.created,
        embedding=vector,
        name=details.name or "",
        transcript=details.transcript or "",
        language=details.language or "",
        tags=details.tags or (),
        consent_note=details.consent_note or "",
    )
