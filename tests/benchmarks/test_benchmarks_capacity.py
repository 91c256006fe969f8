"""The simulation of streams against closed forms of queueing theory, and the tables of docs/capacity.md."""

import math
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from benchmarks.capacity import (
    CPU_COSTS,
    GPU_COSTS,
    H200,
    L20,
    UTILISATION,
    gpu_figures,
    load_table,
    model_rows,
    model_table,
    path_table,
)
from benchmarks.capacity_trial import Alone, measured, predicted, table
from benchmarks.capacity_trial import Trial as CapacityTrial
from benchmarks.encoding_cost import cost_of, speech
from benchmarks.gpu_streams import MeasuredStreams, keep, measured_streams
from benchmarks.gpu_streams import table as table_of_streams
from benchmarks.stream_simulation import Figures, Step, Stream, Workers, poisson_arrivals, simulate
from helpers.tables import each_row
from polyvox.audio.encode import AudioFormat
from polyvox.bench.load import LoadRun, Outcome, RequestResult

PAGE = Path(__file__).parents[2] / "docs" / "capacity.md"
JOBS = 40_000


def mean_sojourn(works, rate: float, workers: Workers = Workers()) -> float:
    """The mean time in the system of single steps that arrive by chance."""
    arrivals = poisson_arrivals(rate, len(works))
    streams = [Stream(arrival, (Step(float(work), 0.0),)) for arrival, work in zip(arrivals, works, strict=True)]
    return float(np.mean([heard.end for heard in simulate(streams, workers)]))


@pytest.mark.long
def test_work_by_chance_waits_as_in_m_m_1():
    works = np.random.default_rng(1).exponential(1.0, JOBS)
    assert mean_sojourn(works, rate=0.6) == pytest.approx(1 / (1 - 0.6), rel=0.04)


@pytest.mark.long
def test_equal_work_waits_as_in_m_d_1():
    assert mean_sojourn(np.ones(JOBS), rate=0.7) == pytest.approx(1 + 0.7 / (2 * (1 - 0.7)), rel=0.04)


@pytest.mark.long
def test_two_workers_wait_as_in_m_m_2():
    works, load = np.random.default_rng(2).exponential(1.0, JOBS), 0.7
    offered = 2 * load
    busy = offered**2 / (2 * (1 - load))
    waits = busy / (1 + offered + busy)  # Erlang's C
    assert mean_sojourn(works, rate=offered, workers=Workers(2)) == pytest.approx(
        1 + waits / (2 * (1 - load)), rel=0.04
    )


def test_even_arrivals_below_the_rate_never_wait():
    streams = [Stream(float(number), (Step(0.9, 0.0),)) for number in range(100)]
    assert [heard.end for heard in simulate(streams, Workers())] == pytest.approx([0.9] * 100)


def test_a_burst_is_served_in_rounds():
    ends = [heard.end for heard in simulate([Stream(0.0, (Step(2.0, 0.0),))] * 7, Workers(3))]
    assert ends == [2.0 * math.ceil((index + 1) / 3) for index in range(7)]


def test_a_batch_takes_its_fixed_time_once():
    ends = [heard.end for heard in simulate([Stream(0.0, (Step(0.1, 1.0, fixed=0.5),))] * 6, Workers(width=4))]
    assert ends == pytest.approx([0.9] * 4 + [0.9 + 0.7] * 2)


def test_a_stream_slower_than_playback_has_gaps_of_what_is_missing():
    [heard] = simulate([Stream(3.0, (Step(1.5, 1.0),) * 4)], Workers())
    assert heard.first_audio == 1.5
    assert heard.starved == pytest.approx(3 * 0.5)
    assert not heard.gapless


def test_the_listener_that_runs_dry_first_goes_first():
    ahead = Stream(0.0, (Step(0.1, 100.0), *(Step(1.0, 1.0) for _ in range(5))))
    late = Stream(0.2, (Step(0.5, 1.0), Step(0.5, 1.0)))
    first, second = simulate([ahead, late], Workers())
    assert first.gapless
    assert second.gapless
    assert second.end == pytest.approx(0.9 + 1.0)  # it waits for the one step that was under way, and for no other
    assert first.end == pytest.approx(0.1 + 5.0 + 1.0)


