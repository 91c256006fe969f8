"""The voice for requests that name none, prepared before a server says that it is ready."""

import asyncio

import structlog

from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.engines.base import Engine
from polyvox.errors import PolyvoxError, UnavailableError
from polyvox.service.delivery import closing
from polyvox.service.registry.registry import ModelInfo, Registry
from polyvox.service.voices.preset_prompts import PresetPrompts
from polyvox.service.voices.voice_resolver import ResolvedVoice, VoiceResolver
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.types import Utterance
from polyvox.voices.records import SHARED_OWNER
from polyvox.voices.references import RegisteredVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_FIRST_WORDS = "Good morning."
_PENDING = "The default voice is being prepared; try again in a moment."


class DefaultVoice:
    """The default voice of the default model, where that model clones it from a prompt."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        store: AsyncVoiceStore,
        presets: PresetPrompts,
        resolver: VoiceResolver,
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._store = store
        self._presets = presets
        self._resolver = resolver
        self._prepared_by: Engine | None = None
        self._problem = ""
        self._preparing = asyncio.Lock()

    @property
    def is_due(self) -> bool:
        """True if the model is loaded and has not prepared its voice yet."""
        info = self._info()
        return info.loaded and info.cloning and self._registry.engine(info.id) is not self._prepared_by

    def expect(self) -> None:
        """Be an obstacle until `prepare` has ended."""
        self._problem = _PENDING if self.is_due else ""

    async def prepare(self) -> None:
        """Prepare the voice, and that of instructions where it is another; a failure is an obstacle until the next try.

        The voice speaks its first words here, so that the first caller does not wait for what is computed once.
        """
        async with self._preparing:
            if not self.is_due:
                return
            usual, instructed = (self._registry.default_voice(instructed=each) for each in (False, True))
            with await self._registry.hold(None) as held:
                if instructed != usual:
                    await self._prepare(instructed, held.engine)
                self._problem = await self._prepare(usual, held.engine)
                self._prepared_by = None if self._problem else held.engine

    async def obstacle(self) -> str:
        """The reason why a request that brings no recording cannot be spoken now; empty if it can."""
        info = self._info()
        if not (info.loaded and info.cloning):
            return ""
        if self._problem or self._registry.voices(info.id):
            return self._problem
        name = self._registry.default_voice(info.id)
        if self._presets.can_speak(self._settings.aliases.get(name, name)):
            return ""
        try:
            registered = await self._store.find(name, SHARED_OWNER)
        except UnavailableError as error:
            return error.message
        remedy = "set default_voice to a registered voice"
        if (source := self._presets.model) is not None:
            remedy = f"run: {pull_hint(source)}, or {remedy}"
        return "" if registered is not None else f"The model {info.id!r} has no voice {name!r}; {remedy}."

    async def _prepare(self, name: str, engine: Engine) -> str:
        """Have a voice speak its first words; returns why it could not."""
        try:
            await self._speak_first_words(name, engine)
        except PolyvoxError as error:
            log.warning("default voice not prepared", voice=name, reason=error.message)
            return error.message
        return ""

    async def _speak_first_words(self, name: str, engine: Engine) -> None:
        resolved: ResolvedVoice | None = await self._resolver.resolve(RegisteredVoice(name), SHARED_OWNER)
        if resolved is None or resolved.native:
            return
        prepared = await resolved.prepare(engine)
        speech = engine.speak(Utterance(_FIRST_WORDS, resolved.label, prepared=prepared))
        async with closing(speech):
            await anext(speech, None)

    def _info(self) -> ModelInfo:
        return self._registry.model(self._settings.default_model)
