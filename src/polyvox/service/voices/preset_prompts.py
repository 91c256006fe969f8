"""Prompts in the built-in voices of one engine, for the engines that clone."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import structlog

from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsStyle
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import PresetPrompt
from polyvox.errors import BundleError, NotServedError, UnavailableError
from polyvox.service.delivery import closing
from polyvox.service.registry.registry import Registry
from polyvox.types import Utterance, VoicePrompt
from polyvox.voices.mixing import MixTerm
from polyvox.voices.storage.recordings import digest_of, prompt_digest

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_FALLBACK_LANGUAGE = "en-us"


@dataclass(frozen=True, slots=True)
class MixedStyle:
    """A mix of a model's voices and an offset from it, as a fit gives it."""

    parts: Sequence[MixTerm]
    offset: npt.NDArray[np.float32]


class PresetPrompts:
    """Has built-in voices speak prompts; their model is started for that where the server does not run it."""

    def __init__(self, settings: Settings, registry: Registry, catalog: Catalog) -> None:
        self._settings = settings
        self._registry = registry
        self._catalog = catalog
        self._presets = next(catalog.presets(), None)
        self._starting = asyncio.Lock()

    @property
    def names(self) -> Sequence[str]:
        """The voices that can be borrowed here, mixes left out."""
        return self._presets.names if self._presets is not None and self._installed(self._presets.model) else ()

    def find(self, name: str) -> PresetPrompt | None:
        """The prompt of a built-in voice or of a mix of them; None where the name is neither."""
        return None if self._presets is None else self._presets.find(name)

    def digest(self, preset: PresetPrompt) -> str:
        """The key of voices prepared from this prompt: known before it is spoken, which happens once."""
        return prompt_digest(digest_of(f"preset {preset.voice}".encode()), preset.transcript)

    def styled_digest(self, preset: PresetPrompt, style: MixedStyle) -> str:
        """The key of voices prepared from this prompt in another style."""
        offset = np.ascontiguousarray(style.offset, np.float32).tobytes()
        return prompt_digest(digest_of(f"preset {list(style.parts)} ".encode() + offset), preset.transcript)

    async def prompt(self, preset: PresetPrompt, style: MixedStyle | None = None) -> VoicePrompt:
        """Speak the prompt, in English where its own language cannot be read here; in a `style` of its model's."""
        async with self._engine(preset.voice) as engine:
            try:
                return await self._spoken(engine, preset, style, preset.transcript, preset.language)
            except UnavailableError as error:
                log.info("preset voice speaks English", voice=preset.voice, reason=error.message)
                return await self._spoken(engine, preset, style, preset.fallback, _FALLBACK_LANGUAGE)

    @property
    def model(self) -> str | None:
        """The model whose voices can be borrowed."""
        return None if self._presets is None else self._presets.model

    def _installed(self, model: str) -> bool:
        runs = any(info.id == model and info.available for info in self._registry.models())
        return runs or (self._settings.models_dir / model).is_dir()

    async def _spoken(
        self, engine: Engine, preset: PresetPrompt, style: MixedStyle | None, text: str, language: str
    ) -> VoicePrompt:
        pieces = []
        utterance, digest = Utterance(text, preset.voice, language=language), self.digest(preset)
        if style is not None:
            assert isinstance(engine, SupportsStyle)
            utterance = replace(utterance, prepared=engine.voice_from_style(style.parts, style.offset, language))
            digest = self.styled_digest(preset, style)
        speech = engine.speak(utterance)
        async with closing(speech):
            async for chunk in speech:
                pieces.append(chunk.pcm)
        return VoicePrompt(np.concatenate(pieces), engine.capabilities.sample_rate, text, digest)

    @asynccontextmanager
    async def _engine(self, voice: str) -> AsyncIterator[Engine]:
        assert self._presets is not None
        model = self._presets.model
        if any(info.id == model and info.loaded for info in self._registry.models()):
            with await self._registry.hold(model) as held:
                yield held.engine
            return
        async with self._starting:
            engine = self._catalog.spec(model).make(model, self._settings)
            try:
                await engine.start()
                yield engine
            except BundleError as error:
                raise NotServedError(
                    f"The voice {voice!r} belongs to another model; send a recording, or run: polyvox pull {model}",
                    field="voice",
                ) from error
            finally:
                await engine.close()
