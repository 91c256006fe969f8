"""`polyvox models`, `pull` and `voices`."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from helpers.tables import each_row
from polyvox.bundles import pull as pulling
from polyvox.bundles.browser_bundle import open_browser_bundle
from polyvox.bundles.manifest import manifest_named, manifests
from polyvox.bundles.validate import Bundle
from polyvox.cli.main import app


def invoke(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_models_lists_state_licence_and_size(tmp_path: Path) -> None:
    result = invoke("models", "--models-dir", str(tmp_path), "--json")
    assert result.exit_code == 0, result.stderr
    kokoro = {row["name"]: row for row in json.loads(result.stdout)}["kokoro"]
    assert (kokoro["state"], kokoro["licence"]) == ("available", "Apache-2.0")
    assert kokoro["bytes"] == manifest_named("kokoro").bytes
    assert "polyvox pull kokoro" in kokoro["detail"]


def test_the_table_of_models_says_how_to_install_one(tmp_path: Path) -> None:
    shown = invoke("models", "--models-dir", str(tmp_path)).stdout
    assert "kokoro" in shown
    assert "polyvox pull NAME" in shown


def test_the_default_model_is_listed_first_and_no_name_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for terminal in ("0", "1"):
        monkeypatch.setenv("TTY_COMPATIBLE", terminal)
        shown = invoke("models", "--models-dir", str(tmp_path)).stdout
        names = [line.split()[0] for line in shown.splitlines()]
        assert names[1] == "wren"
        assert {manifest.name for manifest in manifests()} <= set(names)
        assert "…" not in shown
        assert "spoken by wren" in " ".join(shown.split())


def test_sizes_are_those_that_a_pull_would_fetch(tmp_path: Path) -> None:
    rows = {row["name"]: row for row in json.loads(invoke("models", "--models-dir", str(tmp_path), "--json").stdout)}
    published = sum(spec.bytes for spec in manifest_named("kokoro").files.values())
    assert rows["kokoro"]["download_bytes"] == rows["wren"]["download_bytes"] == published
    own = sum(spec.bytes for spec in manifest_named("cosyvoice3").files.values())
    assert rows["cosyvoice3"]["download_bytes"] == own + published, "with its companion"
    assert rows["zipvoice_distill"]["download_bytes"] is None, "the size of its weights is not known"


def test_a_folder_that_holds_something_else_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "kokoro").mkdir()
    result = invoke("models", "--models-dir", str(tmp_path), "--json")
    kokoro = {row["name"]: row for row in json.loads(result.stdout)}["kokoro"]
    assert kokoro["state"] == "damaged"


def test_check_of_what_is_not_installed_names_the_remedy(tmp_path: Path) -> None:
    result = invoke("models", "check", "kokoro", "--models-dir", str(tmp_path))
    assert result.exit_code == 1
    assert "polyvox pull kokoro" in result.stderr


@pytest.mark.slow
def test_check_of_an_installed_model(models_dir: Path) -> None:
    result = invoke("models", "check", "kokoro", "--models-dir", str(models_dir))
    assert result.exit_code == 0, result.stderr
    assert "is complete" in result.stdout


def test_pull_hands_on_the_folders_and_says_where_the_model_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = SimpleNamespace()

    def pulled(name: str, **options: object) -> Bundle:
        asked.name, asked.options = name, options
        return Bundle(manifest_named(name), tmp_path / name)

    monkeypatch.setattr(pulling, "pull", pulled)
    result = invoke("pull", "kokoro", "--from", str(tmp_path), "--models-dir", str(tmp_path / "models"))
    assert result.exit_code == 0, result.stderr
    assert asked.name == "kokoro"
    assert asked.options["folder"] == tmp_path
    assert asked.options["models_dir"] == tmp_path / "models"
    assert str(tmp_path / "kokoro") in result.stdout


def test_pull_of_an_unknown_model_names_the_known(tmp_path: Path) -> None:
    result = invoke("pull", "nobody", "--models-dir", str(tmp_path))
    assert result.exit_code == 1
    assert "kokoro" in result.stderr


def test_voices_lists_every_voice() -> None:
    result = invoke("voices", "--json")
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)) == 54


@each_row(("language", "count"), [("zh", 8), ("en", 28), ("en-GB", 8), ("pt_BR", 3)])
def test_voices_of_one_language(language: str, count: int) -> None:
    found = json.loads(invoke("voices", "--language", language, "--json").stdout)
    assert len(found) == count


def test_the_table_of_voices() -> None:
    shown = invoke("voices", "--language", "fr").stdout
    assert "ff_siwis" in shown
    assert "female" in shown


def test_an_unknown_language_and_an_unknown_model_are_refused() -> None:
    assert "choose one of" in invoke("voices", "--language", "tlh").stderr
    assert "There is no model 'nobody'" in invoke("voices", "--model", "nobody").stderr


def test_files_for_browsers_want_kokoro_and_a_voice_that_reads_text_there(tmp_path: Path) -> None:
    for options, message in (
        ((), "run: polyvox pull kokoro."),
        (("--voice", "zf_xiaobei"), "No voice 'zf_xiaobei' speaks in a browser; those are af_alloy,"),
    ):
        result = invoke("models", "browser", "--models-dir", str(tmp_path), *options)
        assert result.exit_code != 0
        assert message in result.stderr
        assert not (tmp_path / "browser").exists()


@pytest.mark.slow
def test_files_for_browsers_replace_older_ones_in_one_step(models_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "kokoro").symlink_to(models_dir / "kokoro")
    (tmp_path / "browser").mkdir()
    (tmp_path / "browser" / "older").touch()
    result = invoke("models", "browser", "--models-dir", str(tmp_path), "--voice", "af_heart")
    assert result.exit_code == 0, result.stderr
    bundle = open_browser_bundle(tmp_path)
    assert {path.relative_to(bundle.folder).as_posix() for path in bundle.folder.rglob("*") if path.is_file()} == {
        "manifest.json",
        *bundle.files,
    }
    assert [name for name in bundle.files if name.startswith("voices/")] == ["voices/af_heart.bin"]
