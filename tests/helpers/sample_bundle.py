"""A small model with everything a big one has: an ONNX graph to be extended, voices, and sources for both."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from polyvox.bundles.manifest import Digest, Manifest

REPOSITORY = "somebody/sample"
REVISION = "0" * 40


def graph_bytes() -> bytes:
    """y = (x + x) * x, whose inner sum is the tensor `/inner/sum`."""
    nodes = [helper.make_node("Add", ["x", "x"], ["/inner/sum"]), helper.make_node("Mul", ["/inner/sum", "x"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in ("x", "y"))
    graph = helper.make_graph(nodes, "sample", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString()


def extended_graph_bytes() -> bytes:
    """The same graph, followed by a message that merges a second output into it."""
    identity = NodeProto(op_type="Identity", input=["/inner/sum"], output=["durations"], name="declare_durations")
    output = helper.make_tensor_value_info("durations", TensorProto.FLOAT, None)
    patch = ModelProto(graph=GraphProto(node=[identity], output=[output]))
    return graph_bytes() + patch.SerializeToString(deterministic=True)


def voice_bytes(seed: int, size: int = 300_000) -> bytes:
    return np.random.default_rng(seed).bytes(size)


FILES = {
    "model.onnx": graph_bytes(),
    "voices/one.bin": voice_bytes(1),
    "voices/two.bin": voice_bytes(2),
}
HUB_PATHS = {
    "model.onnx": "onnx/model_quantized.onnx",
    "voices/one.bin": "voices/one.bin",
    "voices/two.bin": "voices/two.bin",
}


def digest_of(content: bytes) -> dict[str, object]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def hub_source() -> dict[str, object]:
    return {
        "kind": "hub",
        "repository": REPOSITORY,
        "revision": REVISION,
        "paths": {"model.onnx": "onnx/model_quantized.onnx", "voices/": "voices/"},
    }


def sample_manifest(version: str = "1", sources: list[dict[str, object]] | None = None) -> Manifest:
    derived = {"declare_output": {"tensor": "/inner/sum", "name": "durations"}, **digest_of(extended_graph_bytes())}
    files = {name: digest_of(content) for name, content in FILES.items()}
    files["model.onnx"]["derived"] = derived
    return Manifest.model_validate(
        {
            "name": "sample",
            "title": "A sample",
            "version": version,
            "licence": {"code": "MIT", "weights": "CC0-1.0"},
            "sample_rate": 24000,
            "sources": sources or [hub_source()],
            "files": files,
        }
    )


def write_files(folder: Path, layout: dict[str, str] | None = None) -> Path:
    """Lay the published files out in a folder, under the bundle's names or others."""
    for name, content in FILES.items():
        path = folder / (layout or {}).get(name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def as_digest(content: bytes) -> Digest:
    return Digest.model_validate(digest_of(content))


class CountingProgress:
    """Remembers the labels and how far each task came."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, int]] = []
        self.done: list[int] = []

    @contextmanager
    def task(self, label: str, total: int) -> Iterator["_Count"]:
        self.tasks.append((label, total))
        self.done.append(0)
        yield _Count(self, len(self.done) - 1)


class _Count:
    def __init__(self, progress: CountingProgress, index: int) -> None:
        self._progress, self._index = progress, index

    def __call__(self, count: int) -> None:
        self._progress.done[self._index] += count
