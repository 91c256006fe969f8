"""The server's metrics under the names of CosyVoice's Rust server."""

from collections.abc import Iterator

from prometheus_client import Counter, Histogram, Metric
from prometheus_client.registry import Collector

from polyvox.service.telemetry.metrics import Metrics

_DONE = {"state": "done"}


class RustServerMetrics(Collector):
    """Reads the server's own instruments at every scrape, so that both names always agree."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        durations = _summed(
            "tts_synthesis_duration_seconds", "From a request to its end.", self._metrics.session_seconds, _DONE
        )
        done = next((sample.value for sample in durations.samples if sample.name.endswith("_count")), 0.0)
        yield _single("tts_requests", "counter", "tts_requests_total", _total(self._metrics.requests))
        yield _single("tts_requests_success", "unknown", "tts_requests_success", done)
        yield _single("tts_requests_error", "unknown", "tts_requests_error", _total(self._metrics.failures))
        yield durations
        yield _summed("tts_rtf", "Seconds spent making one second of audio.", self._metrics.real_time_factor, {})


def _total(counter: Counter) -> float:
    """The count over all labels."""
    return sum(
        sample.value for metric in counter.collect() for sample in metric.samples if sample.name.endswith("_total")
    )


def _single(name: str, kind: str, sample: str, value: float) -> Metric:
    metric = Metric(name, f"As {sample} of CosyVoice's Rust server.", kind)
    metric.add_sample(sample, {}, value)
    return metric


def _summed(name: str, meaning: str, histogram: Histogram, labels: dict[str, str]) -> Metric:
    """A histogram summed over all labels but those given, under another name."""
    sums: dict[tuple[str, str], float] = {}
    for metric in histogram.collect():
        for sample in metric.samples:
            suffix = sample.name.removeprefix(metric.name)
            if suffix != "_created" and labels.items() <= sample.labels.items():
                bucket = (suffix, sample.labels.get("le", ""))
                sums[bucket] = sums.get(bucket, 0.0) + sample.value
    result = Metric(name, meaning, "histogram")
    for (suffix, edge), value in sums.items():
        result.add_sample(name + suffix, {"le": edge} if edge else {}, value)
    return result
