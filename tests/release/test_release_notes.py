"""A release says what the changelog says of it, and a tag that does not fit its tree makes none."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
CHANGELOG = """# Changelog

## Unreleased

### Added

- A thing.

## 0.2.0 - 2027-01-02

### Fixed

- A fault.

## 0.1.0 - 2026-11-15

First.
"""
RELEASED = CHANGELOG.replace("### Added\n\n- A thing.\n\n", "")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


notes = script("release_notes")
release = script("release")


def test_a_section_ends_where_the_next_version_begins() -> None:
    assert notes.section(CHANGELOG, "Unreleased") == "### Added\n\n- A thing."
    assert notes.section(CHANGELOG, "0.2.0") == "### Fixed\n\n- A fault."
    assert notes.section(CHANGELOG, "0.1.0") == "First."
    assert notes.section(CHANGELOG, "0.1") == ""


def test_a_tagged_commit_has_the_changes_of_its_version() -> None:
    made = notes.release_of("0.2.0", "abc", "v0.2.0", RELEASED)
    assert (made.title, made.changes) == ("Polyvox 0.2.0", "### Fixed\n\n- A fault.")


def test_any_other_commit_is_a_snapshot_with_what_is_unreleased() -> None:
    made = notes.release_of("0.2.0", "abc-dirty", "", CHANGELOG)
    assert (made.title, made.changes) == ("Polyvox 0.2.0, snapshot of abc-dirty", "### Added\n\n- A thing.")


def test_a_tag_that_does_not_fit_is_refused_with_the_fix() -> None:
    for version, commit, tag, changelog, fix in (
        ("0.2.0", "abc", "v0.3.0", RELEASED, "set __version__ to 0.3.0"),
        ("0.2.0", "abc-dirty", "v0.2.0", RELEASED, "commit or remove the changes"),
        ("0.2.0", "abc", "v0.2.0", CHANGELOG, "has unreleased changes"),
        ("0.3.0", "abc", "v0.3.0", RELEASED, "has no heading '## 0.3.0 - DATE'"),
    ):
        with pytest.raises(notes.ReleaseError, match=fix):
            notes.release_of(version, commit, tag, changelog)


def test_the_checkout_itself_makes_a_snapshot_of_its_changes() -> None:
    made = notes.this_release("")
    assert made.commit
    assert made.changes.startswith("### ")


def test_the_notes_say_what_is_left_out_and_every_file_has_its_sum(tmp_path: Path) -> None:
    (tmp_path / "polyvox-0.2.0.tgz").write_bytes(b"chart")
    made = notes.release_of("0.2.0", "abc", "v0.2.0", RELEASED)
    release.write_notes(made, tmp_path, "There is no docker.")
    text = (tmp_path / "NOTES.md").read_text()
    assert "The image's archive is not part of it. There is no docker." in text
    assert "- A fault." in text
    sums = dict(line.split("  ")[::-1] for line in (tmp_path / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == {"polyvox-0.2.0.tgz", "NOTES.md"}
    assert sums["polyvox-0.2.0.tgz"] == hashlib.sha256(b"chart").hexdigest()


def test_without_docker_and_buildah_the_image_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    made = notes.release_of("0.2.0", "abc", "v0.2.0", RELEASED)
    assert "no docker" in release.archive_image(made, tmp_path)
    assert list(tmp_path.iterdir()) == []
