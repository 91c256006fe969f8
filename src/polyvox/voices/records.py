"""Records of registered voices, and queries for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.types import Pcm
from polyvox.voices.names import new_voice_id, note_text, transcript_text, voice_language, voice_name, voice_tags

SHARED_OWNER = ""
"""Owner of shared voices, which every caller may use."""

Embedding = npt.NDArray[np.float32]


class Transcription(StrEnum):
    """The origin of a voice's transcript, or why there is none."""

    GIVEN = "given"
    HEARD = "heard"
    PENDING = "pending"
    FAILED = "failed"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class VoiceRecord:
    """One registered voice. Times are seconds since 1970; `used` is 0 until it first speaks.

    `audio_digest` is the SHA-256 of the stored recording's file, and the only thing its path is made of. `embedding`
    is the speaker embedding, for finding the same speaker again; None where no speaker encoder is installed.
    """

    id: str
    name: str
    owner: str
    transcript: str
    transcription: Transcription
    language: str
    tags: tuple[str, ...]
    consent: bool
    consent_note: str
    duration: float
    sample_rate: int
    report: Mapping[str, Any]
    audio_digest: str
    created: float
    used: float = 0.0
    embedding: Embedding | None = None


@dataclass(frozen=True, slots=True)
class Registration:
    """A new voice; the store adds its id, its digest and the time."""

    name: str
    owner: str
    pcm: Pcm
    sample_rate: int
    transcript: str = ""
    transcription: Transcription = Transcription.NONE
    language: str = ""
    tags: tuple[str, ...] = ()
    consent: bool = False
    consent_note: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    embedding: Embedding | None = None


@dataclass(frozen=True, slots=True)
class VoiceDetails:
    """An owner's description of a voice, validated. None leaves a field as it is, or at its default."""

    name: str | None = None
    transcript: str | None = None
    language: str | None = None
    tags: tuple[str, ...] | None = None
    consent: bool | None = None
    consent_note: str | None = None

    @classmethod
    def checked(
        cls,
        *,
        name: str | None = None,
        transcript: str | None = None,
        language: str | None = None,
        tags: Sequence[str] | None = None,
        consent: bool | None = None,
        consent_note: str | None = None,
    ) -> "VoiceDetails":
        """The details as they will be stored; whatever a caller must not write is refused by field."""
        return cls(
            name=None if name is None else voice_name(name),
            transcript=None if transcript is None else transcript_text(transcript),
            language=None if language is None else voice_language(language),
            tags=None if tags is None else voice_tags(list(tags)),
            consent=consent,
            consent_note=None if consent_note is None else note_text(consent_note),
        )

    @property
    def given(self) -> Mapping[str, Any]:
        """The fields that are not None."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return MappingProxyType({name: value for name, value in fields.items() if value is not None})


@dataclass(frozen=True, slots=True)
class VoiceQuery:
    """A filter of voices: those of `owners` (all, if None) that match every filter that is set.

    `after` is the `VoicePage.next` of the page before.
    """

    owners: tuple[str, ...] | None = None
    text: str = ""
    tag: str = ""
    language: str = ""
    consent: bool | None = None
    newest_first: bool = True
    after: str = ""
    limit: int = 20


@dataclass(frozen=True, slots=True)
class VoicePage:
    """A page of a list; `next` is the cursor of the page after it, empty on the last."""

    voices: tuple[VoiceRecord, ...]
    next: str


@dataclass(frozen=True, slots=True)
class RemovedVoice:
    """A removed voice, and whether its recording stays: `shared` with another voice of its owner, or `kept` for any.

    That somebody else has the same recording is nothing its owner may learn.
    """

    record: VoiceRecord
    shared: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class AddedVoice:
    """A newly registered voice, and the one it replaced."""

    record: VoiceRecord
    replaced: RemovedVoice | None


def new_record(new: Registration, audio_digest: str, created: float) -> VoiceRecord:
    """The record of a voice about to be stored, under a new id."""
    return VoiceRecord(
        id=new_voice_id(),
        name=new.name,
        owner=new.owner,
        transcript=new.transcript,
        transcription=new.transcription,
        language=new.language,
        tags=new.tags,
        consent=new.consent,
        consent_note=new.consent_note,
        duration=len(new.pcm) / new.sample_rate,
        sample_rate=new.sample_rate,
        report=new.report,
        audio_digest=audio_digest,
        created=round(created, 6),
        embedding=new.embedding,
    )
