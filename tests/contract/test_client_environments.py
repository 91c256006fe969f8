"""The environments of real clients, and how their scripts are run."""

import re
from pathlib import Path

import pytest

from helpers.client_environment import run_client
from helpers.tables import each_row

REQUIREMENTS = sorted((Path(__file__).parents[1] / "clients").glob("requirements-*.txt"))
PINS = [
    (file.stem.removeprefix("requirements-"), *re.fullmatch(r"([a-z-]+)(?:\[[a-z,]+\])?==([\d.]+)", line).groups())
    for file in REQUIREMENTS
    for line in file.read_text(encoding="utf-8").splitlines()
]


def failure(how: str, **options: float) -> str:
    with pytest.raises(pytest.fail.Exception) as failed:
        run_client("sdks", "environment_probe.py", "mcp", how, **options)
    return str(failed.value)


@each_row(("environment", "package", "version"), PINS)
def test_every_environment_has_the_versions_that_its_requirements_pin(environment, package, version):
    assert run_client(environment, "environment_probe.py", package, "")["version"] == version


def test_a_script_inherits_neither_keys_nor_python_paths(monkeypatch):
    for name in ("OPENAI_API_KEY", "PYTHONPATH", "HTTP_PROXY", "POLYVOX_API_KEYS"):
        monkeypatch.setenv(name, "/nowhere")
    seen = run_client("sdks", "environment_probe.py", "mcp", "")["variables"]
    assert not {"OPENAI_API_KEY", "PYTHONPATH", "HTTP_PROXY", "POLYVOX_API_KEYS"} & set(seen)
    assert "HOME" in seen


@each_row(("how", "said"), [("crash", "ended with 3"), ("mute", "JSON object as the last line")])
def test_a_script_that_fails_shows_what_it_wrote(how, said):
    message = failure(how)
    assert said in message
    assert "a word for whoever looks for the fault" in message
    assert "not the result" in message


def test_a_script_that_hangs_is_ended_and_shows_what_it_wrote():
    message = failure("hang", timeout=1.5)
    assert "did not end within 1.5 s" in message
    assert "a word for whoever looks for the fault" in message


def test_a_missing_environment_fails_the_test_and_says_how_to_make_it(monkeypatch, tmp_path):
    monkeypatch.setenv("POLYVOX_CLIENT_ENVS", str(tmp_path))
    assert "run make clients" in failure("")
