"""EngineSpec: everything the rest of the server knows about a family of models before one is loaded.

A family is one folder with a `spec.py` that holds an `EngineSpec`, and one line in `catalog.py`; or a package of its
own that names the `EngineSpec` under the entry-point group `polyvox.engines`. A `spec.py` imports nothing heavy: the
engine, and PyTorch with it, is imported by the factories.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from polyvox.config import Settings, SettingsSection
from polyvox.engines.kit.tuning import Tuning
from polyvox.errors import NotServedError
from polyvox.extras import install_hint
from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.engines.base import Engine

EngineFactory = Callable[[Settings], "Engine"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """A Python module that a family needs, and the extra of this package that installs it."""

    module: str
    extra: str
    title: str
    """The module as people call it, such as PyTorch."""

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model found in a folder: its name, and the settings that load it from there, by their full names."""

    model: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class VoiceFitting:
    """The program with which a family fits one of its voices to a recording, in a process of its own.

    `worker` is a module that is run as a program; `engines/kit/fit_protocol.py` says what it reads and writes.
    """

    model: str
    worker: str
    bundles: tuple[str, ...]
    """Installed models that a fit needs."""


@dataclass(frozen=True, slots=True)
class BrowserExport:
    """The export of a family's model for browsers, where the page's own script speaks with it."""

    bundle: str
    """The installed model that it is made from."""
    voices: tuple[str, ...]
    """The voices that speak text there."""
    write: Callable[[Path, Path, Sequence[str]], None]
    """Write the files of some voices from the model's folder to another, which has a manifest of them in the end."""


@dataclass(frozen=True, slots=True)
class PresetPrompt:
    """A built-in voice, and the sentence that it speaks as a prompt for other engines."""

    voice: str
    transcript: str
    language: str
    fallback: str
    """A sentence in American English, for where the language cannot be read."""
    recording: Path | None = None
    """The voice speaking `transcript`, where that comes with the package: its model is not needed then."""


@dataclass(frozen=True, slots=True)
class PresetVoices:
    """Built-in voices that every engine which clones can borrow: the model speaks a prompt in them."""

    model: str
    names: tuple[str, ...]
    find: Callable[[str], PresetPrompt | None]
    """The prompt for a name or a mix of names; None where it is none of these voices."""


class FolderCheck(Protocol):
    """Compare the files of a model's folder with what they should be."""

    def __call__(self, folder: Path, settings: Settings) -> Sequence[str]:
        """One line a finding; `BundleError` where the folder cannot be used."""


@dataclass(frozen=True, slots=True)
class FolderTools:
    """Tools of `polyvox models` for a folder of this family; None where it cannot."""

    check: FolderCheck | None = None
    convert: Callable[[Path], Sequence[Path]] | None = None
    """Write the weights as safetensors; returns the files written."""
    export: Callable[[Path, Path | None, bool], Sequence[Path]] | None = None
    """Write ONNX graphs from one folder to another, in 8-bit precision too if asked; returns the files written.

    Without the other folder, to where the engine looks for them; `InvalidRequestError` where it has no such place."""
    locate: Callable[[str, Settings], Path | None] | None = None
    """The folder of one of the family's models by its name, or None for the one in the folder of models."""


@dataclass(frozen=True, slots=True)
class ModelOutline:
    """A model as lists show it before it is loaded: its built-in voices, its languages, and where voices come from."""

    voices: Sequence[Voice] = ()
    languages: frozenset[str] = frozenset()
    cloning: bool = False
    wordless: bool = False
    """True if it clones without a transcript."""
    voice_design: bool = False
    first_to_clone: bool = False
    """True if it is the one to fetch where a server has none that clones."""


def _no_voices(_model: str, _settings: Settings) -> Sequence[Voice]:
    return ()


def _no_folder(_: Path) -> ModelFolder | None:
    return None


def _always(_: Settings) -> bool:
    return True


