"""Voices by ElevenLabs' ids: which one an id means, and the lists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from polyvox.api.dialects.elevenlabs.premade_voices import PREMADE, premade
from polyvox.api.dialects.elevenlabs.requests import model_name
from polyvox.api.dialects.elevenlabs.settings import ElevenLabsSettings
from polyvox.config import Settings
from polyvox.errors import NotFoundError, PolyvoxError, UnknownVoiceError
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Voice
from polyvox.voices.designs import design_of
from polyvox.voices.records import VoiceQuery, VoiceRecord

_MAX_REGISTERED = 1_000
_ACCENTS = MappingProxyType({"en-us": "american", "en-gb": "british"})
VOICE_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {"stability": 0.5, "similarity_boost": 0.75, "style": 0.0, "use_speaker_boost": True, "speed": 1.0}
)
"""The settings that clients show; of these `speed` and `style` have an effect."""


@dataclass(frozen=True, slots=True)
class VoiceDirectory:
    """The voices of one model that a caller may use, by the ids of this dialect."""

    service: SpeechService
    voices: VoiceService
    owner: str
    model: str | None

    @classmethod
    def of(
        cls, service: SpeechService, voices: VoiceService, owner: str, model_id: str | None = None
    ) -> "VoiceDirectory":
        return cls(service, voices, owner, model_name(model_id, service.settings))

    @property
    def late_words(self) -> bool:
        """True if the model's words are timed only after they were spoken, where words are asked for."""
        known = self.service.registry.model(self.model).capabilities
        return known is not None and not known.word_timings and self.service.settings.word_timings != "durations"

    async def target(self, voice_id: str) -> str:
        """The voice that an id or a name means to the model; empty for its default voice.

        What the settings say goes first, then the model's own and registered voices, then the built-in list. Where the
        model lacks the voice that the built-in list names, it is the model's default one.
        """
        mapped = _mapped(self.service.settings)
        if voice_id in mapped:
            return mapped[voice_id]
        known = premade(voice_id)
        if known is None or voice_id in self._own() or await self._is_registered(voice_id):
            return voice_id
        return known.target if known.target in self._own() else ""

    async def listed(self) -> list[dict[str, Any]]:
        """The model's own voices, registered ones, and ids that stand for some voice; no two have the same name."""
        own = self._own()
        page = await self.voices.page(VoiceQuery(limit=_MAX_REGISTERED), self.owner) if self._clones() else None
        found = [_own_json(voice) for voice in own.values() if not voice.reason]
        registered = page.voices if page is not None else await self._styles()
        found += [registered_json(record, self.owner) for record in registered]
        taken = {voice["voice_id"] for voice in found}
        found += [voice for voice in self._stand_ins(own) if voice["voice_id"] not in taken]
        return _named_apart(found)

    async def one(self, voice_id: str) -> dict[str, Any]:
        """A single voice; `UnknownVoiceError` where the id means none."""
        own = self._own()
        for voice in self._stand_ins(own):
            if voice_id == voice["voice_id"]:
                return voice
        if voice_id in own:
            return _own_json(own[voice_id])
        try:
            return registered_json(await self.voices.get(voice_id, self.owner), self.owner)
        except NotFoundError:
            raise UnknownVoiceError(
                f"There is no voice {voice_id[:80]!r}; GET /v1/voices lists them all.", field="voice_id"
            ) from None

    def _own(self) -> dict[str, Voice]:
        """The model's own voices; none while it is not available."""
        if not self.service.registry.model(self.model).available:
            return {}
        return {voice.id: voice for voice in self.service.registry.voices(self.model)}

    async def _styles(self) -> Sequence[VoiceRecord]:
        """Registered voices that a model which does not clone speaks as its own."""
        if not self.service.registry.model(self.model).loaded:
            return ()
        return await self.voices.styles_of(self.service.registry.engine(self.model), self.owner, _MAX_REGISTERED)

    def _clones(self) -> bool:
        return self.service.registry.clones_for(self.model)

    async def _is_registered(self, name: str) -> bool:
        try:
            await self.voices.find(name, self.owner)
        except PolyvoxError:
            return False
        return True

    def _stand_ins(self, own: Mapping[str, Voice]) -> Iterator[dict[str, Any]]:
        mapped = _mapped(self.service.settings)
        names = {one.id: one for one in PREMADE}
        for voice_id, target in {**{one.id: one.target for one in PREMADE}, **mapped}.items():
            if target in own and not own[target].reason:
                name = names[voice_id].name if voice_id in names else voice_id
                yield _own_json(own[target]) | {
                    "voice_id": voice_id,
                    "name": name,
                    "description": f"Spoken by {target}.",
                }


def _named_apart(voices: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The voices, of which each whose name another has already has its id behind it: clients choose by name."""
    names: set[str] = set()
    found = []
    for voice in voices:
        name = voice["name"] if voice["name"] not in names else f"{voice['name']} ({voice['voice_id']})"
        names.add(name)
        found.append(voice | {"name": name})
    return found


def _mapped(settings: Settings) -> dict[str, str]:
    return dict(row.split("=", 1) for row in settings.section(ElevenLabsSettings).voices)


def _own_json(voice: Voice) -> dict[str, Any]:
    labels = {"gender": voice.gender, "accent": _ACCENTS.get(voice.language.lower(), ""), "language": voice.language}
    return _voice_json(voice.id, voice.name, "premade", labels, voice.description)


def registered_json(record: VoiceRecord, owner: str) -> dict[str, Any]:
    """A registered voice as clients see it: a clone, or one that was made from a description."""
    description = design_of(record.report)
    category = "cloned" if description is None else "generated"
    found = _voice_json(record.id, record.name, category, {"language": record.language}, description or "")
    return found | {"is_owner": record.owner == owner, "created_at_unix": int(record.created)}


def _voice_json(voice_id: str, name: str, category: str, labels: Mapping[str, str], description: str) -> dict[str, Any]:
    return {
        "voice_id": voice_id,
        "name": name,
        "category": category,
        "labels": {label: value for label, value in labels.items() if value},
        "description": description or None,
        "preview_url": None,
        "settings": dict(VOICE_SETTINGS),
        "samples": None,
        "available_for_tiers": [],
        "high_quality_base_model_ids": [],
        "is_legacy": False,
    }
