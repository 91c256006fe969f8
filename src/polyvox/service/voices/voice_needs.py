"""The models a server needs to make voices of recordings, and whether it has it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from polyvox.bundles.manifest import Manifest, manifest_named
from polyvox.bundles.validate import open_manifest
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.errors import BundleError, PolyvoxError
from polyvox.extras import TORCH, install_hint
from polyvox.service.registry.cloning_choice import CloningModel
from polyvox.service.voices.fit_worker import installed_fitting
from polyvox.service.voices.transcriber import ASR_BUNDLE


@dataclass(frozen=True, slots=True)
class MissingModel:
    """A model that can be fetched; its size is None where nobody knows it beforehand, and then at most `max_bytes`."""

    name: str
    title: str
    code_licence: str
    weights_licence: str
    bytes: int | None
    max_bytes: int

    @classmethod
    def of(cls, manifest: Manifest) -> "MissingModel":
        licence = manifest.licence
        sizes = manifest.download_bytes, manifest.max_download_bytes
        return cls(manifest.name, manifest.title, licence.code, licence.weights, *sizes)

    def public(self) -> dict[str, Any]:
        return {
            "model": self.name,
            "title": self.title,
            "licence": {"code": self.code_licence, "weights": self.weights_licence},
            "bytes": self.bytes,
            "max_bytes": self.max_bytes,
        }


@dataclass(frozen=True, slots=True)
class VoiceNeed:
    """One purpose: `transcribe`, `clone` or `fit`. It is served unless models are missing, or there is a reason.

    The reason is something that no pull mends. Cloning names the model that serves it.
    """

    purpose: str
    missing: tuple[MissingModel, ...] = ()
    reason: str = ""
    served_by: CloningModel | None = None

    def public(self) -> dict[str, Any]:
        return {
            "purpose": self.purpose,
            "ready": not self.missing and not self.reason,
            "missing": [each.public() for each in self.missing],
            "reason": self.reason or None,
            "model": None if self.served_by is None else self.served_by.name,
            "wordless": self.served_by is not None and self.served_by.wordless,
        }


def voice_needs(settings: Settings, cloning: CloningModel | None) -> list[VoiceNeed]:
    """The needs of each purpose; `cloning` is the model that clones, where there is one. Blocks."""
    return [
        VoiceNeed("transcribe", _missing([ASR_BUNDLE], settings)),
        _cloning(settings) if cloning is None else VoiceNeed("clone", served_by=cloning),
        _fitting(settings),
    ]


def _cloning(settings: Settings) -> VoiceNeed:
    """The lightest model that clones, with what it needs."""
    found = Catalog.installed().first_to_clone
    if found is None:
        return VoiceNeed("clone", reason="No installed engine clones voices.")
    spec, model = found
    try:
        spec.check_installed()
    except PolyvoxError as error:
        return VoiceNeed("clone", reason=error.message)
    return VoiceNeed("clone", _missing([spec.bundle_of(model)], settings))


def _fitting(settings: Settings) -> VoiceNeed:
    if not TORCH.installed:
        return VoiceNeed("fit", reason=f"Fitting a voice needs PyTorch; install it with: {install_hint('torch')}")
    try:
        return VoiceNeed("fit", _missing(installed_fitting().bundles, settings))
    except PolyvoxError as error:
        return VoiceNeed("fit", reason=error.message)


def _missing(names: Iterable[str], settings: Settings) -> tuple[MissingModel, ...]:
    manifests = [manifest_named(name) for name in names]
    return tuple(MissingModel.of(each) for each in manifests if not _installed(each, settings))


def _installed(manifest: Manifest, settings: Settings) -> bool:
    try:
        open_manifest(manifest, settings.models_dir)
    except BundleError:
        return False
    return True
