"""Files that are installed in another form than they are published in."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from helpers.random_networks import campplus_weights
from helpers.sample_bundle import CountingProgress, digest_of, hub_source
from helpers.tables import each_row
from helpers.torch_checkpoint import write_checkpoint
from polyvox.bundles.manifest import Derivation, Manifest, PypiSource
from polyvox.bundles.onnx_graphs.campplus import campplus_graph
from polyvox.bundles.pull import pull_manifest
from polyvox.errors import BundleError


def network_manifest(published: bytes, installed: bytes) -> Manifest:
    """A network that is published as weights and installed as a graph."""
    derived = {"build_graph": "campplus", **digest_of(installed)}
    return Manifest.model_validate(
        {
            "name": "network",
            "title": "A network",
            "version": "1",
            "licence": {"code": "MIT", "weights": "CC0-1.0"},
            "sources": [hub_source()],
            "files": {"model.onnx": {**digest_of(published), "derived": derived}},
        }
    )


def pull_network(manifest: Manifest, folder: Path, models_dir: Path) -> Path:
    bundle = pull_manifest(
        manifest, models_dir=models_dir, folder=folder, hub_url="http://127.0.0.1:9", progress=CountingProgress()
    )
    return bundle.file("model.onnx")


def test_a_network_that_is_published_as_weights_is_installed_as_a_graph(tmp_path):
    weights = campplus_weights()
    (tmp_path / "from").mkdir()
    published = write_checkpoint(tmp_path / "from" / "model.onnx", weights).read_bytes()
    graph = campplus_graph(weights)
    installed = pull_network(network_manifest(published, graph), tmp_path / "from", tmp_path / "models")
    assert installed.read_bytes() == graph


def test_a_graph_that_came_out_differently_is_not_installed(tmp_path):
    (tmp_path / "from").mkdir()
    published = write_checkpoint(tmp_path / "from" / "model.onnx", campplus_weights()).read_bytes()
    with pytest.raises(BundleError, match="gave another file than it should have"):
        pull_network(network_manifest(published, b"something else"), tmp_path / "from", tmp_path / "models")
    assert not (tmp_path / "models" / "network").exists()


@each_row(
    "ways",
    [
        {},
        {"build_graph": "nothing-known"},
        {"build_graph": "campplus", "declare_output": {"tensor": "/inner/sum", "name": "durations"}},
    ],
)
def test_a_file_is_derived_in_exactly_one_known_way(ways):
    with pytest.raises(ValidationError):
        Derivation.model_validate({**digest_of(b"x"), **ways})


@each_row(
    "tags",
    [
        {"python": "3.11 --index-url=x", "platform": "any"},
        {"python": "3.11", "platform": "any --extra"},
        {"python": "3.11", "platform": "-r"},
        {"python": "3.11"},
    ],
)
def test_wheel_tags_that_pip_could_take_for_something_else_are_refused(tags):
    source = {"kind": "pypi", "package": "p", "version": "1", "paths": {"a": "b"}, "archive": digest_of(b"x")}
    assert PypiSource.model_validate(source).wheel is None
    with pytest.raises(ValidationError):
        PypiSource.model_validate(source | {"wheel": tags})
