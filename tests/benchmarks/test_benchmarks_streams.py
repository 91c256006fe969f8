"""The benchmark of many streams, tried out with tiny networks on a CPU."""

import argparse
import json
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks import gpu_watch, one_gpu  # noqa: E402
from benchmarks.gpu_watch import GpuLog, watched_gpu  # noqa: E402
from benchmarks.likeness import signal_to_noise  # noqa: E402
from benchmarks.one_gpu import Wanted  # noqa: E402
from benchmarks.published_figures import PUBLISHED, published_for  # noqa: E402
from benchmarks.seeded_engines import ENGINES  # noqa: E402
from benchmarks.streams_gpu import StreamFigures, arguments, joined, report_published, run  # noqa: E402
from helpers.tables import each_row  # noqa: E402
from polyvox.bench.load import LoadRun, Outcome, RequestResult  # noqa: E402
from polyvox.bench.report import summarize  # noqa: E402
from polyvox.runtime.gpu_usage import GpuUsage  # noqa: E402

pytestmark = pytest.mark.anyio
SMALL = ["--tiny", "--device", "cpu", "--utterance-seconds", "2", "--prompt-seconds", "1", "--least", "2", "--cold"]


async def measured(*options):
    said = []
    return await run(arguments().parse_args([*SMALL, *options]), said.append), said


@pytest.mark.long
@each_row("engine", ENGINES)
async def test_every_engine_speaks_as_many_streams_as_it_is_asked_for(engine):
    result, said = await measured("--engine", engine, "--at-once", "2")
    (row,) = result["rows"]
    assert (row["at_once"], row["requests"], row["ok"], row["errors"]) == (2, 2, 2, {})
    assert 0 < row["first_audio"]["p50"] <= row["first_audio"]["p95"] <= row["latency"]["p99"]
    if engine not in ("kokoro", "wren"):  # whose texts are as long as its weights make them
        assert row["audio_seconds"] == pytest.approx(4.0, rel=0.15)
    assert row["audio_per_second"] == pytest.approx(row["audio_seconds"] / row["seconds"])
    assert said[0].startswith(f"{engine}: ready in ")
    assert all(engine in figure["engines"] for figure in json.loads(json.dumps(result))["published"])


@pytest.mark.long
async def test_a_server_is_measured_through_its_door():
    result, _ = await measured("--engine", "speechlm", "--at-once", "2", "--http")
    (row,) = result["rows"]
    # Requests over HTTP have no seed here, and the tiny model may end its speech early.
    assert (row["ok"], 0.2 < row["audio_seconds"] <= 4.4) == (2, True)
    assert (result["http"], result["workers"]) == (True, 1)
    assert result["startup_seconds"] > 0


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="several processes of doors need Linux")
async def test_a_server_with_several_processes_of_doors_is_measured_the_same():
    result, _ = await measured("--engine", "wren", "--at-once", "2", "--http", "--workers", "2")
    (row,) = result["rows"]
    assert (row["ok"], row["errors"], result["workers"]) == (2, {}, 2)


@pytest.mark.long
async def test_the_stages_of_an_engine_are_shown():
    result, said = await measured("--engine", "wren", "--at-once", "2", "--stages")
    stages = {stage["stage"]: stage for stage in result["rows"][0]["stages"]}
    assert stages["kokoro-plan"]["batches"] >= stages["kokoro-sound"]["batches"] > 1
    assert all(0 < stage["busy"] < 2 for stage in stages.values())
    assert "kokoro-sound" in said[3]


@pytest.mark.long
async def test_requests_arrive_at_a_rate():
    result, said = await measured("--engine", "speechlm", "--at-once", "--rate", "4", "--seconds", "0.5")
    (row,) = result["rows"]
    assert (row["rate"], row["at_once"], row["requests"], row["ok"]) == (4.0, None, 2, 2)
    assert row["seconds"] > 0.5, "the second comes half a second after the start, evenly"
    assert said[-1].split()[0] == "4/s"


def result_of(index, *, underruns=0, outcome=Outcome.OK):
    return RequestResult(index, 10, 0.0, 2.0, outcome, first_audio=0.1, audio_seconds=4.0, underruns=underruns)


