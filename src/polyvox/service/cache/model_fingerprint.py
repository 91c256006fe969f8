"""Fingerprints of loaded models: the same for the same weights, voices and settings, and for nothing else."""

import asyncio
import hashlib
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from polyvox.bundles.record import RECORD_NAME, FileRecord, read_record
from polyvox.config import Settings
from polyvox.engines.base import Engine, SupportsFingerprint, SupportsLocation
from polyvox.engines.catalog import Catalog
from polyvox.errors import BundleError, UnknownModelError
from polyvox.service.voices.transcriber import ASR_BUNDLE


class ModelFingerprints:
    """The fingerprint of each model that is loaded, found once a load.

    It is made of the hashes of the model's files as they were installed, or of their sizes and times where they have
    changed since, and of the settings of all engines. A model whose files are not known has one of its own each time
    that it is loaded.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._found: dict[str, tuple[Engine, str]] = {}

    async def of(self, model: str, engine: Engine) -> str:
        known = self._found.get(model)
        if known is None or known[0] is not engine:
            known = self._found[model] = (engine, await asyncio.to_thread(self._fingerprint, model, engine))
        return known[1]

    def _fingerprint(self, model: str, engine: Engine) -> str:
        device = engine.location.device if isinstance(engine, SupportsLocation) else ""
        digest = hashlib.sha256(f"{model} {device}".encode())
        for section in sorted(self._settings.sections(), key=lambda each: each.section):
            digest.update(f"{section.section} {section.model_dump_json()}".encode())
            for value in dict(section).values():
                if isinstance(value, Path):
                    _add_files(digest, value)
        _add_files(digest, self._settings.models_dir / ASR_BUNDLE)  # which times words for models that do not
        if isinstance(engine, SupportsFingerprint):
            digest.update(engine.fingerprint.encode())
        elif not _add_files(digest, self._folder(model)):
            digest.update(secrets.token_bytes(16))
        return digest.hexdigest()

    def _folder(self, model: str) -> Path:
        try:
            spec = Catalog.installed().spec(model)
        except UnknownModelError:
            return self._settings.models_dir / model
        chosen = None if spec.tools.locate is None else spec.tools.locate(model, self._settings)
        return self._settings.models_dir / spec.bundle_of(model) if chosen is None else chosen


def _add_files(digest: "hashlib._Hash", path: Path) -> bool:
    """Add what identifies the files at a path; whether there are any."""
    known = _recorded(path)
    found = False
    for file in _files(path):
        state, name = file.stat(), str(file.relative_to(path)) if file != path else file.name
        record = known.get(name)
        same = record is not None and (record.bytes, record.mtime_ns) == (state.st_size, state.st_mtime_ns)
        identity = record.sha256 if same and record is not None else f"{state.st_size} {state.st_mtime_ns}"
        digest.update(f"{name} {identity}\n".encode())
        found = True
    return found


def _recorded(folder: Path) -> Mapping[str, FileRecord]:
    try:
        record = read_record(folder)
    except BundleError:
        return {}
    return {} if record is None else record.files


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.is_file() and file.name != RECORD_NAME)
