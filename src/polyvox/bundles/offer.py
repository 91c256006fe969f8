"""A model that can be fetched, in words: its title, licence and size."""

from polyvox.bundles.manifest import Manifest, manifest_named
from polyvox.errors import UnknownModelError

_UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))


def offer(name: str) -> str:
    """Title, licence and size of a model by its name, for a sentence; empty where this release does not know it."""
    try:
        manifest = manifest_named(name)
    except UnknownModelError:
        return ""
    licence = manifest.licence
    return f"{manifest.title}; code {licence.code}, weights {licence.weights}; {_download(manifest)}"


def _download(manifest: Manifest) -> str:
    size = manifest.download_bytes
    return f"at most {_words(manifest.max_download_bytes)}" if size is None else _words(size)


def _words(size: int) -> str:
    unit, name = next(((unit, name) for unit, name in _UNITS if size >= unit), (1, "bytes"))
    return f"{size / unit:.3g} {name}"
