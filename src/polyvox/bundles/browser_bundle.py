"""The browser bundle: the files with which a browser speaks without a server, in the folder of models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from polyvox.bundles.install import ModelsFolder, move_in
from polyvox.bundles.manifest import Digest, FileName
from polyvox.errors import BundleError

FOLDER: Final = "browser"
MANIFEST: Final = "manifest.json"
EXPORT_COMMAND: Final = "polyvox models browser"
_MAX_BYTES: Final = 1 << 20


class _Manifest(BaseModel):
    """The part of a manifest that the server needs; the browser reads the rest."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    files: dict[FileName, Digest]


@dataclass(frozen=True, slots=True)
class BrowserBundle:
    """An exported browser bundle; browsers check the contents of its files."""

    folder: Path
    manifest: bytes
    files: Mapping[str, Digest]

    @property
    def bytes(self) -> int:
        return sum(digest.bytes for digest in self.files.values())


def open_browser_bundle(models_dir: Path) -> BrowserBundle:
    """The bundle in the folder of models; BundleError names the command that exports one."""
    folder = models_dir / FOLDER
    try:
        with (folder / MANIFEST).open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise BundleError(
            f"This server has no files yet with which a browser speaks; on the server, run: {EXPORT_COMMAND}."
        ) from None
    try:
        if len(content) > _MAX_BYTES:
            raise ValueError("too large")
        files = _Manifest.model_validate_json(content).files
    except (ValidationError, ValueError) as error:
        raise BundleError(
            f"The files with which a browser speaks are damaged; on the server, run: {EXPORT_COMMAND}."
        ) from error
    return BrowserBundle(folder, content, files)


def export_browser_bundle(models_dir: Path, write: Callable[[Path], None]) -> BrowserBundle:
    """Let `write` fill a folder, and put that into the folder of models in one step, in place of an older one."""
    models = ModelsFolder(models_dir)
    try:
        with models.locked() as work:
            stage = work / FOLDER
            stage.mkdir()
            write(stage)
            move_in(stage, models)
    except OSError as error:
        raise BundleError(
            f"The files with which a browser speaks cannot be written to the folder of models ({error.strerror}); free "
            f"the disk or mend its permissions, then run: {EXPORT_COMMAND}."
        ) from error
    return open_browser_bundle(models_dir)
