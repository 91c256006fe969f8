"""The command itself: help, errors in one line, exit codes."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polyvox import __version__
from polyvox.cli.main import app

HEAVY = ("numpy", "onnxruntime", "av", "fastapi", "httpx", "pydantic", "uvicorn", "jieba")


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


def test_help_names_every_command(runner: CliRunner) -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    for command in ("serve", "say", "voices", "models", "pull", "config", "bench"):
        assert command in result.stdout


def test_the_version_names_the_commit_where_it_is_known(runner: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    for commit, shown in (("0123456789ab", " (0123456789ab)"), ("", "")):
        monkeypatch.setattr("polyvox.revision.revision", lambda commit=commit: commit)
        assert runner.invoke(app, ["--version"]).stdout == f"polyvox {__version__}{shown}\n"


def test_no_command_imports_anything_heavy_before_it_runs() -> None:
    script = f"import sys, polyvox.cli.main; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.long
def test_help_comes_at_once() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "polyvox", "--help"], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime) < 1.0


def test_what_the_user_got_wrong_is_one_line_and_status_2(runner: CliRunner) -> None:
    result = runner.invoke(app, ["bench", "--url", "nonsense"])
    assert result.exit_code == 2
    assert result.stderr == "error: 'nonsense' is not a server's address; write it as http://HOST:PORT.\n"


def test_what_is_not_there_is_one_line_and_status_1(runner: CliRunner) -> None:
    result = runner.invoke(app, ["models", "check", "no-such-model"])
    assert result.exit_code == 1
    assert result.stderr.startswith("error: There is no model 'no-such-model'")
    assert result.stderr.count("\n") == 1


def test_a_file_that_cannot_be_read_is_one_line(runner: CliRunner, tmp_path: Path) -> None:
    result = runner.invoke(app, ["bench", "--texts", str(tmp_path / "absent.txt")])
    assert result.exit_code == 1
    assert result.stderr == f"error: {tmp_path / 'absent.txt'}: No such file or directory.\n"


@pytest.mark.long
def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "polyvox", "--debug", "bench", "--url", "nonsense"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "Traceback" in result.stderr