def test_more_load_is_heard_later():
    found = [gpu_figures(GPU_COSTS[1], load, seconds=20.0) for load in (0.3, 0.7, 1.5)]
    assert found[0].first_audio < found[1].first_audio < found[2].first_audio
    assert found[0].gapless == 1.0
    assert found[2].gapless < 1.0


def test_a_device_carries_the_planned_share_of_what_was_measured():
    rows = {(model, device.split(" ")[0]): each for model, device, _, each in model_rows()}
    most = max(measured_streams()["cosyvoice3"].audio_per_second[:4])
    assert rows["CosyVoice 3, bfloat16", "H200"] == pytest.approx(most * UTILISATION)
    assert rows["Wren", "core"] == pytest.approx(UTILISATION / 0.049)
    assert L20.share_of(H200) == pytest.approx(119.5 / 989)
    assert len(rows) == 2 * len(GPU_COSTS) + len(CPU_COSTS)


@pytest.mark.long
@each_row("made", [model_table, path_table, load_table])
def test_the_page_has_the_tables_that_the_program_prints(made):
    assert made() in PAGE.read_text(encoding="utf-8"), "put what `python -m benchmarks.capacity` prints into the page"


def test_the_page_of_benchmarks_has_the_newest_runs():
    text = (PAGE.parent / "benchmarks.md").read_text(encoding="utf-8")
    assert table_of_streams(list(measured_streams().values())) in text, (
        "put what `python -m benchmarks.gpu_streams` prints there"
    )


def test_a_run_takes_the_place_of_an_earlier_one_and_leaves_the_others(tmp_path):
    times = {"p50": 0.0214, "p95": 0.05}
    row = {"at_once": 4, "first_audio": times, "audio_per_second": 12.34, "gapless": 1.0, "gpu_utilization": 0.5}
    arrivals = row | {"at_once": None}
    file, day = tmp_path / "runs.toml", date(2026, 1, 2)
    keep(
        [MeasuredStreams.of_run({"engine": each, "card": "C", "rows": [row]}, day) for each in ("zipvoice", "kokoro")],
        file,
    )
    faster = {"engine": "kokoro", "card": "C", "rows": [row | {"audio_per_second": 99.0}, arrivals]}
    keep([MeasuredStreams.of_run(faster, day)], file)
    found = measured_streams(file)
    assert list(found) == ["kokoro", "zipvoice"]
    assert found["kokoro"].by_streams(found["kokoro"].audio_per_second) == {4: 99.0}
    assert found["zipvoice"].first_audio_ms == [21]
    assert found["zipvoice"].measured == day


def test_a_codec_costs_more_time_and_fewer_bits_than_samples():
    pcm = speech(2)
    plain, coded = cost_of(AudioFormat.PCM, pcm, 1), cost_of(AudioFormat.MP3, pcm, 1)
    assert plain.bits == 384_000
    assert coded.bits < plain.bits / 3
    assert coded.cpu_seconds > plain.cpu_seconds


def test_a_prediction_is_for_the_very_requests_that_were_measured():
    texts, alone = ("ab", "abcd"), [Alone(0.2, (1.0, 1.0), 0.6), Alone(0.4, (1.0, 3.0), 1.2)]
    assert alone[0].steps() == (Step(0.2, 1.0), Step(pytest.approx(0.4), 1.0))
    samples = [
        RequestResult(index, chars, due, 1.0, Outcome.OK, first_audio=first, audio_seconds=2.0, underruns=index % 2)
        for index, (chars, due, first) in enumerate([(2, 0.0, 0.25), (4, 5.0, 0.5), (2, 10.0, 0.25)])
    ]
    run = LoadRun(tuple(samples), 12.0)
    assert predicted(run, texts, alone, 1) == Figures(pytest.approx(0.2), pytest.approx(0.38), 1.0)
    seen = measured(run)
    assert seen.first_audio == 0.25
    assert seen.gapless == pytest.approx(2 / 3)
    line = table([CapacityTrial(0.5, 1.0, 3, predicted(run, texts, alone, 1), seen, 0, 6.0)]).splitlines()[-1]
    assert line.startswith("| 50 % | 3 at 1.00 a second | 200, 250 ms (-20 %)")