def _holds(models: bool | frozenset[str], model: str) -> bool:
    """Return whether a model is one of these; True are all of a family, False none."""
    return models if isinstance(models, bool) else model in models


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One family of models."""

    family: str
    title: str
    models: Mapping[str, EngineFactory]
    """A factory for each model of the family, by the name that callers use."""
    languages: Mapping[str, frozenset[str]]
    """BCP 47 tags that each model speaks."""
    voices: Callable[[str, Settings], Sequence[Voice]] = _no_voices
    """The built-in voices of a model by its name, without loading it or importing anything heavy."""
    cloning: bool | frozenset[str] = False
    """True if its models clone voices; the names of those that do, where some do not."""
    wordless: bool | frozenset[str] = False
    """True if its models clone without a transcript; the names of those that do, where some do not."""
    first_to_clone: str = ""
    """Its model to fetch where a server has none that clones."""
    voice_design: frozenset[str] = frozenset()
    """Names of its models that make voices from descriptions."""
    settings: type[SettingsSection] | None = None
    tuning: type[Tuning] | None = None
    requires: tuple[Requirement, ...] = ()
    uses_gpu: Callable[[Settings], bool] = _always
    """True if a process of this family should be given a GPU where there is one."""
    threads_field: str | None = None
    """The field of its settings that bounds the CPU threads of one process."""
    device_field: str | None = None
    """The field of its settings that names the device it runs on."""
    precision_field: str | None = None
    """The field of its settings that names the precision of its networks; `float16` is one of its values."""
    recognize: Callable[[Path], ModelFolder | None] = _no_folder
    """Tell from its files whether a folder holds one of these models; `BundleError` for one that is not supported."""
    tools: FolderTools = field(default_factory=FolderTools)
    fitting: VoiceFitting | None = None
    presets: PresetVoices | None = None
    browser: BrowserExport | None = None
    bundles: Mapping[str, str] = field(default_factory=dict)
    """The installed model whose files a model uses, where that has another name."""

    def make(self, model: str, settings: Settings) -> "Engine":
        """Make the engine for one model; `NotServedError` names what has to be installed first."""
        self.check_installed()
        return self.models[model](settings)

    def outline(self, model: str, settings: Settings) -> ModelOutline:
        """Describe a model for lists before it is loaded; may read small files."""
        return replace(self.bare_outline(model), voices=tuple(self.voices(model, settings)))

    def bare_outline(self, model: str) -> ModelOutline:
        """The outline without voices, for which nothing is read."""
        return ModelOutline(
            (),
            self.languages[model],
            cloning=_holds(self.cloning, model),
            wordless=_holds(self.wordless, model),
            voice_design=model in self.voice_design,
            first_to_clone=model == self.first_to_clone,
        )

    def check_installed(self) -> None:
        """Raise `NotServedError` with the remedy where a module is missing."""
        for requirement in self.requires:
            if not requirement.installed:
                raise NotServedError(
                    f"{self.title} needs {requirement.title}; install it with: {install_hint(requirement.extra)}"
                )

    def bundle_of(self, model: str) -> str:
        """The name under which a model's files are pulled and installed."""
        return self.bundles.get(model, model)

    def has_files(self, model: str, settings: Settings) -> bool:
        """Return whether the files of a model are where its engine looks for them; they are not read."""
        chosen = None if self.tools.locate is None else self.tools.locate(model, settings)
        return (settings.models_dir / self.bundle_of(model) if chosen is None else chosen).is_dir()

    def with_threads(self, settings: Settings, threads: int) -> Settings:
        """The settings with this family bound to so many CPU threads, where it has such a setting."""
        return self._with(settings, self.threads_field, threads)

    def on_cpu(self, settings: Settings) -> Settings:
        """The settings with this family bound to the CPU, where it may choose its device."""
        if self.settings is None or self.device_field is None:
            return settings
        chosen = getattr(settings.section(self.settings), self.device_field)
        return self._with(settings, self.device_field, "cpu") if chosen == "auto" else settings

    def in_half_precision(self, settings: Settings) -> Settings | None:
        """The settings with this family in 16-bit floats; None where it has no such setting."""
        return None if self.precision_field is None else self._with(settings, self.precision_field, "float16")

    def _with(self, settings: Settings, name: str | None, value: object) -> Settings:
        if self.settings is None or name is None:
            return settings
        return settings.with_section(settings.section(self.settings).model_copy(update={name: value}))
