"""The report of the Streamable TTS API's stress test: fifty concurrent requests, minimum to P99."""

from collections.abc import Iterator, Sequence

import numpy as np

from polyvox.bench.load import LoadRun, Outcome

REQUESTS = 50
_PERCENTILES = {"P50": 50, "P90": 90, "P95": 95, "P99": 99}


def slo_report(run: LoadRun) -> str:
    """Latency and real-time factor of what was spoken, and how many requests were not."""
    spoken = [sample for sample in run.samples if sample.outcome is Outcome.OK]
    lines = ["=== SLO LATENCY REPORT ===", f"Total Requests: {len(run.samples)}"]
    if len(spoken) < len(run.samples):
        lines.append(f"Not Spoken: {len(run.samples) - len(spoken)}")
    if not spoken:
        return "\n".join([*lines, "=========================="])
    audio = [sample.audio_seconds for sample in spoken]
    factors = [sample.latency / sample.audio_seconds for sample in spoken]
    lines += _figures([sample.latency for sample in spoken], "{} Time", "s", median="P50 (Median)")
    lines += ["", "=== AUDIO & REAL-TIME FACTOR (RTF) REPORT ===", f"Avg Audio Duration: {np.mean(audio):.3f}s"]
    lines += ["", "--- RTF Percentiles ---", *_figures(factors, "{} RTF", "", median="P50 RTF")]
    return "\n".join([*lines, "=========================="])


def _figures(values: Sequence[float], name: str, unit: str, *, median: str) -> Iterator[str]:
    """Extremes, mean and percentiles, interpolated linearly between neighbouring values."""
    for label, value in (("Min", min(values)), ("Max", max(values)), ("Avg", float(np.mean(values)))):
        yield f"{name.format(label)}: {value:.3f}{unit}"
    for label, percent in _PERCENTILES.items():
        title = median if percent == 50 else name.format(label).removesuffix(" Time")
        yield f"{title}: {np.percentile(values, percent):.3f}{unit}"
