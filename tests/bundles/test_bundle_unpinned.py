"""Models of which no hash is known: what comes first is trusted and recorded, and nothing else passes after it."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from helpers.loopback_hub import LoopbackHub
from helpers.sample_bundle import FILES, REPOSITORY, digest_of, hub_source, sample_manifest
from helpers.silent_progress import SilentProgress
from helpers.tables import each_row
from polyvox.bundles.manifest import Manifest, Pinning, manifest_named, manifests
from polyvox.bundles.pinning import unpinned_notice
from polyvox.bundles.pull import pull as pull_by_name
from polyvox.bundles.pull import pull_manifest
from polyvox.bundles.record import read_record
from polyvox.bundles.validate import open_bundle, open_manifest, verify
from polyvox.cli.main import app
from polyvox.errors import BundleError

WEIGHTS, NAMES = b"weights" * 5_000, b"names"
MAIN = f"/{REPOSITORY}/resolve/main/"


def manifest(**changes: object) -> Manifest:
    content = {
        "name": "young_model",
        "title": "A model too young to be known",
        "version": "1",
        "licence": {"code": "MIT", "weights": "MIT"},
        "sources": [hub_source() | {"revision": "main", "paths": {"w.pt": "deep/w.pt", "n.txt": "deep/n.txt"}}],
        "unpinned": {"w.pt": {"max_bytes": 50_000}, "n.txt": {"max_bytes": 100}},
    }
    return Manifest.model_validate(content | changes)


def publish(hub: LoopbackHub, weights: bytes = WEIGHTS) -> None:
    hub.behaviour.files = {f"{MAIN}deep/w.pt": weights, f"{MAIN}deep/n.txt": NAMES}


def pull(models: Path, hub: LoopbackHub | None, folder: Path | None = None):
    url = hub.url if hub is not None else "http://127.0.0.1:9"
    return pull_manifest(manifest(), models_dir=models, folder=folder, hub_url=url, progress=SilentProgress())


def write_copy(folder: Path, weights: bytes = WEIGHTS) -> Path:
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "w.pt").write_bytes(weights)
    (folder / "n.txt").write_bytes(NAMES)
    return folder


def test_the_first_download_is_installed_and_recorded(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub)
    bundle = pull(tmp_path / "models", hub)
    assert bundle.file("w.pt").read_bytes() == WEIGHTS
    record = read_record(bundle.folder)
    assert record is not None
    assert record.files["w.pt"].sha256 == digest_of(WEIGHTS)["sha256"]
    assert open_manifest(manifest(), tmp_path / "models").manifest.bytes == len(WEIGHTS) + len(NAMES)
    verify(bundle, SilentProgress())
    assert sorted(path.name for path in (tmp_path / "models" / ".cache").iterdir()) == []


def test_a_second_pull_asks_nobody(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub)
    pull(tmp_path / "models", hub)
    asked = len(hub.behaviour.requests)
    pull(tmp_path / "models", hub)
    assert len(hub.behaviour.requests) == asked


def test_a_file_that_was_altered_since_is_refused(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub)
    bundle = pull(tmp_path / "models", hub)
    bundle.file("w.pt").write_bytes(WEIGHTS[:-1] + b"!")
    with pytest.raises(BundleError, match=r"w\.pt altered"):
        open_manifest(manifest(), tmp_path / "models")


def test_a_damaged_file_is_fetched_again_only_as_it_was(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub)
    bundle = pull(tmp_path / "models", hub)
    bundle.file("w.pt").unlink()
    publish(hub, b"other weights")
    with pytest.raises(BundleError, match="could not be fetched"):
        pull(tmp_path / "models", hub)
    publish(hub)
    assert pull(tmp_path / "models", hub).file("w.pt").read_bytes() == WEIGHTS


def test_a_folder_with_a_copy_will_do(tmp_path: Path) -> None:
    bundle = pull(tmp_path / "models", None, write_copy(tmp_path / "copy"))
    assert bundle.file("w.pt").read_bytes() == WEIGHTS


def test_a_file_over_its_limit_is_not_taken(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub, b"x" * 50_001)
    with pytest.raises(BundleError, match="larger than 50000 bytes"):
        pull(tmp_path / "models", hub)
    with pytest.raises(BundleError, match="could not be fetched"):
        pull(tmp_path / "models", None, write_copy(tmp_path / "copy", b"x" * 50_001))


def test_without_a_source_the_error_names_the_remedy(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.behaviour.files = {}
    with pytest.raises(BundleError, match=r"answers 404.*--from FOLDER"):
        pull(tmp_path / "models", hub)
    with pytest.raises(BundleError, match="is not installed"):
        open_manifest(manifest(), tmp_path / "models")


def test_a_broken_connection_is_taken_up_again(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub)
    hub.behaviour.cut_after = [10_000, 5_000]
    assert pull(tmp_path / "models", hub).file("w.pt").read_bytes() == WEIGHTS


def test_a_part_of_an_earlier_pull_is_not_built_upon(hub: LoopbackHub, tmp_path: Path) -> None:
    publish(hub, b"old" * 10_000)
    hub.behaviour.cut_after = [6_000, 0]
    with pytest.raises(BundleError):
        pull(tmp_path / "models", hub)
    publish(hub)
    assert pull(tmp_path / "models", hub).file("w.pt").read_bytes() == WEIGHTS


@each_row(
    "changes",
    [
        {"unpinned": {}},
        {"files": {"w.pt": digest_of(WEIGHTS)}},
        {"sources": [hub_source() | {"revision": "dev", "paths": {"w.pt": "w.pt", "n.txt": "n.txt"}}]},
        {"unpinned": {"w.pt": {"max_bytes": 0}, "n.txt": {"max_bytes": 1}}},
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(changes: dict) -> None:
    with pytest.raises(ValidationError):
        manifest(**changes)


def test_known_hashes_need_a_known_commit() -> None:
    content = sample_manifest().model_dump(mode="json")
    content["sources"][0]["revision"] = "main"
    with pytest.raises(ValidationError):
        Manifest.model_validate(content)
    assert FILES.keys() == sample_manifest().files.keys()


@each_row("name", ["zipvoice", "zipvoice_distill", "zipvoice_dialog", "zipvoice_dialog_stereo"])
def test_the_zipvoice_family_is_pulled_from_its_own_repository(name: str) -> None:
    shipped = manifest_named(name)
    assert shipped.sources[0].path_of("model.pt") == f"{name}/model.pt"
    assert {*shipped.files, *shipped.unpinned} == {"model.json", "model.pt", "tokens.txt"}


def test_the_codec_language_model_brings_its_codec(tmp_path: Path, loose_manifests: None) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors", "pytorch_model.bin"):
        (copy / name).write_text(name)
    pull_by_name(
        "speechlm",
        models_dir=tmp_path / "models",
        folder=copy,
        hub_url="http://127.0.0.1:9",
        progress=SilentProgress(),
    )
    assert (tmp_path / "models" / "speechlm" / "tokenizer.json").is_file()
    assert (tmp_path / "models" / "neucodec" / "pytorch_model.bin").is_file()


def test_a_model_brings_those_it_needs(tmp_path: Path, loose_manifests: None) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("model.json", "model.pt", "tokens.txt", "pytorch_model.bin"):
        (copy / name).write_text(name)
    pull_by_name(
        "zipvoice",
        models_dir=tmp_path / "models",
        folder=copy,
        hub_url="http://127.0.0.1:9",
        progress=SilentProgress(),
    )
    assert open_bundle("vocos", tmp_path / "models").file("pytorch_model.bin").read_text() == "pytorch_model.bin"
    assert open_bundle("zipvoice", tmp_path / "models").file("model.pt").read_text() == "model.pt"


SHIPPED = {
    Pinning.SHA256: {
        *("campplus", "cosyvoice2", "cosyvoice3", "distillmos", "dnsmos", "kokoro", "moonshine-base", "moonshine-tiny"),
        *("neucodec", "perth", "vocos", "w2v-bert", "whisper-base"),
    },
    Pinning.COMMIT: {
        *("zipvoice", "zipvoice-onnx", "zipvoice_distill", "zipvoice_distill-onnx"),
        *("pockettts", "pockettts-open", "pockettts-18m", "pockettts-7m", "pockettts-2m"),
        *("pockettts-de", "pockettts-es", "pockettts-fr", "pockettts-it", "pockettts-nl", "pockettts-pt"),
    },
    Pinning.NONE: {
        *("chatterbox", "chatterbox-multilingual", "chatterbox-turbo", "chatterbox-nano"),
        *(
            "cosyvoice1",
            "cosyvoice1-instruct",
            "cosyvoice1-sft",
            "qwen3tts-0.6b",
            "qwen3tts-0.6b-custom-voice",
            "qwen3tts-1.7b",
            "qwen3tts-1.7b-custom-voice",
            "qwen3tts-1.7b-voice-design",
            "speechlm",
            "zipvoice_dialog",
            "zipvoice_dialog_stereo",
        ),
    },
}


def test_it_is_known_how_far_each_shipped_model_is_pinned() -> None:
    found: dict[Pinning, set[str]] = {pinning: set() for pinning in Pinning}
    for shipped in manifests():
        found[shipped.pinning].add(shipped.name)
    assert found == SHIPPED


def test_only_what_is_not_wholly_pinned_is_named_before_it_is_pulled() -> None:
    notices = {shipped.name: unpinned_notice(shipped) for shipped in manifests()}
    assert {name for name, notice in notices.items() if notice is None} == SHIPPED[Pinning.SHA256]
    assert "3 of its files have no known hash; it follows main" in notices["speechlm"]
    assert "1 of its files have no known hash; they come from commit 4ed45fb6e7e9," in notices["zipvoice_distill-onnx"]


def test_the_command_says_so_of_a_model_and_of_what_it_needs(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loose_manifests: None
) -> None:
    monkeypatch.setenv("POLYVOX_HUB_URL", hub.url)
    refused = CliRunner().invoke(app, ["pull", "zipvoice", "--models-dir", str(tmp_path)])
    assert refused.exit_code == 1
    assert [line.split(" is ")[0] for line in refused.stdout.splitlines() if "is unpinned: " in line] == [
        "vocos",
        "zipvoice",
    ]


def test_the_list_of_models_says_it_of_each(tmp_path: Path) -> None:
    listed = CliRunner().invoke(app, ["models", "--models-dir", str(tmp_path), "--json"])
    rows = {row["name"]: row["pinned"] for row in json.loads(listed.stdout)}
    assert (rows["vocos"], rows["zipvoice"], rows["speechlm"]) == ("sha256", "commit", "none")
    assert (
        "by its sha256; or by the commit" in CliRunner().invoke(app, ["models", "--models-dir", str(tmp_path)]).stdout
    )


def test_a_hub_must_send_the_published_file_but_a_folder_may_hold_another(hub: LoopbackHub, tmp_path: Path) -> None:
    files = {"w.pt": {"max_bytes": 50_000, "published": digest_of(WEIGHTS)}, "n.txt": {"max_bytes": 100}}
    known = manifest(unpinned=files)

    def pulled(models: Path, folder: Path | None = None) -> bytes:
        options = {"models_dir": models, "folder": folder, "hub_url": hub.url, "progress": SilentProgress()}
        return pull_manifest(known, **options).file("w.pt").read_bytes()

    publish(hub, b"other" * 7_000)
    with pytest.raises(BundleError, match="could not be fetched"):
        pulled(tmp_path / "refused")
    publish(hub)
    assert pulled(tmp_path / "models") == WEIGHTS
    own = write_copy(tmp_path / "copy", b"my own export")
    assert pulled(tmp_path / "own", own) == b"my own export"
    assert open_manifest(known, tmp_path / "own").file("w.pt").read_bytes() == b"my own export"


def test_files_may_come_from_a_commit_without_a_known_hash(hub: LoopbackHub, tmp_path: Path) -> None:
    fixed = manifest(sources=[hub_source() | {"paths": {"w.pt": "w.pt", "n.txt": "n.txt"}}])
    assert fixed.pinning is Pinning.COMMIT
    hub.behaviour.files = {"w.pt": WEIGHTS, "n.txt": NAMES}
    options = {"models_dir": tmp_path, "folder": None, "hub_url": hub.url, "progress": SilentProgress()}
    assert pull_manifest(fixed, **options).file("w.pt").read_bytes() == WEIGHTS
