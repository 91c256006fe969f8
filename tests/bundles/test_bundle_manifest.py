import pytest
from pydantic import ValidationError

from helpers.sample_bundle import sample_manifest
from helpers.tables import each_row
from polyvox.bundles.manifest import HubSource, Manifest, manifest_named, manifests
from polyvox.errors import UnknownModelError


def test_every_shipped_manifest_reads_and_is_filed_under_its_name():
    shipped = manifests()
    names = [manifest.name for manifest in shipped]
    assert names == sorted(names)
    assert {"kokoro", "moonshine-base", "moonshine-tiny"} <= set(names)
    assert all(manifest_named(manifest.name) == manifest for manifest in shipped)


def test_kokoro_is_one_model_and_54_voices_of_one_shape():
    kokoro = manifest_named("kokoro")
    voices = {name: spec for name, spec in kokoro.files.items() if name.startswith("voices/")}
    assert len(voices) == 54
    assert set(kokoro.files) == {"model.onnx", *voices}
    assert {spec.bytes for spec in voices.values()} == {510 * 256 * 4}
    assert kokoro.sample_rate == 24000
    assert kokoro.licence.weights == "Apache-2.0"


def test_hub_comes_before_packages_and_is_pinned_to_a_commit():
    for manifest in manifests():
        kinds = [source.kind for source in manifest.sources]
        assert kinds == sorted(kinds, key=["hub", "modelscope", "npm", "pypi"].index)
        hubs = [source for source in manifest.sources if isinstance(source, HubSource)]
        assert all(len(source.revision) == 40 for source in hubs[:1]) or manifest.unpinned


@pytest.mark.long
@each_row("name", ["", "nobody", "../kokoro", "kokoro.yaml", "kokoro/../kokoro", "/etc/passwd"])
def test_an_unknown_name_is_refused_with_those_that_are_known(name):
    known = ", ".join(manifest.name for manifest in manifests())
    with pytest.raises(UnknownModelError, match=f"nown are {known}") as caught:
        manifest_named(name)
    assert caught.value.field == "model"


def test_a_source_maps_single_files_and_whole_folders():
    source = sample_manifest().sources[0]
    assert source.path_of("model.onnx") == "onnx/model_quantized.onnx"
    assert source.path_of("voices/one.bin") == "voices/one.bin"
    assert source.path_of("config.json") is None
    assert source.path_of("voices/deeper/one.bin") is None


def _changed(change) -> dict:
    content = sample_manifest().model_dump(mode="json")
    change(content)
    return content


def test_a_manifest_survives_the_way_to_plain_data_and_back():
    assert Manifest.model_validate(_changed(lambda content: None)) == sample_manifest()


@each_row(
    "name",
    ["/etc/passwd", "../up.bin", "voices/../../up.bin", "a\\b", "C:/x", "", ".", ".hidden", "a//b", "voices/", "a\nb"],
)
def test_a_file_name_that_could_leave_its_folder_is_refused(name):
    digest = {"sha256": "0" * 64, "bytes": 1}
    with pytest.raises(ValidationError):
        Manifest.model_validate(_changed(lambda content: content["files"].__setitem__(name, digest)))


@each_row("path", ["/etc/passwd", "../up.bin", "a\\b", ".git/config"])
def test_a_path_in_a_source_is_checked_as_well(path):
    with pytest.raises(ValidationError, match="not a plain relative name"):
        Manifest.model_validate(_changed(lambda content: content["sources"][0]["paths"].update({"model.onnx": path})))


@each_row(
    "change",
    [
        lambda content: content.update(surprise=1),
        lambda content: content.update(sample_rate="24000"),
        lambda content: content.update(sample_rate=0),
        lambda content: content.update(name="../sample"),
        lambda content: content.update(sources=[]),
        lambda content: content.update(files={}),
        lambda content: content["files"]["voices/one.bin"].update(sha256="abc"),
        lambda content: content["files"]["voices/one.bin"].update(bytes=0),
        lambda content: content["sources"][0].update(kind="ftp"),
        lambda content: content["sources"][0].update(repository="a/b/../c"),
        lambda content: content["sources"][0].update(revision="main"),
    ],
)
def test_a_manifest_is_strict(change):
    with pytest.raises(ValidationError):
        Manifest.model_validate(_changed(change))


def test_a_file_that_no_source_has_is_a_mistake():
    with pytest.raises(ValidationError, match=r"no source has 'voices/one\.bin'"):
        Manifest.model_validate(_changed(lambda content: content["sources"][0]["paths"].pop("voices/")))


def test_a_folder_must_map_to_a_folder():
    with pytest.raises(ValidationError, match="both be folders"):
        Manifest.model_validate(_changed(lambda content: content["sources"][0]["paths"].update({"voices/": "voices"})))


@each_row("package", ["--registry=x", "../x", "a b", "Upper", "@scope/", "x;y"])
def test_a_package_name_that_a_client_could_take_for_something_else_is_refused(package):
    source = {
        "kind": "npm",
        "package": package,
        "version": "1.0.0",
        "archive": {"sha256": "0" * 64, "bytes": 1},
        "paths": {"voices/": "package/voices/"},
    }
    with pytest.raises(ValidationError, match="package"):
        Manifest.model_validate(_changed(lambda content: content["sources"].append(source)))


def test_a_derived_file_is_installed_in_another_form_than_it_is_published():
    spec = sample_manifest().files["model.onnx"]
    assert spec.derived is not None
    assert [digest.sha256 for digest in spec.installed] == [spec.derived.sha256]
    assert [digest.sha256 for digest in spec.published] == [spec.sha256]
