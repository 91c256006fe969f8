"""A store loses nothing that it acknowledged: not to SIGKILL at a line or moment, not to eight processes at once."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.store_workers import PROCESSES, FolderTrial, check_all_at_once, run_workers

pytestmark = pytest.mark.slow

REGISTRATIONS = 1_000
MOMENTS = 60


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: SIGKILL leaves the same behind there, and no disk is waited for."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield Path(folder)


def test_killed_at_lines_of_its_code_it_keeps_what_it_acknowledged_and_sweeps_what_is_left(memory_folder, scale):
    """At every third line that runs: most run several times, and so are met; `--attack` takes every line."""
    report = run_workers(f"lines={1 if scale > 1 else 3}", memory_folder)
    assert report["code"] == 0
    assert report["lines"] > 200


def test_killed_at_any_moment_it_keeps_what_it_acknowledged_and_sweeps_what_is_left(memory_folder):
    report = run_workers(f"moments={MOMENTS}", memory_folder)
    assert report["killed"] > MOMENTS // 4


def test_a_thousand_registrations_from_eight_processes(memory_folder):
    report = run_workers(f"at-once={REGISTRATIONS}", memory_folder)
    assert report["codes"] == [0] * PROCESSES
    check_all_at_once(FolderTrial(memory_folder), REGISTRATIONS)
