"""`polyvox languages` says what is missing and how to get it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polyvox.cli.main import app
from polyvox.text.phonemes import availability


def listed(*options: str) -> str:
    result = CliRunner().invoke(app, ["languages", *options])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_languages_without_espeak_name_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(availability, "find_library", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = {row["language"]: row for row in json.loads(listed("--json"))}
    assert len(rows) == 9
    assert rows["en-us"] == {"language": "en-us", "available": True, "needs": ""}
    assert rows["hi"]["available"] is False
    assert "pip install -e '.[espeak]'" in rows["hi"]["needs"]
    monkeypatch.setenv("COLUMNS", "200")
    assert "pip install -e '.[espeak]'" in listed()
    assert "GPL-3.0" in listed()
