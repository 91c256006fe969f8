"""The benchmark of the server against the bare model."""

import io
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from rich.console import Console

from helpers.fork_server import forked_python
from polyvox.bench.bare import planned_calls
from polyvox.bench.engine import Check, as_table, bench_engine
from polyvox.bench.process import ServerProcess, cpu_seconds_of, server_process
from polyvox.bench.raw_http import connection_to, timed_request
from polyvox.bench.texts import PARAGRAPH
from polyvox.errors import PolyvoxError, UnavailableError
from polyvox.installation import load_settings


def test_a_check_is_the_median_of_its_rounds_against_its_limit() -> None:
    met = Check.of("ratio", "", [1.0, 1.2, 1.01], limit=1.05)
    assert (met.value, met.low, met.high, met.passed) == (1.01, 1.0, 1.2, True)
    assert not Check.of("ratio", "", [1.0, 1.2, 1.1], limit=1.05).passed
    assert Check.of("ratio", "", [9.0]).passed


def test_the_table_says_what_was_missed() -> None:
    page = io.StringIO()
    checks = [Check.of("one", "ms", [1.0], 2.0), Check.of("two", "ms", [3.0], 2.0), Check.of("three", "s/s", [0.5])]
    Console(width=80, file=page).print(as_table(checks))
    lines = page.getvalue().splitlines()
    assert any("one" in line and "1.00 ms" in line and "met" in line for line in lines)
    assert any("two" in line and "missed" in line for line in lines)
    assert not any("three" in line and "met" in line for line in lines)


@pytest.mark.long
def test_cpu_time_grows_with_work_and_not_with_sleep() -> None:
    began = cpu_seconds_of(os.getpid())
    time.sleep(0.2)
    rested = cpu_seconds_of(os.getpid())
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    worked = cpu_seconds_of(os.getpid())
    assert rested - began < 0.15
    assert worked - rested >= 0.28


def test_cpu_time_of_no_process_is_an_error() -> None:
    with pytest.raises(UnavailableError):
        cpu_seconds_of(2**30)


@pytest.mark.long
def test_a_server_that_does_not_start_gives_its_own_reason(tmp_path: Path) -> None:
    arguments = ["serve", "--port", "0", "--models-dir", str(tmp_path)]
    with (
        pytest.raises(UnavailableError, match="polyvox pull kokoro"),
        server_process(arguments, python=forked_python()),
    ):
        pass


@pytest.mark.long
def test_the_engine_that_costs_nothing_answers_over_one_line() -> None:
    marks: list[float] = []
    with (
        server_process(["bench", "null-server"], python=forked_python()) as server,
        connection_to(server.url) as line,
    ):
        for _ in range(3):
            timing = timed_request(
                line, PARAGRAPH, voice="null", model="null", on_first=lambda: marks.append(server.cpu_seconds())
            )
            assert timing.audio == 20.0
            assert 0 < timing.first <= timing.total
        with pytest.raises(PolyvoxError, match="404"):
            timed_request(line, PARAGRAPH, voice="null", model="no-such-model")
    assert len(marks) == 3


@pytest.mark.slow
def test_the_bare_model_is_given_the_calls_of_the_engine(models_dir: Path) -> None:
    calls = planned_calls(load_settings(models_dir=models_dir), PARAGRAPH)
    assert len(calls) > 1
    assert all(call.ids for call in calls)


def quick_server(arguments: list[str]) -> AbstractContextManager[ServerProcess]:
    """A server that is forked, unless its CPU time is read: that would be another process's."""
    python = {"python": forked_python()} if "null-server" in arguments else {}
    return server_process(arguments, **python)


@pytest.mark.slow
def test_every_figure_is_measured(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyvox.bench.engine.server_process", quick_server)
    monkeypatch.setattr("polyvox.bench.engine.PARAGRAPH", "Good evening. Come in.")
    monkeypatch.setenv("POLYVOX_FIRST_CHUNK_PHONEMES", "12")  # two chunks
    progress: list[str] = []
    checks = {check.name: check for check in bench_engine(load_settings(models_dir=models_dir), 1, 1, progress.append)}
    assert 0.5 < checks["server / bare model"].value < 1.5
    assert 0 < checks["first audio, of time"].value < 100
    assert 0 < checks["first audio, of CPU"].value < 100
    assert checks["outside engine, pcm"].value < 1000
    assert "round 1 of 1" in progress
