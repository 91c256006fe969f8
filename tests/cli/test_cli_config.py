"""`polyvox config` tells where each value came from."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polyvox.cli.main import app
from polyvox.installation import settings_loader


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured() -> dict[str, dict[str, object]]:
    result = CliRunner().invoke(app, ["config", "--json"])
    assert result.exit_code == 0, result.stderr
    return {row["name"]: row for row in json.loads(result.stdout)}


def test_every_setting_is_there_with_its_meaning() -> None:
    rows = configured()
    assert set(rows) == set(settings_loader().names())
    assert all(row["description"] for row in rows.values())


def test_each_value_names_its_source(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYVOX_PORT", "9999")
    (empty_folder / ".env").write_text("POLYVOX_MAX_QUEUE=7\n")
    (empty_folder / "polyvox.yaml").write_text("default_voice: bf_emma\n")
    rows = configured()
    assert (rows["port"]["value"], rows["port"]["source"]) == (9999, "environment")
    assert (rows["max_queue"]["value"], rows["max_queue"]["source"]) == (7, ".env")
    assert (rows["default_voice"]["value"], rows["default_voice"]["source"]) == ("bf_emma", "polyvox.yaml")
    assert rows["host"]["source"] == "default"


@pytest.mark.long
def test_keys_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYVOX_API_KEYS", "open sesame")
    assert "sesame" not in CliRunner().invoke(app, ["config", "--json"]).stdout
    assert "sesame" not in CliRunner().invoke(app, ["config"]).stdout


def test_the_table_shows_names_and_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(app, ["config"]).stdout
    assert "default_voice" in shown
    assert "af_heart" in shown


def test_a_setting_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYVOX_PORT", "many")
    result = CliRunner().invoke(app, ["config"])
    assert result.exit_code == 2
    assert "'port'" in result.stderr
