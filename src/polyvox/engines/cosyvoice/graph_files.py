"""A folder of exported ONNX graphs, and the manifest beside them that tells whether they belong to a model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyvox.bundles.disk import sha256_of
from polyvox.bundles.manifest import FileName, Sha256
from polyvox.engines.cosyvoice.bundle import CosyVoiceBundle
from polyvox.errors import BundleError

MANIFEST = "graphs.json"
ESTIMATOR, TOKEN_ENCODER, VOCODER = "estimator", "token_encoder", "vocoder"
INT8 = "_int8"
_LARGEST_MANIFEST = 1 << 20
_SOURCES = ("flow", "hift")
_SPAN = re.compile(r"from_(\d+)_to_(\d+)")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GraphEntry(_Strict):
    """One graph: its file, and its inputs with their shapes, in which a name stands for a length that varies."""

    file: FileName
    sha256: Sha256
    bytes: int = Field(gt=0)
    inputs: Mapping[str, tuple[int | str, ...]]


class GraphManifest(_Strict):
    """Manifest of exported graphs: the weights that they are made from, and the release that made them."""

    format: Literal[1] = 1
    model: str
    polyvox: str
    opset: int
    sources: Mapping[str, Sha256]
    """Hashes of the files of weights."""
    graphs: Mapping[str, GraphEntry]


@dataclass(frozen=True, slots=True)
class CacheInput:
    """A cache that is an input of a graph."""

    name: str
    shape: tuple[int | str, ...]

    def start(self, batch: int) -> tuple[int, ...]:
        """The shape at the start of a stream."""
        return tuple(each if isinstance(each, int) else _start_length(each, batch) for each in self.shape)


def _start_length(name: str, batch: int) -> int:
    if name == "batch":
        return batch
    span = context_span(name)
    return span[0] if span else 0


def context_span(name: str) -> tuple[int, int] | None:
    """The first and the later length of a context that is shorter at the start of a stream, by its name."""
    found = _SPAN.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else None


@dataclass(frozen=True, slots=True)
class GraphFiles:
    """Exported graphs that belong to a model."""

    folder: Path
    manifest: GraphManifest
    remedy: str = "export the model again"
    """For graphs that are missing or damaged."""

    def path(self, name: str) -> Path:
        """A graph's file; BundleError where it is not the one that was exported."""
        entry, path = self.entry(name), self.folder / self.entry(name).file
        if not path.is_file() or path.stat().st_size != entry.bytes or sha256_of(path) != entry.sha256:
            raise BundleError(f"{path} is missing or damaged; {self.remedy}.")
        return path

    def entry(self, name: str) -> GraphEntry:
        if name not in self.manifest.graphs:
            raise BundleError(f"{self.folder} holds no graph {name!r}; {self.remedy}.")
        return self.manifest.graphs[name]

    def caches(self, name: str) -> Sequence[CacheInput]:
        """The numbered cache inputs of a graph, in their order."""
        inputs = self.entry(name).inputs
        return [CacheInput(each, shape) for each, shape in inputs.items() if each.startswith("cache_")]

    def cache(self, name: str, each: str) -> CacheInput:
        """One cache of a graph by its name."""
        return CacheInput(each, self.entry(name).inputs[each])


def source_hashes(bundle: CosyVoiceBundle) -> dict[str, str]:
    """The hashes of the weights that graphs are made from."""
    return {part: sha256_of(bundle.weights_file(part)) for part in _SOURCES}


def _made_from(sources: Mapping[str, str], bundle: CosyVoiceBundle) -> bool:
    """Return whether these are the hashes of a model's weights, or of what its weights were converted from."""
    return sources.keys() == set(_SOURCES) and all(
        digest in bundle.weights_hashes(part) for part, digest in sources.items()
    )


def open_graphs(folder: Path, bundle: CosyVoiceBundle) -> GraphFiles:
    """The graphs in a folder; BundleError where there are none, or where they were made from other weights."""
    path, model = folder / MANIFEST, f"cosyvoice{bundle.version}"
    remedy = f"run `polyvox models export {bundle.folder} --output {folder}`"
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_MANIFEST)
        manifest = GraphManifest.model_validate_json(content)
    except OSError as error:
        raise BundleError(f"There are no ONNX graphs in {folder}; {remedy}.") from error
    except ValidationError as error:
        raise BundleError(f"{path} cannot be read by this release; {remedy}.") from error
    if manifest.model != model or not _made_from(manifest.sources, bundle):
        raise BundleError(
            f"The ONNX graphs in {folder} were made from other weights than those in {bundle.folder}; {remedy}."
        )
    return GraphFiles(folder, manifest, remedy)
