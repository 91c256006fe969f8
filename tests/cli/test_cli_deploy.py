"""`polyvox deploy init` writes a file that Serve's own reader takes."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from polyvox.cli.main import app


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_serves_the_models_that_were_named(empty_folder: Path) -> None:
    result = CliRunner().invoke(app, ["deploy", "init", "-m", "cosyvoice2", "-m", "kokoro"])
    assert result.exit_code == 0, result.stderr
    [application] = yaml.safe_load((empty_folder / "ray.yaml").read_text())["applications"]
    assert application["import_path"] == "polyvox.deploy.ray:app"
    assert application["args"]["settings"]["models"] == ["cosyvoice2", "kokoro"]
    assert list(application["args"]["engines"]) == ["cosyvoice2", "kokoro"]


def test_an_existing_file_is_overwritten_only_with_force(empty_folder: Path) -> None:
    kept = empty_folder / "mine.yaml"
    kept.write_text("mine\n")
    result = CliRunner().invoke(app, ["deploy", "init", "mine.yaml"])
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert kept.read_text() == "mine\n"
    assert CliRunner().invoke(app, ["deploy", "init", "mine.yaml", "--force"]).exit_code == 0
    assert "polyvox.deploy.ray:app" in kept.read_text()
