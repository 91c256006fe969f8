"""Prompts in the built-in voices of one engine, for the engines that clone."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import structlog

from polyvox.audio.decode import decode
from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.engines.base import Engine, SupportsStyle
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import PresetPrompt
from polyvox.errors import BundleError, NotServedError, UnavailableError
from polyvox.service.delivery import closing
from polyvox.service.registry.registry import Registry
from polyvox.types import Pcm, Utterance, VoicePrompt
from polyvox.voices.mixing import MixTerm
from polyvox.voices.storage.recordings import digest_of, prompt_digest

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_FALLBACK_LANGUAGE = "en-us"
_MAX_SECONDS = 30
_MAX_SAMPLES = 1_440_000


@dataclass(frozen=True, slots=True)
class MixedStyle:
    """A mix of a model's voices and an offset from it, as a fit gives it."""

    parts: Sequence[MixTerm]
    offset: npt.NDArray[np.float32]


class PresetPrompts:
    """Prompts in built-in voices: recordings of the package, or spoken by their model, which is started for that where
    the server does not run it.
    """

    def __init__(self, settings: Settings, registry: Registry, catalog: Catalog) -> None:
        self._settings = settings
        self._registry = registry
        self._catalog = catalog
        self._presets = next(catalog.presets(), None)
        self._starting = asyncio.Lock()

    @property
    def names(self) -> Sequence[str]:
        """The voices that can be borrowed here, mixes left out."""
        if self._presets is None:
            return ()
        names = self._presets.names
        return names if self.is_installed else tuple(name for name in names if self._recorded(name))

    @property
    def is_installed(self) -> bool:
        """True if the model whose voices are borrowed is installed; without it, those of recordings are left."""
        if self._presets is None:
            return False
        model = self._presets.model
        runs = any(info.id == model and info.available for info in self._registry.models())
        return runs or (self._settings.models_dir / model).is_dir()

    def can_speak(self, name: str) -> bool:
        """Return whether a voice, or a mix, can be borrowed here."""
        preset = self.find(name)
        return preset is not None and (preset.recording is not None or self.is_installed)

    def find(self, name: str) -> PresetPrompt | None:
        """The prompt of a built-in voice or of a mix of them; None where the name is neither."""
        return None if self._presets is None else self._presets.find(name)

    def any_of(self, language: str) -> PresetPrompt | None:
        """The prompt of some voice that speaks a language or another region of it, else of the first voice."""
        found = [preset for name in self.names if (preset := self.find(name)) is not None]
        region = (preset for preset in found if preset.language.partition("-")[0] == language.partition("-")[0])
        same = next((preset for preset in found if preset.language == language), None)
        return same or next(region, None) or next(iter(found), None)

    async def digest(self, preset: PresetPrompt, style: MixedStyle | None = None, *, model: str = "") -> str:
        """The key of voices prepared from this prompt: known before it is spoken, which happens once.

        `model` identifies the files of the model that prepares them, for keys that outlive its process.
        """
        if style is not None:
            offset = np.ascontiguousarray(style.offset, np.float32).tobytes()
            content = f"preset {list(style.parts)} ".encode() + offset
        elif preset.recording is not None:
            content = f"recording {await asyncio.to_thread(_file_digest, preset.recording)} ".encode()
        else:
            content = f"preset {preset.voice} ".encode()
        return prompt_digest(digest_of(content + model.encode()), preset.transcript)

    async def prompt(self, preset: PresetPrompt, digest: str, style: MixedStyle | None = None) -> VoicePrompt:
        """The prompt: its recording; or spoken, in English where its own language cannot be read here; in a `style` of
        its model's.
        """
        if style is None and preset.recording is not None:
            pcm, rate = await asyncio.to_thread(_read_recording, preset.recording)
            return VoicePrompt(pcm, rate, preset.transcript, digest)
        async with self._engine(preset.voice) as engine:
            try:
                return await self._spoken(engine, preset, style, digest, preset.transcript, preset.language)
            except UnavailableError as error:
                log.info("preset voice speaks English", voice=preset.voice, reason=error.message)
                return await self._spoken(engine, preset, style, digest, preset.fallback, _FALLBACK_LANGUAGE)

    @property
    def model(self) -> str | None:
        """The model whose voices can be borrowed."""
        return None if self._presets is None else self._presets.model

    def _recorded(self, name: str) -> bool:
        preset = self.find(name)
        return preset is not None and preset.recording is not None

    async def _spoken(
        self, engine: Engine, preset: PresetPrompt, style: MixedStyle | None, digest: str, text: str, language: str
    ) -> VoicePrompt:
        pieces = []
        utterance = Utterance(text, preset.voice, language=language)
        if style is not None:
            if not isinstance(engine, SupportsStyle):
                raise NotServedError(
                    f"The model {engine.name!r} takes no styles where it runs; serve it without Ray.", field="model"
                )
            utterance = replace(utterance, prepared=engine.voice_from_style(style.parts, style.offset, language))
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
                    f"The voice {voice!r} belongs to another model; send a recording, or run: {pull_hint(model)}",
                    field="voice",
                ) from error
            finally:
                await engine.close()


@cache
def _file_digest(path: Path) -> str:
    return digest_of(path.read_bytes())


def _read_recording(path: Path) -> tuple[Pcm, int]:
    return decode(path.read_bytes(), max_seconds=_MAX_SECONDS, max_samples=_MAX_SAMPLES)