def test_a_failed_stream_and_an_under_run_are_gaps():
    runs = [
        LoadRun((result_of(0), result_of(1, underruns=2)), 2.0),
        LoadRun((result_of(0), result_of(1, outcome=Outcome.FAILED)), 1.0),
    ]
    figures = StreamFigures(2, None, summarize(joined(runs)), GpuLog([3 << 30, 5 << 30], [0.5, 1.0]))
    assert figures.gapless == 0.5
    assert figures.as_json()["audio_per_second"] == 4.0
    assert str(figures).split() == ["2", "100", "100", "4.0", "2", "50.0%", "3/4", "5.0", "75%"]


@pytest.mark.long
async def test_a_stream_is_compared_with_itself_among_others():
    result, said = await measured("--engine", "zipvoice", "--at-once", "--among", "3")
    assert result["likeness"]["among"] == 3
    assert result["likeness"]["again_db"] is None
    assert result["likeness"]["among_db"] is None or result["likeness"]["among_db"] > 60
    assert said[-1].startswith("alone and again: equal; alone and among 3: ")


def test_the_ratio_of_signal_to_noise_is_that_of_their_powers():
    signal = np.full(100, 0.5, np.float32)
    assert signal_to_noise(signal, signal) is None
    assert signal_to_noise(signal, signal + np.float32(0.05)) == pytest.approx(20.0, abs=1e-3)
    with pytest.raises(ValueError, match="99 samples are not like 100"):
        signal_to_noise(signal, signal[1:])


@pytest.mark.long
def test_engines_are_measured_one_after_another_in_one_run(tmp_path, capfd):
    wanted = [Wanted.parse("zipvoice=1,2"), Wanted.parse("speechlm=2")]
    assert one_gpu.measure(wanted, tmp_path, SMALL, limit=120.0) == 0
    runs = {each.engine: json.loads((tmp_path / f"{each.engine}.json").read_text()) for each in wanted}
    assert {name: [row["at_once"] for row in run["rows"]] for name, run in runs.items()} == {
        "zipvoice": [1, 2],
        "speechlm": [2],
    }
    ends = [line for line in capfd.readouterr().out.splitlines() if line.startswith("published elsewhere")]
    assert len(ends) == 2


@pytest.mark.long
def test_an_engine_that_is_not_done_in_time_is_ended_and_counted(tmp_path, capfd):
    assert one_gpu.measure([Wanted.parse("zipvoice=1")], tmp_path, SMALL, limit=0.0) == 1
    assert "not ended in time" in capfd.readouterr().out


def test_an_engine_that_does_not_exist_is_named():
    with pytest.raises(argparse.ArgumentTypeError, match="there is no 'wren2'; engines are cosyvoice3"):
        Wanted.parse("wren2=1")


def test_published_figures_name_their_source():
    assert all(figure.source and set(figure.engines) <= set(ENGINES) for figure in PUBLISHED)
    unpublished = {engine for engine in ENGINES if not published_for(engine)}
    measured_by_nobody = {"wren", "pockettts", "chatterbox-turbo", "chatterbox-nano"}
    assert {engine for engine in unpublished if not engine.startswith("pockettts-")} == measured_by_nobody
    assert "ZipVoice #145" in report_published("zipvoice")


def test_the_gpu_is_read_while_the_block_runs(monkeypatch):
    readings = iter([[GpuUsage(0, "card", used << 30, 80 << 30, 0.5)] for used in range(1, 1000)])
    monkeypatch.setattr(gpu_watch, "gpu_reader", lambda: lambda: next(readings))
    monkeypatch.setattr(gpu_watch, "PERIOD", 0.001)
    with watched_gpu() as log:
        while len(log.used_bytes) < 3:
            pass
    assert log.peak_gib == log.used_bytes[-1] / 2**30
    assert log.mean_utilization == 0.5


def test_nvidia_smi_tells_where_nvml_does_not(monkeypatch, tmp_path):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '2048, 40'\necho '4096, 60'\necho '[N/A], [N/A]'\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(gpu_watch, "gpu_reader", lambda: list)
    with watched_gpu() as log:
        while len(log.used_bytes) < 2:
            pass
    assert log.used_bytes == [2048 << 20, 4096 << 20]
    assert log.mean_utilization == pytest.approx(0.5)
