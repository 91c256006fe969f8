"""What the trials cost, as one table at the end of a run and as JSON: the figures that each `Toll.check` prints."""

import json
from pathlib import Path
from typing import Any

import pytest

_FIGURES = ('{"growth_mb"', '{"crash_points"')
_COLUMNS = {
    "trial": 74,
    "outcome": 8,
    "seconds": 8,
    "growth_mb": 10,
    "health_p99_ms": 14,
    "health_idle_p99_ms": 19,
    "requests": 9,
    "crash_points": 13,
}


class AttackReport:
    """Plugin that collects the figures of every trial; a trial that is not watched has its outcome and its time."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._rows: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        row = {"trial": _short(report.nodeid), "outcome": report.outcome, "seconds": round(report.duration, 1)}
        tolls = [json.loads(line) for line in report.capstdout.splitlines() if line.startswith(_FIGURES)]
        self._rows += [row | toll for toll in tolls] or [row]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("what each trial cost others")
        terminalreporter.line("".join(name.rjust(width) for name, width in _COLUMNS.items()))
        for row in self._rows:
            terminalreporter.line("".join(str(row.get(name, "")).rjust(width) for name, width in _COLUMNS.items()))
        if self._file is not None:
            self._file.write_text(json.dumps(self._rows, indent=2) + "\n", encoding="utf-8")


def _short(nodeid: str) -> str:
    """The subject of the file and the name of the test."""
    file, _, name = nodeid.partition("::")
    subject = Path(file).stem.removeprefix("test_faults_").removeprefix("test_load_")
    return f"{subject}: {name.removeprefix('test_')}"
