import errno
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from helpers.loopback_hub import LoopbackHub
from helpers.sample_bundle import (
    FILES,
    HUB_PATHS,
    REPOSITORY,
    CountingProgress,
    as_digest,
    extended_graph_bytes,
    graph_bytes,
    sample_manifest,
    write_files,
)
from helpers.silent_progress import SilentProgress
from polyvox.bundles import install as install_module
from polyvox.bundles import pull as pull_module
from polyvox.bundles.install import ModelsFolder
from polyvox.bundles.manifest import Manifest
from polyvox.bundles.pull import pull, pull_manifest
from polyvox.bundles.validate import Bundle, open_manifest, verify
from polyvox.errors import BundleError, InvalidRequestError, UnknownModelError

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


def fetch(
    models: Path, *, folder: Path | None = None, hub_url: str = NOWHERE, manifest: Manifest | None = None
) -> Bundle:
    return pull_manifest(
        manifest or sample_manifest(), models_dir=models, folder=folder, hub_url=hub_url, progress=SilentProgress()
    )


def record_of(bundle: Bundle) -> dict:
    return json.loads((bundle.folder / "bundle.json").read_text())


def origins(bundle: Bundle) -> dict[str, str]:
    return {name: entry["source"] for name, entry in record_of(bundle)["files"].items()}


def test_a_model_comes_from_the_hub(models, hub: LoopbackHub):
    bundle = fetch(models, hub_url=hub.url)
    verify(bundle, SilentProgress())
    assert set(origins(bundle).values()) == {f"hub {REPOSITORY}"}


@pytest.mark.parametrize("layout", [None, HUB_PATHS], ids=["as the bundle", "as the hub"])
def test_a_model_comes_from_a_given_folder_without_any_network(models, tmp_path, layout):
    bundle = fetch(models, folder=write_files(tmp_path / "given", layout))
    verify(bundle, SilentProgress())
    assert set(origins(bundle).values()) == {"folder"}


def test_an_installed_bundle_of_another_machine_is_a_good_folder(models, tmp_path):
    first = fetch(models, folder=write_files(tmp_path / "given"))
    second = fetch(tmp_path / "elsewhere", folder=first.folder)
    verify(second, SilentProgress())


def test_the_given_folder_is_copied_and_never_changed(models, tmp_path):
    given = write_files(tmp_path / "given")
    bundle = fetch(models, folder=given)
    bundle.file("voices/one.bin").write_bytes(b"scribbled over")
    assert {name: (given / name).read_bytes() for name in FILES} == FILES


def test_what_a_folder_lacks_comes_from_the_next_source(models, tmp_path, hub: LoopbackHub):
    given = write_files(tmp_path / "given")
    (given / "voices/one.bin").unlink()
    (given / "voices/two.bin").write_bytes(b"not the voice")
    bundle = fetch(models, folder=given, hub_url=hub.url)
    assert origins(bundle) == {
        "model.onnx": "folder",
        "voices/one.bin": f"hub {REPOSITORY}",
        "voices/two.bin": f"hub {REPOSITORY}",
    }


def test_the_hub_clients_own_cache_saves_the_download(models, tmp_path, hub: LoopbackHub):
    blobs = tmp_path / "hub-cache" / f"models--{REPOSITORY.replace('/', '--')}" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / as_digest(FILES["voices/one.bin"]).sha256).write_bytes(FILES["voices/one.bin"])
    bundle = fetch(models, hub_url=hub.url)
    assert origins(bundle)["voices/one.bin"] == "hub cache"
    assert all("one.bin" not in path for path, _ in hub.behaviour.requests)


def test_a_pull_goes_on_with_what_an_earlier_one_downloaded(models, hub: LoopbackHub):
    complete = dict(hub.behaviour.files)
    del hub.behaviour.files[HUB_PATHS["voices/two.bin"]]
    with pytest.raises(BundleError, match=r"1 of its files are missing, such as voices/two\.bin"):
        fetch(models, hub_url=hub.url)
    hub.behaviour.files, hub.behaviour.requests = complete, []
    bundle = fetch(models, hub_url=hub.url)
    assert origins(bundle)["voices/one.bin"] == "downloaded before"
    assert [path.rsplit("/")[-1] for path, _ in hub.behaviour.requests] == ["two.bin"]


def test_a_damaged_download_in_the_cache_is_fetched_again(models, hub: LoopbackHub):
    del hub.behaviour.files[HUB_PATHS["voices/two.bin"]]
    with pytest.raises(BundleError):
        fetch(models, hub_url=hub.url)
    (models / ".cache" / as_digest(FILES["voices/one.bin"]).sha256).write_bytes(b"x" * len(FILES["voices/one.bin"]))
    hub.behaviour.files[HUB_PATHS["voices/two.bin"]] = FILES["voices/two.bin"]
    verify(fetch(models, hub_url=hub.url), SilentProgress())


