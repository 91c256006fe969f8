"""`POLYVOX_` variables that no setting has: one readable line on standard error, whatever the command prints."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from helpers.fork_server import forked_python

WARNING = "POLYVOX_PROT has no effect: there is no such setting; did you mean POLYVOX_PORT?"


def polyvox(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("POLYVOX_")}
    command = [forked_python(), "-m", "polyvox", *arguments]
    return subprocess.run(
        command, cwd=folder, env=known | variables, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.long
def test_config_warns_once_and_its_output_stays_json(tmp_path: Path) -> None:
    result = polyvox(tmp_path, "config", "--json", POLYVOX_PROT="1")
    assert result.returncode == 0
    assert result.stderr == f"{WARNING}\n"
    assert json.loads(result.stdout)


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ("serve", "--port", "0", "--model", "kokoro", "--models-dir", "."),
        ("say", "Hi.", "-o", "-", "--models-dir", "."),
    ],
)
def test_serve_and_say_warn_once_before_anything_else(tmp_path: Path, command: tuple[str, ...]) -> None:
    result = polyvox(tmp_path, *command, POLYVOX_PROT="1")
    lines = result.stderr.splitlines()
    assert lines[0] == WARNING
    assert result.stderr.count("POLYVOX_PROT") == 1
    assert "polyvox pull kokoro" in lines[-1]
    assert result.stdout == ""


@pytest.mark.long
def test_variables_of_clients_and_of_the_yaml_file_are_known(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("port: 9000\n", encoding="utf-8")
    result = polyvox(tmp_path, "config", "--json", POLYVOX_API_KEY="sesame", POLYVOX_CONFIG="server.yaml")
    assert result.stderr == ""
