"""The voices of all models and the recognisers, as Wyoming lists and names them."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from polyvox import __version__
from polyvox.errors import InvalidRequestError
from polyvox.service.registry.registry import ModelInfo
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Voice
from polyvox.voices.records import SHARED_OWNER, VoiceQuery

_PROGRAM = "polyvox"
_URL = "https://github.com/polyvox/polyvox"
_MAX_REGISTERED = 1_000


@dataclass(frozen=True, slots=True)
class WyomingVoice:
    """A voice under the name that clients send back. `languages` are BCP 47 tags, regions in capitals."""

    name: str
    model: str
    voice: Voice
    languages: tuple[str, ...]

    @property
    def info(self) -> dict[str, Any]:
        """Its entry in the list. Home Assistant shows the description."""
        title = self.voice.name if self.name == self.voice.id else f"{self.voice.name} ({self.model})"
        return _artifact(self.name, title, self.model) | {"languages": list(self.languages)}


@dataclass(frozen=True, slots=True)
class VoiceChoice:
    """The voice and model to speak with; None leaves it to the server."""

    model: str | None = None
    voice: str | None = None
    language: str | None = None


class WyomingVoices:
    """Lists voices and finds those that requests name.

    Voices of the default model go by their id, those of others by `model/id`. Home Assistant reads one program only, so
    that all voices are of one.
    """

    def __init__(self, service: SpeechService, voices: VoiceService) -> None:
        self._registry = service.registry
        self._listening = service.listening
        self._voices = voices

    async def info(self) -> dict[str, Any]:
        """The data of the event `info`."""
        listed = [voice.info for voice in await self._listed()]
        program = _artifact(_PROGRAM, "Polyvox text to speech", _PROGRAM)
        return {
            "tts": [program | {"voices": listed, "supports_synthesize_streaming": True}],
            "asr": await self._recognisers(),
        }

    async def _recognisers(self) -> list[dict[str, Any]]:
        """The program that listens, with its models; none where no model for it is installed."""
        installed = await asyncio.to_thread(self._listening.recognisers.installed)
        models = [
            _artifact(model.name, model.title, model.name) | {"languages": sorted(model.languages)}
            for model in sorted(installed, key=lambda model: len(model.languages))
        ]
        program = _artifact(_PROGRAM, "Polyvox speech to text", _PROGRAM)
        return [program | {"models": models, "supports_transcript_streaming": False}] if models else []

    async def choose(self, wanted: object) -> VoiceChoice:
        """The voice of a request: by its name, by a model's name and a speaker, or by a language alone."""
        if not wanted:
            return VoiceChoice()
        if not isinstance(wanted, Mapping):
            raise InvalidRequestError("'voice' must be an object with 'name', 'speaker' or 'language'.", field="voice")
        name, speaker, language = (_text(wanted, field) for field in ("name", "speaker", "language"))
        if name is not None:
            return await self._named(name, speaker)
        if speaker is not None:
            return VoiceChoice(voice=speaker)
        return VoiceChoice() if language is None else await self._speaking(language)

    async def _named(self, name: str, speaker: str | None) -> VoiceChoice:
        listed = {voice.name: voice for voice in await self._listed()}
        if name in listed:
            return VoiceChoice(listed[name].model, speaker or listed[name].voice.id)
        if name in {info.id for info in self._registry.models()}:
            return VoiceChoice(name, speaker)
        return VoiceChoice(voice=speaker or name)  # an alias or a mix, which the service knows

    async def _speaking(self, language: str) -> VoiceChoice:
        """A voice for a language: the default one where it fits, else the first of a model that has one."""
        listed = [voice for voice in await self._listed() if _matches(language, voice.languages)]
        usual = self._registry.default_voice()
        default = self._registry.resolve(None)
        listed.sort(key=lambda each: (each.model != default, not _matches_exactly(language, each.languages)))
        chosen = next((each for each in listed if (each.model, each.voice.id) == (default, usual)), None)
        if chosen is None or not _matches_exactly(language, chosen.languages):
            chosen = next(iter(listed), None)
        if chosen is None:
            raise InvalidRequestError(f"No voice here speaks {language!r}; 'describe' lists all voices.", field="voice")
        return VoiceChoice(chosen.model, chosen.voice.id, None if chosen.voice.language else language)

    async def _listed(self) -> list[WyomingVoice]:
        default = self._registry.resolve(None)
        models = sorted(
            (info for info in self._registry.models() if info.available), key=lambda info: info.id != default
        )
        own = {info.id: self._registry.voices(info.id) for info in models}  # before a wait in which one may fail
        registered = await self._registered() if any(info.cloning for info in models) else []
        return [
            WyomingVoice(
                voice.id if info.id == default else f"{info.id}/{voice.id}", info.id, voice, _tags(voice, info)
            )
            for info in models
            for voice in (*own[info.id], *(registered if info.cloning else ()))
            if not voice.reason
        ]

    async def _registered(self) -> list[Voice]:
        page = await self._voices.page(VoiceQuery(limit=_MAX_REGISTERED), SHARED_OWNER)
        return [Voice(record.id, record.name, record.language) for record in page.voices]


def _tags(voice: Voice, info: ModelInfo) -> tuple[str, ...]:
    """Of a voice that belongs to no language, those of its model."""
    return tuple(_tag(each) for each in ([voice.language] if voice.language else sorted(info.languages)))


def _tag(language: str) -> str:
    main, *others = language.replace("_", "-").split("-")
    return "-".join((main.lower(), *(part.upper() if len(part) == 2 else part.capitalize() for part in others)))


def _matches(language: str, tags: Iterable[str]) -> bool:
    return any(_tag(language).partition("-")[0] == tag.partition("-")[0] for tag in tags)


def _matches_exactly(language: str, tags: Iterable[str]) -> bool:
    """Return whether it is one of them; a language without a region is every region's."""
    tag = _tag(language)
    return tag in tags or ("-" not in tag and _matches(tag, tags))


def _text(values: Mapping[str, Any], field: str) -> str | None:
    value = values.get(field)
    if value is not None and not isinstance(value, str):
        raise InvalidRequestError(f"'{field}' of a voice must be text.", field="voice")
    return value or None


def _artifact(name: str, description: str, made_by: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "attribution": {"name": made_by, "url": _URL},
        "installed": True,
        "version": __version__,
    }