def test_pulling_an_intact_model_touches_no_source(models, hub: LoopbackHub):
    before = fetch(models, hub_url=hub.url)
    hub.behaviour.requests.clear()
    inode = before.folder.stat().st_ino
    after = fetch(models, hub_url=hub.url)
    assert hub.behaviour.requests == []
    assert after.folder.stat().st_ino == inode


def test_a_damaged_model_is_repaired_with_only_what_is_damaged(models, hub: LoopbackHub):
    bundle = fetch(models, hub_url=hub.url)
    bundle.file("voices/one.bin").write_bytes(b"x" * len(FILES["voices/one.bin"]))
    hub.behaviour.requests.clear()
    repaired = fetch(models, hub_url=hub.url)
    verify(repaired, SilentProgress())
    assert [path.rsplit("/")[-1] for path, _ in hub.behaviour.requests] == ["one.bin"]


def test_a_newer_version_replaces_an_older_one(models, hub: LoopbackHub):
    fetch(models, hub_url=hub.url)
    newer = sample_manifest(version="2")
    verify(fetch(models, hub_url=hub.url, manifest=newer), SilentProgress())
    assert record_of(open_manifest(newer, models))["version"] == "2"


def test_a_pull_that_fails_leaves_the_installed_model_alone(models, hub: LoopbackHub):
    fetch(models, hub_url=hub.url)
    (models / "sample" / "voices/one.bin").unlink()
    hub.behaviour.files.clear()
    with pytest.raises(BundleError):
        fetch(models, hub_url=hub.url, manifest=sample_manifest(version="2"))
    assert (models / "sample" / "voices/two.bin").read_bytes() == FILES["voices/two.bin"]


def test_a_finished_pull_leaves_nothing_but_the_bundle(models, hub: LoopbackHub):
    bundle = fetch(models, hub_url=hub.url)
    assert sorted(path.name for path in models.iterdir()) == [".cache", ".lock", "sample"]
    assert list((models / ".cache").iterdir()) == []
    found = {path.relative_to(bundle.folder).as_posix() for path in bundle.folder.rglob("*") if path.is_file()}
    assert found == {"bundle.json", *FILES}


def test_the_record_tells_what_was_installed(models, hub: LoopbackHub):
    record = record_of(fetch(models, hub_url=hub.url))
    assert (record["name"], record["version"]) == ("sample", "1")
    model = record["files"]["model.onnx"]
    assert model["sha256"] == as_digest(extended_graph_bytes()).sha256
    assert model["published_sha256"] == as_digest(graph_bytes()).sha256
    assert record["files"]["voices/one.bin"]["published_sha256"] is None


def test_an_installed_graph_has_the_declared_output_and_computes_the_same(models, tmp_path):
    bundle = fetch(models, folder=write_files(tmp_path / "given"))
    session = onnxruntime.InferenceSession(bundle.file("model.onnx"))
    x = np.array([1.0, 2.0, 3.0], np.float32)
    y, durations = session.run(["y", "durations"], {"x": x})
    np.testing.assert_array_equal(durations, x + x)
    np.testing.assert_array_equal(y, onnxruntime.InferenceSession(graph_bytes()).run(None, {"x": x})[0])


def test_without_any_source_the_error_says_what_was_tried_and_what_to_do(models):
    with pytest.raises(BundleError, match=r"3 of its files .*no answer.*run `polyvox pull sample --from FOLDER`"):
        fetch(models)
    assert not (models / "sample").exists()


def test_a_folder_that_is_not_there_is_named(models, tmp_path):
    with pytest.raises(InvalidRequestError, match="is not a folder") as caught:
        fetch(models, folder=tmp_path / "nowhere")
    assert caught.value.field == "folder"


def test_an_unknown_model_is_refused_before_anything_is_written(models):
    with pytest.raises(UnknownModelError):
        pull("nobody", models_dir=models, folder=None, hub_url=NOWHERE, progress=SilentProgress())
    assert not models.exists()


