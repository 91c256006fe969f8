"""The families of models that this installation has: the built-in ones, and those of other packages."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Self

from polyvox.config import Settings, SettingsSection
from polyvox.container_image import pull_hint
from polyvox.engines.chatterbox.spec import CHATTERBOX
from polyvox.engines.cosyvoice.spec import COSYVOICE
from polyvox.engines.kokoro.spec import KOKORO
from polyvox.engines.pockettts.spec import POCKETTTS
from polyvox.engines.qwen3tts.spec import QWEN3TTS
from polyvox.engines.spec import EngineFactory, EngineSpec, ModelFolder, ModelOutline, PresetVoices, VoiceFitting
from polyvox.engines.speechlm.spec import SPEECHLM
from polyvox.engines.zipvoice.spec import ZIPVOICE
from polyvox.errors import UnavailableError, UnknownModelError
from polyvox.suggestions import did_you_mean

# The standard library's: without any set-up it writes to standard error, and engines are found before logs are set up.
log = logging.getLogger(__name__)

GROUP = "polyvox.engines"
"""The entry-point group under which a package names its `EngineSpec`."""

BUILT_IN = (KOKORO, COSYVOICE, ZIPVOICE, SPEECHLM, QWEN3TTS, POCKETTTS, CHATTERBOX)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Engine specs, each model's name once."""

    specs: Sequence[EngineSpec]

    @classmethod
    def installed(cls) -> Self:
        """The built-in families and those of installed packages. A package that fails to load is left out."""
        specs = list(BUILT_IN)
        for entry in entry_points(group=GROUP):
            spec = _loaded(entry)
            if spec is None:
                continue
            taken = {name for known in specs for name in (*known.models, known.family)}
            if taken & {*spec.models, spec.family}:
                names = ", ".join(sorted(spec.models))
                log.warning("engine %s left out: a name of its models (%s) is taken", entry.name, names)
                continue
            specs.append(spec)
        return cls(tuple(specs))

    @property
    def factories(self) -> Mapping[str, EngineFactory]:
        """The factory of each model's engine."""
        return {model: partial(spec.make, model) for spec in self.specs for model in spec.models}

    @property
    def sections(self) -> tuple[type[SettingsSection], ...]:
        """The settings that the families bring."""
        return tuple(spec.settings for spec in self.specs if spec.settings is not None)

    def spec(self, model: str) -> EngineSpec:
        """The family that a model belongs to."""
        found = next((spec for spec in self.specs if model in spec.models), None)
        if found is None:
            advice = did_you_mean(model, self.factories, f"known are {', '.join(self.factories)}.")
            raise UnknownModelError(f"There is no model {model[:80]!r}; {advice}", field="model")
        return found

    def bundle_of(self, model: str) -> str:
        """The name under which a model's files are pulled; a name of no model stands for itself."""
        return self.spec(model).bundle_of(model) if model in self.factories else model

    def absence(self, model: str, settings: Settings) -> str:
        """The reason why a model cannot be loaded, with the remedy; empty where its files are here."""
        spec = self.spec(model)
        if not spec.has_files(model, settings):
            return (
                f"The model {model!r} is not installed; run: {pull_hint(spec.bundle_of(model))}. If its files are "
                "elsewhere, add it to the setting 'models'."
            )
        try:
            spec.check_installed()
        except UnavailableError as error:
            return error.message
        return ""

    def outline(self, model: str, settings: Settings) -> ModelOutline:
        """Describe a model for lists before it is loaded; without voices where its package fails to."""
        spec = self.spec(model)
        try:
            return spec.outline(model, settings)
        except Exception:  # whatever a stranger's package raises, the lists show the other models
            log.exception("voices of the model %s cannot be listed before it is loaded", model)
            return spec.bare_outline(model)

    @property
    def first_to_clone(self) -> tuple[EngineSpec, str] | None:
        """The model to fetch where none is installed that clones, with its family; None where none does."""
        return next(((spec, spec.first_to_clone) for spec in self.specs if spec.first_to_clone), None)

    def recognize(self, folder: Path) -> ModelFolder | None:
        """The model that a folder holds, told from its files."""
        return next((found for spec in self.specs if (found := spec.recognize(folder)) is not None), None)

    def fittings(self) -> Iterator[VoiceFitting]:
        """The ways of fitting a voice to a recording, the preferred one first."""
        return (spec.fitting for spec in self.specs if spec.fitting is not None)

    def presets(self) -> Iterator[PresetVoices]:
        """Built-in voices that other families can borrow."""
        return (spec.presets for spec in self.specs if spec.presets is not None)


def _loaded(entry: EntryPoint) -> EngineSpec | None:
    try:
        spec = entry.load()
    except Exception:  # whatever a stranger's package raises, the server still serves the other models
        log.exception("engine %s left out: its package failed to load", entry.name)
        return None
    if not isinstance(spec, EngineSpec):
        log.warning("engine %s left out: its entry point is no EngineSpec", entry.name)
        return None
    return spec
