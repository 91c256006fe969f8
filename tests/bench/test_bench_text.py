"""The benchmark of the text room."""

import io

import pytest
from rich.console import Console

from polyvox.bench.report import Percentiles
from polyvox.bench.text import Startup, TextFigures, as_table, bench_text, measure_startup
from polyvox.errors import PolyvoxError


@pytest.mark.long
def test_start_up_is_timed_in_a_fresh_process() -> None:
    startup = measure_startup("en-us", "Good morning.", "espeak-ng")
    assert 0 < startup.normalizer < 60
    assert 0 < startup.phonemizer < 60


@pytest.mark.long
def test_a_text_room_that_does_not_start_is_an_error() -> None:
    with pytest.raises(PolyvoxError, match="did not start"):
        measure_startup("nowhere", "Good morning.", "no-such-espeak")


@pytest.mark.slow
def test_english_and_chinese_are_measured() -> None:
    figures = {row.language: row for row in bench_text(1, "espeak-ng")}
    assert set(figures) == {"en-us", "zh"}
    for row in figures.values():
        assert 0 < row.normalize.p50 <= row.normalize.p99
        assert 0 < row.phonemize.p50 <= row.phonemize.p99


def test_the_table_is_in_milliseconds() -> None:
    steady = Percentiles(*[0.0015] * 5)
    page = io.StringIO()
    Console(width=80, file=page).print(as_table([TextFigures("en-us", 10, Startup(0.25, 0.5), steady, steady)]))
    shown = page.getvalue()
    assert "en-us normaliser" in shown
    assert "250" in shown
    assert "1.50" in shown