def test_a_full_disk_is_explained(models, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(install_module, "link_or_copy", full)
    with pytest.raises(BundleError, match=r"No space left on device.*POLYVOX_MODELS_DIR"):
        fetch(models, folder=write_files(tmp_path / "given"))
    assert not (models / "sample").exists()


def test_a_file_system_without_links_gets_copies(models, tmp_path, monkeypatch):
    def refuse(*args):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("polyvox.bundles.cache.os.link", refuse)
    verify(fetch(models, folder=write_files(tmp_path / "given")), SilentProgress())


def test_what_a_killed_pull_left_behind_is_swept(models, tmp_path):
    for leftover in (".staging/sample/voices", ".staging/scratch", ".replaced/sample"):
        (models / leftover).mkdir(parents=True)
        (models / leftover / "half").write_bytes(b"x")
    fetch(models, folder=write_files(tmp_path / "given"))
    assert sorted(path.name for path in models.iterdir()) == [".cache", ".lock", "sample"]


def test_a_client_of_a_killed_pull_that_still_writes_is_no_obstacle(models, tmp_path, monkeypatch):
    busy = models / ".staging" / "of-a-killed-pull" / "scratch"
    busy.mkdir(parents=True)
    remove = shutil.rmtree

    def disturbed(path):
        (busy / f"more-{len(list(busy.iterdir()))}").write_bytes(b"x")
        raise OSError(errno.ENOTEMPTY, "Directory not empty")

    monkeypatch.setattr(install_module.shutil, "rmtree", disturbed)
    verify(fetch(models, folder=write_files(tmp_path / "given")), SilentProgress())
    monkeypatch.setattr(install_module.shutil, "rmtree", remove)
    fetch(models)
    assert not (models / ".staging").exists()


def test_a_bundle_that_had_stepped_aside_comes_back(models, tmp_path):
    bundle = fetch(models, folder=write_files(tmp_path / "given"))
    (models / ".replaced").mkdir()
    bundle.folder.rename(models / ".replaced" / "sample")
    with ModelsFolder(models).locked():
        verify(open_manifest(bundle.manifest, models), SilentProgress())


def test_a_move_that_fails_puts_the_old_bundle_back(models, tmp_path, monkeypatch):
    old = fetch(models, folder=write_files(tmp_path / "given"))
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if ".staging" in path.parts:
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(BundleError, match="Input/output error"):
        fetch(models, manifest=sample_manifest(version="2"))
    verify(open_manifest(old.manifest, models), SilentProgress())


def test_an_intact_model_in_a_folder_that_cannot_be_written_is_good(models, tmp_path, monkeypatch):
    fetch(models, folder=write_files(tmp_path / "given"))
    monkeypatch.setattr("polyvox.bundles.pull.os.access", lambda path, mode: False)
    monkeypatch.setattr(ModelsFolder, "locked", lambda self: pytest.fail("must not be written"))
    assert fetch(models).file("model.onnx").is_file()


def test_a_model_folder_that_is_a_link_is_replaced_and_its_target_left_alone(models, tmp_path):
    bundle = fetch(models, folder=write_files(tmp_path / "given"))
    elsewhere = tmp_path / "elsewhere"
    shutil.move(bundle.folder, elsewhere)
    (models / "sample").symlink_to(elsewhere)
    fetch(models, manifest=sample_manifest(version="2"))
    assert not (models / "sample").is_symlink()
    assert (elsewhere / "bundle.json").is_file()


def test_pulls_at_the_same_time_wait_for_each_other(models, hub: LoopbackHub):
    with ThreadPoolExecutor(4) as pool:
        pulls = [pool.submit(fetch, models, hub_url=hub.url) for _ in range(4)]
    for one in pulls:
        verify(one.result(), SilentProgress())
    assert len(hub.behaviour.requests) == len(FILES)


def test_the_watcher_sees_each_byte_once(models, hub: LoopbackHub):
    progress = CountingProgress()
    pull_manifest(sample_manifest(), models_dir=models, folder=None, hub_url=hub.url, progress=progress)
    total = sum(len(content) for content in FILES.values())
    assert progress.tasks == [(f"Fetching hub {REPOSITORY}", total)]
    assert progress.done == [total]


def test_a_companion_is_fetched_with_its_model_and_done_without_where_it_cannot_be(models, hub, monkeypatch):
    main, other = sample_manifest(), sample_manifest().model_copy(update={"name": "other"})
    shipped = {"sample": main.model_copy(update={"name": "sample", "companions": ("other",)}), "other": other}
    monkeypatch.setattr(pull_module, "manifest_named", shipped.__getitem__)
    options = {"models_dir": models, "folder": None, "progress": SilentProgress()}
    assert pull("sample", hub_url=hub.url, **options).folder.is_dir()
    assert (models / "other").is_dir()
    shutil.rmtree(models / "other")
    monkeypatch.setattr(pull_module, "pull_manifest", partial(only_for, "sample", pull_module.pull_manifest))
    assert pull("sample", hub_url=NOWHERE, **options).folder.is_dir()
    assert not (models / "other").exists()


def only_for(name: str, pulled, manifest: Manifest, **options) -> Bundle:
    if manifest.name != name:
        raise BundleError("The hub is not there.")
    return pulled(manifest, **options)
