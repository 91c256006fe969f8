"""The workers of `make test`: they lose no test, outcome or fixture's end, and keep apart what is to run alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from helpers.forked_workers import ForkedWorkers

def pytest_configure(config):
    config.pluginmanager.register(ForkedWorkers(config, 2))
"""
MIXED = """
import os, signal, warnings
import pytest

def test_passes(tmp_path):
    (tmp_path / "file").touch()

def test_kills_its_worker():
    os.kill(os.getpid(), signal.SIGKILL)

def test_after_the_killed():
    warnings.warn("a warning of a worker")

@pytest.mark.skip(reason="a reason of a worker")
def test_skipped():
    pass
"""
SHARED = """
import pytest
from pathlib import Path

@pytest.fixture(scope="session")
def opened():
    yield
    Path("ended").touch()

def test_fails(opened):
    print("output of a worker")
    assert 1 == 2

def test_passes(opened, tmp_path):
    assert not Path("ended").exists()
"""
ALONE = """
import pytest
from pathlib import Path

@pytest.mark.alone
def test_passes_when_all_others_have_ended():
    assert Path("ended").exists()
"""
LONE = "def test_passes():\n    pass\n"
LATE = """
import time
from pathlib import Path

def test_late():
    Path(__file__ + ".ran").touch()
    time.sleep(0.1)
"""


def run(folder: Path, files: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    for name, text in (files | {"conftest.py": CONFTEST, "pytest.ini": "[pytest]\nmarkers = alone\n"}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.long
def test_every_outcome_is_reported_also_of_a_file_whose_worker_was_killed(tmp_path: Path) -> None:
    files = {"test_1.py": ALONE, "test_mixed.py": MIXED, "test_shared.py": SHARED, "test_lone.py": LONE}
    ran = run(tmp_path, files)
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout
    assert "2 failed, 5 passed, 1 skipped, 1 warning in" in ran.stdout
    assert "FAILED test_mixed.py::test_kills_its_worker - the worker that ran it ended wi" in ran.stdout
    for told in ("assert 1 == 2", "output of a worker", "a warning of a worker", "a reason of a worker"):
        assert told in ran.stdout
    assert (tmp_path / "ended").exists()
    assert ran.stderr == ""


@pytest.mark.long
def test_no_file_is_begun_after_a_failure_that_ends_the_run(tmp_path: Path) -> None:
    files = {"test_00.py": "def test_fails(): assert 0\n"} | {f"test_{number:02}.py": LATE for number in range(1, 40)}
    ran = run(tmp_path, files, "-x")
    assert "stopping after 1 failures" in ran.stdout
    assert len([*tmp_path.glob("*.ran")]) < 39
    assert ran.stderr == ""


@pytest.mark.long
def test_threads_files_and_what_cannot_be_collected_are_refused(tmp_path: Path) -> None:
    for name, text, refusal in (
        ("thread", "import threading, time\nthreading.Thread(target=time.sleep, args=[1]).start()", "started a thread"),
        ("opened", "OPENED = open(__file__)", "left files open"),
        ("broken", "raise OSError('broken')", "1 error during collection"),
    ):
        folder = tmp_path / name / "tests"
        folder.mkdir(parents=True)
        ran = run(folder.parent, {"tests/test_1.py": text, "tests/test_2.py": LONE, "tests/test_3.py": LONE})
        assert ran.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        assert refusal in ran.stdout
        assert "passed" not in ran.stdout
