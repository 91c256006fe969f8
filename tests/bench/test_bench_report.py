"""Figures from samples made up for the purpose."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from polyvox.bench.load import Load, LoadRun, Outcome, RequestResult
from polyvox.bench.plot import check_plottable, save_plot
from polyvox.bench.report import Percentiles, as_json, as_table, summarize
from polyvox.errors import InvalidRequestError, UnavailableError

LOAD = Load(("text",), "voice", "model", requests=4, concurrency=2)
RUN = LoadRun(
    (
        RequestResult(0, 4, 0.0, 1.0, Outcome.OK, first_audio=0.1, audio_seconds=2.0),
        RequestResult(1, 4, 0.0, 3.0, Outcome.OK, first_audio=0.3, audio_seconds=4.0, underruns=2, starved=0.5),
        RequestResult(2, 4, 1.0, 0.01, Outcome.OVERLOADED, error="429: Busy."),
        RequestResult(3, 4, 1.0, 0.5, Outcome.FAILED, first_audio=0.2, audio_seconds=9.0, error="broke off"),
    ),
    seconds=3.0,
)


def test_percentiles_interpolate_between_neighbours() -> None:
    figures = Percentiles.of([float(value) for value in range(101)])
    assert figures == Percentiles(p50=50, p90=90, p95=95, p99=99, mean=50)
    assert Percentiles.of([1.0, 2.0]).p50 == 1.5


def test_percentiles_of_nothing_are_nothing() -> None:
    summary = summarize(LoadRun(RUN.samples[2:], 1.0))
    assert (summary.latency, summary.first_audio, summary.real_time_factor) == (None, None, None)


def test_a_summary_counts_speech_only_from_requests_that_succeeded() -> None:
    summary = summarize(RUN)
    assert (summary.requests, summary.ok, summary.overloaded, summary.failed) == (4, 2, 1, 1)
    assert summary.audio_seconds == 6.0
    assert summary.audio_per_second == 2.0
    assert summary.requests_per_second == pytest.approx(2 / 3)
    assert summary.first_audio.p50 == pytest.approx(0.2)
    assert summary.latency.p50 == pytest.approx(2.0)
    assert summary.real_time_factor.p50 == pytest.approx((0.5 + 0.75) / 2)
    assert (summary.underruns, summary.starved_requests, summary.starved_seconds) == (2, 1, 0.5)
    assert summary.errors == {"broke off": 1}


def test_the_json_holds_the_load_the_summary_and_every_sample() -> None:
    document = json.loads(json.dumps(as_json(LOAD, RUN, summarize(RUN), "http://127.0.0.1:8880")))
    assert document["load"]["concurrency"] == 2
    assert document["summary"]["audio_per_second"] == 2.0
    assert document["samples"][1]["real_time_factor"] == 0.75
    assert document["samples"][2]["outcome"] == "overloaded"


def test_the_table_shows_the_figures() -> None:
    page = io.StringIO()
    Console(width=120, file=page).print(as_table(LOAD, summarize(RUN)))
    shown = page.getvalue()
    assert "200.0" in shown
    assert "2.00 s of audio" in shown
    assert "2 under-runs in 1 of 2 requests" in shown
    assert "overloaded (429): 1" in shown
    assert "broke off" in shown


@pytest.mark.long
def test_the_plot_is_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "run.png"
    save_plot(LOAD, RUN, summarize(RUN), file)
    assert file.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.long
def test_a_run_in_which_all_failed_still_plots(tmp_path: Path) -> None:
    failed = LoadRun(RUN.samples[2:3], 1.0)
    save_plot(LOAD, failed, summarize(failed), tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 0


def test_without_matplotlib_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyvox.extras.find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install -e '\.\[plot\]'"):
        check_plottable(tmp_path / "run.png")


def test_a_plot_is_a_png(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="PNG"):
        check_plottable(tmp_path / "run.pdf")
