"""The stress test's report, in the words of the Streamable TTS API."""

from polyvox.bench.load import LoadRun, Outcome, RequestResult
from polyvox.bench.slo import slo_report


def sample(index, latency, audio, outcome=Outcome.OK):
    return RequestResult(index, 10, 0.0, latency, outcome, first_audio=0.1 if audio else None, audio_seconds=audio)


def test_the_report_has_every_figure_of_time_and_real_time_factor():
    run = LoadRun(tuple(sample(index, 1.0 + index, 2.0) for index in range(11)), 12.0)
    assert slo_report(run).splitlines() == [
        "=== SLO LATENCY REPORT ===",
        "Total Requests: 11",
        "Min Time: 1.000s",
        "Max Time: 11.000s",
        "Avg Time: 6.000s",
        "P50 (Median): 6.000s",
        "P90: 10.000s",
        "P95: 10.500s",
        "P99: 10.900s",
        "",
        "=== AUDIO & REAL-TIME FACTOR (RTF) REPORT ===",
        "Avg Audio Duration: 2.000s",
        "",
        "--- RTF Percentiles ---",
        "Min RTF: 0.500",
        "Max RTF: 5.500",
        "Avg RTF: 3.000",
        "P50 RTF: 3.000",
        "P90 RTF: 5.000",
        "P95 RTF: 5.250",
        "P99 RTF: 5.450",
        "==========================",
    ]


def test_what_was_refused_or_failed_is_counted_and_not_averaged():
    run = LoadRun(
        (sample(0, 1.0, 2.0), sample(1, 90.0, 0.0, Outcome.FAILED), sample(2, 0.1, 0.0, Outcome.OVERLOADED)), 2.0
    )
    report = slo_report(run)
    assert "Total Requests: 3\nNot Spoken: 2\n" in report
    assert "Max Time: 1.000s" in report


def test_a_run_without_speech_has_no_figures():
    report = slo_report(LoadRun((sample(0, 1.0, 0.0, Outcome.FAILED),), 2.0))
    assert report.splitlines()[1:-1] == ["Total Requests: 1", "Not Spoken: 1"]
