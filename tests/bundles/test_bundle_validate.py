import json
import os
from pathlib import Path

import pytest

from helpers.sample_bundle import FILES, CountingProgress, sample_manifest, write_files
from helpers.silent_progress import SilentProgress
from polyvox.bundles import validate
from polyvox.bundles.pull import pull_manifest
from polyvox.bundles.validate import Bundle, open_bundle, open_manifest, verify
from polyvox.errors import BundleError, UnknownModelError


@pytest.fixture
def installed(tmp_path: Path) -> Bundle:
    source = write_files(tmp_path / "given")
    return pull_manifest(
        sample_manifest(),
        models_dir=tmp_path / "models",
        folder=source,
        hub_url="http://127.0.0.1:9",
        progress=SilentProgress(),
    )


def _reopen(bundle: Bundle) -> Bundle:
    return open_manifest(bundle.manifest, bundle.folder.parent)


def _overwrite(path: Path, content: bytes, *, keep_time: bool = False) -> None:
    before = path.stat()
    path.write_bytes(content)
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))


def _flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that opening a bundle hashes."""
    seen: list[str] = []
    original = validate.holds

    def spy(path, digests):
        seen.append(path.name)
        return original(path, digests)

    monkeypatch.setattr(validate, "holds", spy)
    return seen


def test_an_installed_bundle_opens_and_knows_its_files(installed):
    bundle = _reopen(installed)
    assert bundle.file("voices/one.bin").read_bytes() == FILES["voices/one.bin"]
    assert bundle.manifest.sample_rate == 24000


def test_a_bundle_has_no_files_but_those_of_its_manifest(installed):
    for name in ("../../etc/passwd", "bundle.json", "/etc/passwd", "voices"):
        with pytest.raises(BundleError, match="has no file"):
            installed.file(name)


def test_opening_hashes_nothing_while_sizes_and_times_stand(installed, hashed):
    _reopen(installed)
    assert hashed == []


def test_a_touched_file_is_hashed_once_and_remembered(installed, hashed):
    os.utime(installed.file("voices/one.bin"), ns=(0, 12345))
    _reopen(installed)
    _reopen(installed)
    assert hashed == ["one.bin"]


def test_a_touched_file_in_a_folder_that_cannot_be_written_is_hashed_each_time(installed, hashed, monkeypatch):
    def refuse(self, folder):
        raise PermissionError("read-only file system")

    monkeypatch.setattr(validate.BundleRecord, "write", refuse)
    os.utime(installed.file("voices/one.bin"), ns=(0, 12345))
    _reopen(installed)
    _reopen(installed)
    assert hashed == ["one.bin", "one.bin"]


def test_a_model_that_was_never_installed_names_the_command(tmp_path):
    with pytest.raises(BundleError, match=r"'kokoro' is not installed in .*; run: polyvox pull kokoro\."):
        open_bundle("kokoro", tmp_path)


def test_an_unknown_model_is_not_looked_for_on_disk(tmp_path):
    with pytest.raises(UnknownModelError):
        open_bundle("../models", tmp_path)


def test_a_missing_file_is_named(installed):
    installed.file("voices/one.bin").unlink()
    with pytest.raises(BundleError, match=r"lacks voices/one\.bin; run: polyvox pull sample"):
        _reopen(installed)


def test_a_file_cut_short_is_named(installed):
    _overwrite(installed.file("voices/two.bin"), FILES["voices/two.bin"][:-1], keep_time=True)
    with pytest.raises(BundleError, match=r"holds voices/two\.bin altered or cut short; run: polyvox pull sample"):
        _reopen(installed)


def test_an_altered_file_of_the_same_size_is_named(installed):
    _overwrite(installed.file("voices/two.bin"), _flipped(FILES["voices/two.bin"]))
    with pytest.raises(BundleError, match=r"holds voices/two\.bin altered"):
        _reopen(installed)


def test_the_published_graph_in_place_of_the_installed_one_is_refused(installed):
    _overwrite(installed.file("model.onnx"), FILES["model.onnx"])
    with pytest.raises(BundleError, match=r"model\.onnx altered"):
        _reopen(installed)


def test_missing_and_altered_files_are_named_in_one_sentence(installed):
    installed.file("voices/one.bin").unlink()
    _overwrite(installed.file("voices/two.bin"), b"x")
    with pytest.raises(BundleError, match=r"lacks voices/one\.bin and holds voices/two\.bin altered"):
        _reopen(installed)


def test_verify_finds_what_opening_trusts(installed):
    _overwrite(installed.file("voices/two.bin"), _flipped(FILES["voices/two.bin"]), keep_time=True)
    bundle = _reopen(installed)
    with pytest.raises(BundleError, match=r"voices/two\.bin altered"):
        verify(bundle, SilentProgress())


def test_verify_reports_every_byte(installed):
    progress = CountingProgress()
    verify(installed, progress)
    assert progress.tasks == [("Checking sample", installed.manifest.bytes)]
    assert progress.done == [installed.manifest.bytes]


def test_verify_names_a_file_that_vanished_since(installed):
    installed.file("voices/one.bin").unlink()
    with pytest.raises(BundleError, match=r"lacks voices/one\.bin"):
        verify(installed, SilentProgress())


def test_a_bundle_of_another_version_is_not_used(installed):
    with pytest.raises(BundleError, match=r"holds sample 1, but this release needs sample 2; run: polyvox pull sample"):
        open_manifest(sample_manifest(version="2"), installed.folder.parent)


@pytest.mark.parametrize("content", [b"", b"{}", b"nonsense", b'{"name": "sample", "version": "1"}', b"\xff\xfe"])
def test_a_broken_record_is_refused(installed, content):
    (installed.folder / "bundle.json").write_bytes(content)
    with pytest.raises(BundleError, match=r"not a record that Polyvox wrote; run: polyvox pull sample"):
        _reopen(installed)


def test_a_huge_record_is_not_parsed(installed):
    (installed.folder / "bundle.json").write_bytes(b" " * (5 << 20))
    with pytest.raises(BundleError, match="not a record"):
        _reopen(installed)


def test_a_record_that_vouches_for_another_content_does_not_help(installed):
    path = installed.folder / "bundle.json"
    record = json.loads(path.read_text())
    altered = installed.file("voices/one.bin")
    _overwrite(altered, _flipped(FILES["voices/one.bin"]))
    record["files"]["voices/one.bin"] |= {"sha256": "0" * 64, "mtime_ns": altered.stat().st_mtime_ns}
    path.write_text(json.dumps(record))
    with pytest.raises(BundleError, match=r"voices/one\.bin altered"):
        _reopen(installed)
