"""Models that are on two hubs: the one that is chosen is asked, at the addresses that are its own."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from helpers.loopback_hub import LoopbackHub
from helpers.silent_progress import SilentProgress
from polyvox.bundles.manifest import HubSource, Manifest, manifest_named
from polyvox.bundles.pull import pull, pull_manifest
from polyvox.cli.main import app
from polyvox.engines.cosyvoice.bundle import open_model
from polyvox.errors import BundleError

COSYVOICE2 = "/models/iic/CosyVoice2-0.5B/resolve/master/"
COSYVOICE3 = "/models/FunAudioLLM/Fun-CosyVoice3-0.5B-2512/resolve/master/"
ON_HUGGING_FACE = "/FunAudioLLM/Fun-CosyVoice3-0.5B-2512/resolve/main/"


def publish(hub: LoopbackHub, place: str, name: str) -> None:
    hub.behaviour.files = {f"{place}{file}": file.encode() * 9 for file in manifest_named(name).unpinned}


@pytest.mark.long
@pytest.mark.parametrize(("name", "place"), [("cosyvoice2", COSYVOICE2), ("cosyvoice3", COSYVOICE3)])
@pytest.mark.usefixtures("loose_manifests")
def test_modelscope_is_asked_at_its_own_addresses(hub: LoopbackHub, tmp_path: Path, name: str, place: str) -> None:
    publish(hub, place, name)
    bundle = pull(name, models_dir=tmp_path, folder=None, hub_url=hub.url, progress=SilentProgress(), hub="modelscope")
    assert bundle.folder == tmp_path / name
    assert bundle.file("flow.pt").read_bytes() == b"flow.pt" * 9
    assert sorted(path for path, _ in hub.behaviour.requests) == sorted(hub.behaviour.files)


@pytest.mark.long
@pytest.mark.usefixtures("loose_manifests")
def test_the_other_hub_is_not(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub, ON_HUGGING_FACE, "cosyvoice3")
    with pytest.raises(BundleError, match="modelscope FunAudioLLM/Fun-CosyVoice3"):
        pull(
            "cosyvoice3",
            models_dir=tmp_path,
            folder=None,
            hub_url=hub.url,
            progress=SilentProgress(),
            hub="modelscope",
        )
    assert {path.startswith(COSYVOICE3) for path, _ in hub.behaviour.requests} == {True}
    assert pull("cosyvoice3", models_dir=tmp_path, folder=None, hub_url=hub.url, progress=SilentProgress()).folder


@pytest.mark.long
@pytest.mark.usefixtures("loose_manifests")
def test_the_command_takes_the_hub_that_is_named(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(hub, COSYVOICE3, "cosyvoice3")
    monkeypatch.setenv("POLYVOX_MODELSCOPE_URL", hub.url)
    command = ["pull", "cosyvoice3", "--models-dir", str(tmp_path), "--hub", "modelscope"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "CosyVoice 3" in done.output


@pytest.mark.parametrize("version", [2, 3])
def test_a_manifest_names_all_that_the_engine_needs(tmp_path: Path, version: int) -> None:
    (tmp_path / f"cosyvoice{version}.yaml").write_text("{}")
    with pytest.raises(BundleError, match="lacks") as refused:
        open_model(tmp_path)
    needed = refused.value.message.partition(" lacks ")[2].partition(";")[0].split(", ")
    assert {*needed, f"cosyvoice{version}.yaml"} == set(manifest_named(f"cosyvoice{version}").files)


def test_each_hub_has_a_branch_of_its_own_name() -> None:
    paths = {"a": "a"}
    with pytest.raises(ValidationError, match="no branch 'main'"):
        HubSource(kind="modelscope", repository="a/b", revision="main", paths=paths)
    with pytest.raises(ValidationError, match="no branch 'master'"):
        HubSource(kind="hub", repository="a/b", revision="master", paths=paths)


def test_a_model_that_is_on_one_hub_only_says_so_of_the_other(hub: LoopbackHub, tmp_path: Path) -> None:
    one = Manifest.model_validate(
        {
            "name": "young_model",
            "title": "A model on one hub",
            "version": "1",
            "licence": {"code": "MIT", "weights": "MIT"},
            "sources": [{"kind": "hub", "repository": "a/b", "revision": "main", "paths": {"w": "w"}}],
            "unpinned": {"w": {"max_bytes": 9}},
        }
    )
    with pytest.raises(BundleError, match="no source had them"):
        pull_manifest(
            one, models_dir=tmp_path, folder=None, hub_url=hub.url, progress=SilentProgress(), hub="modelscope"
        )
    assert hub.behaviour.requests == []
